import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;

/**
 * Makes consumers of one class and lets them rebalance: a call for each, where Python would need some thirty.
 *
 * <p>To make one takes its class a while, because it lists the network interfaces of the machine. So the next few are
 * made ahead in a thread of their own, each to be used once.
 */
public final class Consumers {
    private static final int AHEAD = 8;
    /** How few of them are left when more are made. */
    private static final int FEW = 3;
    /** How long one is good for (ns): it knows when it was made. */
    private static final long FRESH = 1_000_000_000L;

    private static final class Made {
        private final Object consumer;
        private final long at = System.nanoTime();

        private Made(Object consumer) {
            this.consumer = consumer;
        }
    }

    private final String group;
    private final Constructor<?> constructor;
    private final String implementation;
    private final Object running;
    private final BlockingQueue<Made> ahead = new ArrayBlockingQueue<>(AHEAD);
    /** Has a permit when more are to be made: their thread is not woken up for each that is taken. */
    private final Semaphore wanted = new Semaphore(0);
    /** Makes them ahead; null before the first one is asked for, and where none may be made ahead. */
    private Thread maker;
    private final boolean makesAhead;

    /** Of a class, with the field of its implementation; {@code running} is the state that a start leaves it in. */
    public Consumers(String group, Class<?> kind, String implementation, Object running, boolean makesAhead)
            throws ReflectiveOperationException {
        this.group = group;
        this.implementation = implementation;
        this.running = running;
        this.makesAhead = makesAhead;
        constructor = kind.getConstructor(String.class);
    }

    /** A new consumer; the first lite pull consumers cannot be set to begin anywhere. */
    public Object consumer(String where, String timestamp, String model) throws Exception {
        Object consumer = fresh();
        if (Reflected.set(consumer, "setConsumeFromWhere", where)) {
            Reflected.call(consumer, "setConsumeTimestamp", timestamp);
        }
        Reflected.set(consumer, "setMessageModel", model);
        return consumer;
    }

    private Object fresh() throws Exception {
        if (!makesAhead) {
            return construct();
        }
        if (maker == null) {
            maker = new Thread(this::makeAhead, "consumers made ahead");
            maker.setDaemon(true);
            maker.start();
        }
        Made made = ahead.poll();
        while (made != null && System.nanoTime() - made.at > FRESH) {
            made = ahead.poll();
        }
        if (ahead.size() <= FEW && wanted.availablePermits() == 0) {
            wanted.release();
        }
        return made == null ? construct() : made.consumer;
    }

    private void makeAhead() {
        try {
            while (true) {
                wanted.acquire();
                while (ahead.remainingCapacity() > 0) {
                    ahead.put(new Made(construct()));
                }
            }
        } catch (Exception error) {
            // closed; or none can be made, as the next one who asks for one will find
        }
    }

    private Object construct() throws Exception {
        try {
            return constructor.newInstance(group);
        } catch (InvocationTargetException error) {
            throw Reflected.raised(error);
        }
    }

    /** Makes none ahead any more. */
    public void close() {
        if (maker != null) {
            maker.interrupt();
            maker = null;
        }
    }

    /** Puts in what a start would: the implementation, its offset store, its rebalance, and the table of its queues. */
    public Object[] assembled(
            Object consumer,
            Object factory,
            Class<?> store,
            Class<?> wrapper,
            Object strategy,
            String model,
            String[] topics)
            throws Exception {
        Object inside = Reflected.get(consumer, implementation);
        Object offsets = Reflected.make(store, factory, group);
        Reflected.call(offsets, "load");
        Object rebalancing = Reflected.get(inside, "rebalanceImpl");
        Reflected.call(rebalancing, "setmQClientFactory", factory);
        Reflected.call(rebalancing, "setConsumerGroup", group);
        Reflected.set(rebalancing, "setMessageModel", model);
        Reflected.call(rebalancing, "setAllocateMessageQueueStrategy", strategy);
        Reflected.put(inside, "mQClientFactory", factory);
        Reflected.put(inside, "offsetStore", offsets);
        Reflected.put(inside, "pullAPIWrapper", Reflected.make(wrapper, factory, group, false));
        Reflected.put(inside, "serviceState", running);
        for (String topic : topics) {
            Reflected.call(inside, "subscribe", topic, "*");
        }
        Reflected.call(factory, "registerConsumer", group, inside);
        return new Object[] {inside, offsets, rebalancing, Reflected.call(rebalancing, "getProcessQueueTable")};
    }

    /**
     * A round: the positions of the queues that the consumer has then, each with a blank behind it, a comma, and
     * whether they are balanced: 1 or 0, or nothing where the release does not say.
     *
     * <p>{@code ages} says by position how long ago (ms) each of them was pulled last; null leaves that to the machine.
     */
    public String round(Object rebalancing, Map<?, ?> table, Map<?, ?> positions, boolean orderly, long[] ages)
            throws Exception {
        if (ages != null) {
            long now = System.currentTimeMillis();
            for (Map.Entry<?, ?> owned : table.entrySet()) {
                long pulled = now - ages[position(positions, owned.getKey())];
                Reflected.call(owned.getValue(), "setLastPullTimestamp", pulled);
            }
        }
        Object balanced = Reflected.call(rebalancing, "doRebalance", orderly);
        int[] owned = table.keySet().stream().mapToInt(queue -> position(positions, queue)).toArray();
        Arrays.sort(owned);
        StringBuilder text = new StringBuilder();
        for (int queue : owned) {
            text.append(queue).append(' ');
        }
        text.append(',');
        return balanced == null ? text.toString() : text.append((Boolean) balanced ? 1 : 0).toString();
    }

    /**
     * A listener is done with messages of a queue, as long as the consumer has it, and the next offset is this one: what
     * the offset store then answers of the queue by this type of read.
     */
    public long consume(Map<?, ?> table, Object store, Object queue, long offset, Object read) throws Exception {
        Object owned = table.get(queue);
        if (owned != null && !(Boolean) Reflected.call(owned, "isDropped")) {
            Reflected.call(store, "updateOffset", queue, offset, true);
        }
        return (Long) Reflected.call(store, "readOffset", queue, read);
    }

    private static int position(Map<?, ?> positions, Object queue) {
        return ((Number) positions.get(queue)).intValue();
    }
}
