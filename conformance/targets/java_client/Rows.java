/** Many objects in one call: what methods of theirs answer, as one text, and a setter with a value for each. */
public final class Rows {
    private Rows() {}

    /**
     * What these methods answer, object by object, each with a separator behind it. A method of what another one
     * answers has a dot between: {@code getMessageQueue.getTopic}.
     */
    public static String of(Iterable<?> objects, String[][] methods) throws Exception {
        StringBuilder text = new StringBuilder();
        for (Object object : objects) {
            for (String[] path : methods) {
                Object answer = object;
                for (String method : path) {
                    answer = Reflected.call(answer, method);
                }
                text.append(answer).append(Reflected.BETWEEN);
            }
        }
        return text.toString();
    }

    /** Calls a setter of each object with the value at its place, unless that is the smallest of all longs. */
    public static void set(Iterable<?> objects, String setter, long[] values) throws Exception {
        int at = 0;
        for (Object object : objects) {
            long value = values[at++];
            if (value != Long.MIN_VALUE) {
                Reflected.call(object, setter, value);
            }
        }
    }
}
