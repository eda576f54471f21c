import java.lang.reflect.Method;

/** The start positions of a consumer. What is raised comes back as text: as an exception it would cross frame by frame. */
public final class StartPositions {
    private final Object consumer;
    private final Object rebalancing;
    private final Method withException;
    private final Method without;
    private final Class<?>[] kinds;
    private final Class<?> refusal;
    /** The first lite pull consumers cannot be set to begin anywhere. */
    private final boolean setsWhere;

    /** Of a consumer and its rebalance; {@code kinds} of exceptions, of which {@code refusal} has a response code. */
    public StartPositions(Object consumer, Object rebalancing, Class<?>[] kinds, Class<?> refusal) {
        this.consumer = consumer;
        this.rebalancing = rebalancing;
        without = Reflected.method(rebalancing, "computePullFromWhere");
        withException = Reflected.method(rebalancing, "computePullFromWhereWithException");
        this.kinds = kinds;
        this.refusal = refusal;
        setsWhere = Reflected.has(consumer, "setConsumeFromWhere");
    }

    /**
     * The start position of a queue, by the variant that raises errors when it is {@code checked}; or what was raised:
     * an exclamation mark, the first of the kinds that it is of, or their number, its response code or 0, and what it
     * says, with blanks between them.
     *
     * <p>The consumer is set to begin at {@code where}, and, if {@code timed}, at {@code timestamp}.
     */
    public String compute(boolean checked, Object queue, Object where, boolean timed, String timestamp) {
        try {
            if (setsWhere) {
                Reflected.call(consumer, "setConsumeFromWhere", where);
                if (timed) {
                    Reflected.call(consumer, "setConsumeTimestamp", timestamp);
                }
            }
            return Reflected.invoke(checked ? withException : without, rebalancing, queue).toString();
        } catch (Throwable error) {
            return raised(error);
        }
    }

    private String raised(Throwable error) {
        int kind = 0;
        while (kind < kinds.length && !kinds[kind].isInstance(error)) {
            kind++;
        }
        try {
            Object code = refusal.isInstance(error) ? Reflected.call(error, "getResponseCode") : 0;
            return "!" + kind + " " + code + " " + error;
        } catch (Exception none) {
            throw new IllegalStateException(none);
        }
    }
}
