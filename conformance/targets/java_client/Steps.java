import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Steps of cases: each is a row of calls, and its result is that of the last one. Many are done in one call, and their
 * results come back as one text; what is raised, too, as an exception it would cross frame by frame.
 */
public final class Steps {
    private static final char FIRST = ' ';

    private final Class<?> kind;
    private final Object consumer;
    private final Object factory;
    private final Class<?>[] kinds;
    private final Class<?> refusal;
    private final List<Call[]> steps = new ArrayList<>();
    private Object store;
    /** The place of the step that is done now. */
    public final ByteBuffer position = ByteBuffer.allocateDirect(Integer.BYTES).order(ByteOrder.nativeOrder());

    /**
     * Of the inside of a consumer and its client; {@code kind} is the class of offset stores, {@code kinds} are those of
     * exceptions, of which {@code refusal} has a response code.
     */
    public Steps(Object consumer, Object factory, Class<?> kind, Class<?>[] kinds, Class<?> refusal) {
        this.consumer = consumer;
        this.factory = factory;
        this.kind = kind;
        this.kinds = kinds;
        this.refusal = refusal;
    }

    /** Gives the consumer an empty offset store of a group: the store. */
    public Object open(String group) throws Exception {
        store = Reflected.make(kind, factory, group);
        Reflected.put(consumer, "offsetStore", store);
        return store;
    }

    /**
     * Adds a step, whose number is that of those before. A call is an object, the name of a method and its arguments;
     * null is the store, and a class stands for its static methods.
     */
    public void add(Object[][] calls) throws NoSuchMethodException {
        Call[] step = new Call[calls.length];
        for (int at = 0; at < calls.length; at++) {
            step[at] = new Call(kind, calls[at]);
        }
        steps.add(step);
    }

    /** Forgets all steps. */
    public void clear() {
        steps.clear();
    }

    /**
     * Does steps, each of which is a character, the first of all a blank. Their results have a separator between: a
     * number, nothing for none, or what was raised.
     */
    public String play(String numbers) throws Exception {
        StringBuilder results = new StringBuilder();
        for (int at = 0; at < numbers.length(); at++) {
            position.putInt(0, at);
            if (at > 0) {
                results.append(Reflected.BETWEEN);
            }
            try {
                Object result = null;
                for (Call call : steps.get(numbers.charAt(at) - FIRST)) {
                    result = Reflected.invoke(call.method, call.target == null ? store : call.target, call.given);
                }
                if (result != null) {
                    results.append(result);
                }
            } catch (Throwable error) {
                append(results, error);
            }
        }
        return results.toString();
    }

    /**
     * What was raised: an exclamation mark and the first of the kinds that it is of, or their number, its response code
     * or 0, and what it says, with blanks between them.
     */
    private void append(StringBuilder results, Throwable raised) throws Exception {
        int kind = 0;
        while (kind < kinds.length && !kinds[kind].isInstance(raised)) {
            kind++;
        }
        Object code = refusal.isInstance(raised) ? Reflected.call(raised, "getResponseCode") : 0;
        results.append('!').append(kind).append(' ').append(code).append(' ').append(raised);
    }

    private static final class Call {
        final Object target;
        final Method method;
        final Object[] given;

        Call(Class<?> store, Object[] call) throws NoSuchMethodException {
            target = call[0];
            given = Arrays.copyOfRange(call, 2, call.length);
            Class<?> kind = target == null ? store : target instanceof Class ? (Class<?>) target : target.getClass();
            method = Reflected.method(kind, (String) call[1], given);
        }
    }
}
