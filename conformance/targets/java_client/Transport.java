import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A RemotingClient whose requests are texts to another one: a request and its answer cross to Python once each.
 *
 * <p>The parts of a text have a separator between them. A request is: address, code, 1 when it is one-way and 2 when its
 * answer would come by a callback, number of fields, their names and values, body. An answer is: A, code, number of
 * fields, their names and values, remark, body; or T or U and a sentence, for a timeout and for a request that could not
 * be sent. A body is as many characters as it has bytes. A callback is never called.
 */
public final class Transport implements InvocationHandler {
    private static final int SYNC = 0;
    private static final int ONE_WAY = 1;
    private static final int ASYNC = 2;

    private final UnaryOperator<String> exchange;
    /** Does everything that is not a request, and the requests by methods that are not {@code taken}. */
    private final Object other;
    private final Set<String> taken;
    private final Method makeHeader;
    private final Method fields;
    private final Method setFields;
    private final Method body;
    private final Method setBody;
    private final Method code;
    private final Method response;
    private final Constructor<?> timedOut;
    private final Constructor<?> unsent;
    /** The RemotingClient. */
    public final Object proxy;

    public Transport(
            UnaryOperator<String> exchange,
            Object other,
            Set<String> taken,
            Class<?> client,
            Class<?> command,
            Class<?> timedOut,
            Class<?> unsent)
            throws ReflectiveOperationException {
        this.exchange = exchange;
        this.other = other;
        this.taken = taken;
        makeHeader = command.getMethod("makeCustomHeaderToNet");
        fields = command.getMethod("getExtFields");
        setFields = command.getMethod("setExtFields", HashMap.class);
        body = command.getMethod("getBody");
        setBody = command.getMethod("setBody", byte[].class);
        code = command.getMethod("getCode");
        response = command.getMethod("createResponseCommand", int.class, String.class);
        this.timedOut = timedOut.getConstructor(String.class);
        this.unsent = unsent.getConstructor(String.class);
        // or each call looks for its caller, to see whether that may
        for (AccessibleObject one : new AccessibleObject[] {
            makeHeader, fields, setFields, body, setBody, code, response, this.timedOut, this.unsent
        }) {
            one.setAccessible(true);
        }
        proxy = Proxy.newProxyInstance(client.getClassLoader(), new Class<?>[] {client}, this);
    }

    @Override
    public Object invoke(Object self, Method method, Object[] given) throws Throwable {
        String name = method.getName();
        if (!taken.contains(name)) {
            try {
                return method.invoke(other, given);
            } catch (InvocationTargetException error) {
                throw error.getCause();
            }
        }
        if (name.equals("invokeSync")) {
            return ask(given[0], given[1], SYNC);
        }
        if (name.equals("invokeAsync")) {
            makeHeader.invoke(given[1]);
            exchange.apply(request(given[0], given[1], ASYNC));
            return null;
        }
        try {
            ask(given[0], given[1], ONE_WAY);
        } catch (Exception error) {
            if (!timedOut.getDeclaringClass().isInstance(error) && !unsent.getDeclaringClass().isInstance(error)) {
                throw error;
            }
        }
        return null;
    }

    private Object ask(Object address, Object command, int way) throws Exception {
        makeHeader.invoke(command);
        String answer = exchange.apply(request(address, command, way));
        if (answer.charAt(0) == 'T') {
            throw (Exception) timedOut.newInstance(answer.substring(1));
        }
        if (answer.charAt(0) == 'U') {
            throw (Exception) unsent.newInstance(answer.substring(1));
        }
        return answer(answer);
    }

    private String request(Object address, Object command, int way) throws ReflectiveOperationException {
        Map<?, ?> named = (Map<?, ?>) fields.invoke(command);
        byte[] bytes = (byte[]) body.invoke(command);
        StringBuilder text = new StringBuilder();
        append(text, address == null ? "" : address);
        append(text, code.invoke(command));
        append(text, way);
        append(text, named == null ? 0 : named.size());
        if (named != null) {
            for (Map.Entry<?, ?> field : named.entrySet()) {
                append(text, field.getKey());
                append(text, field.getValue());
            }
        }
        return bytes == null ? text.toString() : text + new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static void append(StringBuilder text, Object part) {
        text.append(part).append(Reflected.BETWEEN);
    }

    private Object answer(String text) throws ReflectiveOperationException {
        int[] at = {1};
        int number = Integer.parseInt(part(text, at));
        int size = Integer.parseInt(part(text, at));
        HashMap<String, String> named = new HashMap<>();
        for (int field = 0; field < size; field++) {
            String name = part(text, at);
            named.put(name, part(text, at));
        }
        String remark = part(text, at);
        Object answer = response.invoke(null, number, remark.isEmpty() ? null : remark);
        setFields.invoke(answer, named);
        if (at[0] < text.length()) {
            setBody.invoke(answer, text.substring(at[0]).getBytes(StandardCharsets.ISO_8859_1));
        }
        return answer;
    }

    private static String part(String text, int[] at) {
        int end = text.indexOf(Reflected.BETWEEN, at[0]);
        String part = text.substring(at[0], end);
        at[0] = end + 1;
        return part;
    }
}
