import java.lang.reflect.Method;

/** The start positions of a consumer. What is raised comes back as text: as an exception it would cross frame by frame. */
public final class StartPositions {
    /** Stands for a position when an exception was raised: no queue has this one. */
    private static final long RAISED = Long.MIN_VALUE;

    private final Object consumer;
    private final Object rebalancing;
    private final Method withException;
    private final Method without;
    private final Class<?>[] kinds;
    private final Class<?> refusal;
    private Throwable raised;

    /** Of a consumer and its rebalance; {@code kinds} of exceptions, of which {@code refusal} has a response code. */
    public StartPositions(Object consumer, Object rebalancing, Class<?>[] kinds, Class<?> refusal) {
        this.consumer = consumer;
        this.rebalancing = rebalancing;
        without = Reflected.method(rebalancing, "computePullFromWhere");
        withException = Reflected.method(rebalancing, "computePullFromWhereWithException");
        this.kinds = kinds;
        this.refusal = refusal;
    }

    /**
     * The start position of a queue, by the variant that raises errors when it is {@code checked}; or {@code RAISED}.
     */
    public long position(boolean checked, Object queue) {
        try {
            return (Long) Reflected.invoke(checked ? withException : without, rebalancing, queue);
        } catch (Throwable error) {
            raised = error;
            return RAISED;
        }
    }

    /** The same of a consumer that is set to begin at {@code where}, and, if {@code timed}, at {@code timestamp}. */
    public long positionFrom(boolean checked, Object queue, Object where, boolean timed, String timestamp) {
        try {
            Reflected.call(consumer, "setConsumeFromWhere", where);
            if (timed) {
                Reflected.call(consumer, "setConsumeTimestamp", timestamp);
            }
        } catch (Throwable error) {
            raised = error;
            return RAISED;
        }
        return position(checked, queue);
    }

    /**
     * What was raised last: the first of the kinds that it is of, or their number, its response code or 0, and what it
     * says, with blanks between them.
     */
    public String raised() throws Exception {
        int kind = 0;
        while (kind < kinds.length && !kinds[kind].isInstance(raised)) {
            kind++;
        }
        Object code = refusal.isInstance(raised) ? Reflected.call(raised, "getResponseCode") : 0;
        return kind + " " + code + " " + raised;
    }
}
