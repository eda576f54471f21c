import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Members of a release's classes by their names: the kit's own Java is compiled without knowing any release. */
final class Reflected {
    /**
     * Separates the parts of a text for Python: the unit separator, which no name and no field has. With a zero character
     * in it a text would take three times as long to cross.
     */
    static final char BETWEEN = '\u001f';

    private static final ClassValue<Reflected> KNOWN = new ClassValue<>() {
        @Override
        protected Reflected computeValue(Class<?> kind) {
            return new Reflected(kind);
        }
    };

    private final Class<?> kind;
    private final Map<String, List<Method>> methods = new HashMap<>();
    private final Map<String, Field> fields = new HashMap<>();

    private Reflected(Class<?> kind) {
        this.kind = kind;
        for (Method method : kind.getMethods()) {
            if (!method.isBridge()) {
                method.setAccessible(true);
                methods.computeIfAbsent(method.getName(), unused -> new ArrayList<>()).add(method);
            }
        }
    }

    /** Calls a public method that takes these arguments; raises what it raises. */
    static Object call(Object target, String name, Object... given) throws Exception {
        return invoke(method(target.getClass(), name, given), target, given);
    }

    /** The public method that takes these arguments. */
    static Method method(Class<?> kind, String name, Object... given) throws NoSuchMethodException {
        for (Method method : KNOWN.get(kind).named(name)) {
            if (takes(method.getParameterTypes(), given)) {
                return method;
            }
        }
        throw new NoSuchMethodException(kind.getName() + "." + name);
    }

    /** Calls a setter with the constant of this name; false when there is no such setter. */
    static boolean set(Object target, String name, String constant) throws Exception {
        for (Method method : KNOWN.get(target.getClass()).named(name)) {
            Class<?>[] types = method.getParameterTypes();
            if (types.length == 1 && types[0].isEnum()) {
                invoke(method, target, constant(types[0], constant));
                return true;
            }
        }
        return false;
    }

    /** Is there a public method of this name? */
    static boolean has(Object target, String name) {
        return !KNOWN.get(target.getClass()).named(name).isEmpty();
    }

    static Object get(Object target, String name) throws ReflectiveOperationException {
        return field(target, name).get(target);
    }

    static void put(Object target, String name, Object value) throws ReflectiveOperationException {
        field(target, name).set(target, value);
    }

    /** Makes an object by a public constructor that takes these arguments. */
    static Object make(Class<?> kind, Object... given) throws Exception {
        for (Constructor<?> constructor : kind.getConstructors()) {
            if (takes(constructor.getParameterTypes(), given)) {
                try {
                    return constructor.newInstance(given);
                } catch (InvocationTargetException error) {
                    throw raised(error);
                }
            }
        }
        throw new NoSuchMethodException(kind.getName() + "()");
    }

    private List<Method> named(String name) {
        return methods.getOrDefault(name, List.of());
    }

    private static Field field(Object target, String name) throws NoSuchFieldException {
        Reflected of = KNOWN.get(target.getClass());
        Field found = of.fields.get(name);
        if (found == null) {
            found = declared(of.kind, name);
            found.setAccessible(true);
            of.fields.put(name, found);
        }
        return found;
    }

    private static Field declared(Class<?> kind, String name) throws NoSuchFieldException {
        for (Class<?> one = kind; one != null; one = one.getSuperclass()) {
            try {
                return one.getDeclaredField(name);
            } catch (NoSuchFieldException error) {
                // one of its bases may have it
            }
        }
        throw new NoSuchFieldException(kind.getName() + "." + name);
    }

    /** Calls a method; raises what it raises. */
    static Object invoke(Method method, Object target, Object... given) throws Exception {
        try {
            return method.invoke(target, given);
        } catch (InvocationTargetException error) {
            throw raised(error);
        }
    }

    /** What a method or a constructor raised. */
    static Exception raised(InvocationTargetException error) {
        if (error.getCause() instanceof Error) {
            throw (Error) error.getCause();
        }
        return (Exception) error.getCause();
    }

    private static boolean takes(Class<?>[] types, Object[] given) {
        if (types.length != given.length) {
            return false;
        }
        for (int at = 0; at < given.length; at++) {
            if (given[at] == null ? types[at].isPrimitive() : !accepts(types[at], given[at])) {
                return false;
            }
        }
        return true;
    }

    private static boolean accepts(Class<?> type, Object given) {
        return type == boolean.class
                ? given instanceof Boolean
                : type == long.class
                        ? given instanceof Long
                        : type == int.class ? given instanceof Integer : type.isInstance(given);
    }

    private static Object constant(Class<?> type, String name) {
        for (Object one : type.getEnumConstants()) {
            if (((Enum<?>) one).name().equals(name)) {
                return one;
            }
        }
        throw new IllegalArgumentException(type.getName() + "." + name);
    }
}
