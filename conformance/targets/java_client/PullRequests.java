import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/** Requests in the queue of a release's pull service. */
public final class PullRequests {
    private PullRequests() {}

    /**
     * Takes those that wait, null when none does: a text, and behind it each of them. The text has topic, broker and id of
     * the queue of each, and the offset that it begins at and nothing, or of a pop its mode to begin and when it was popped
     * last, with a separator behind each of the five.
     */
    public static Object[] take(Queue<?> waiting) throws Exception {
        if (waiting.isEmpty()) {
            return null;
        }
        List<Object> taken = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        taken.add(null);
        for (Object request = waiting.poll(); request != null; request = waiting.poll()) {
            taken.add(request);
            Object queue = Reflected.call(request, "getMessageQueue");
            boolean pops = Reflected.has(request, "getPopProcessQueue");
            append(text, Reflected.call(queue, "getTopic"));
            append(text, Reflected.call(queue, "getBrokerName"));
            append(text, Reflected.call(queue, "getQueueId"));
            append(text, Reflected.call(request, pops ? "getInitMode" : "getNextOffset"));
            append(text, pops ? popped(request) : "");
        }
        taken.set(0, text.toString());
        return taken.toArray();
    }

    private static Object popped(Object request) throws Exception {
        return Reflected.call(Reflected.call(request, "getPopProcessQueue"), "getLastPopTimestamp");
    }

    private static void append(StringBuilder text, Object part) {
        text.append(part).append(Reflected.BETWEEN);
    }
}
