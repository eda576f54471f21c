import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Lets a rebalance service run from one wait to the next, on the clock of the case and in the thread of the caller.
 *
 * <p>Where the service would wait, its method run is left by an exception, which nothing in it catches; to go on it is
 * called again, and finds the wait at its beginning over. All times are in ms of the case's clock, but where it says
 * otherwise; those of the service are {@code stretch} times as long.
 */
public final class ServiceLoop implements LongConsumer {
    private static final class Waits extends RuntimeException {
        private static final long serialVersionUID = 1;

        Waits() {
            super(null, null, false, false);
        }
    }

    private static final Waits WAITS = new Waits();
    private final long stretch;
    /** The field with the time of the last round, in ms of the machine's clock; null when the service keeps none. */
    private final Field lastRound;
    private final List<String> asked = new ArrayList<>();
    private Runnable service;
    private boolean waitIsOver;
    private long wait;
    private long now;
    private long last;
    private long due;

    public ServiceLoop(long stretch, Field lastRound) {
        this.stretch = stretch;
        this.lastRound = lastRound;
    }

    /** A service begins, which runs until it waits. */
    public void begin(Runnable begun) throws ReflectiveOperationException {
        service = begun;
        now = last = 0;
        asked.clear();
        waitIsOver = false;
        due = run();
    }

    private long run() {
        try {
            service.run();
        } catch (Waits waits) {
            return wait;
        }
        throw new IllegalStateException("the rebalance service ended");
    }

    /** The service is about to wait for so many ms of its own. */
    @Override
    public void accept(long millis) {
        if (waitIsOver) {
            waitIsOver = false;
            return;
        }
        wait = (millis + stretch - 1) / stretch;
        throw WAITS;
    }

    /** Ends the wait: which consumers rebalance, sorted and with a comma behind each? */
    public String goOn() throws ReflectiveOperationException {
        asked.clear();
        long stamp = 0;
        if (lastRound != null) {
            stamp = System.currentTimeMillis() - (now - last) * stretch;
            lastRound.setLong(service, stamp);
        }
        waitIsOver = true;
        long waits = run();
        if (lastRound != null && lastRound.getLong(service) != stamp) {
            last = now;
        }
        due = now + waits;
        return asked();
    }

    /** Time passes: the rounds in which consumers rebalanced, each its ms since the beginning, a blank and these. */
    public String elapse(long millis) throws ReflectiveOperationException {
        long began = now;
        long until = now + millis;
        StringBuilder rounds = new StringBuilder();
        while (due <= until) {
            now = due;
            String tookPart = goOn();
            if (!tookPart.isEmpty()) {
                rounds.append(now - began).append(' ').append(tookPart).append('\n');
            }
        }
        now = until;
        return rounds.toString();
    }

    /** Forgets which consumers rebalanced. */
    public void forget() {
        asked.clear();
    }

    /** The consumers that rebalanced since, sorted and with a comma behind each. */
    public String asked() {
        String[] names = asked.toArray(new String[0]);
        Arrays.sort(names);
        StringBuilder text = new StringBuilder();
        for (String name : names) {
            text.append(name).append(',');
        }
        return text.toString();
    }

    /** The strategy of a consumer: records its calls, may refuse, and asks another one. */
    public Strategy strategy(String consumer, Object real, Class<?> kind) {
        return new Strategy(consumer, real, kind);
    }

    public final class Strategy implements InvocationHandler {
        private final String consumer;
        private final Object real;
        /** What the consumer is given. */
        public final Object proxy;
        public boolean refuses;

        private Strategy(String consumer, Object real, Class<?> kind) {
            this.consumer = consumer;
            this.real = real;
            proxy = Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, this);
        }

        @Override
        public Object invoke(Object self, Method method, Object[] given) throws Throwable {
            if (method.getName().equals("allocate")) {
                Object queue = ((List<?>) given[2]).get(0);
                String topic = (String) Reflected.call(queue, "getTopic");
                if (!topic.startsWith("%RETRY%")) {
                    asked.add(consumer);
                }
                if (refuses) {
                    throw new IllegalStateException("the strategy refuses");
                }
            }
            return Reflected.invoke(method, real, given);
        }
    }
}
