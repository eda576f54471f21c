import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** Says in which rooms queues and members are: what stands before the first "@" of a broker's name or a client id. */
public final class Rooms {
    private Rooms() {}

    /** A resolver of this interface of a release; it answers null of a name without a room. */
    public static Object resolver(Class<?> kind) {
        InvocationHandler rooms = (self, method, given) -> room(
                method.getName().equals("brokerDeployIn")
                        ? (String) Reflected.call(given[0], "getBrokerName")
                        : (String) given[0]);
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, rooms);
    }

    private static String room(String name) {
        int at = name.indexOf('@');
        return at < 0 ? null : name.substring(0, at);
    }
}
