import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Allocations and sorts, whose queues come back as numbers with blanks between them.
 *
 * <p>A RuntimeException comes back as text: an exclamation mark, the code of its outcome, a blank, and what it says.
 */
public final class Allocations {
    /** The number of each queue; queues that are equal by their own method have one. */
    private final Map<Object, Integer> numbers = new HashMap<>();

    /** The number of a queue. Only queues that were numbered may be in answers. */
    public int number(Object queue) {
        Integer known = numbers.putIfAbsent(queue, numbers.size());
        return known == null ? numbers.size() - 1 : known;
    }

    /** What a strategy allocates to a member. */
    public String allocate(Object strategy, String group, String member, List<?> queues, List<?> members)
            throws Exception {
        Object mine;
        try {
            mine = Reflected.call(strategy, "allocate", group, member, queues, members);
        } catch (RuntimeException error) {
            return raised(error);
        }
        return mine == null ? "" : text((List<?>) mine);
    }

    /** Queues by {@code Collections.sort}. */
    public <T extends Comparable<? super T>> String sorted(List<T> queues) {
        List<T> ordered = new ArrayList<>(queues);
        try {
            Collections.sort(ordered);
        } catch (RuntimeException error) {
            return raised(error);
        }
        return text(ordered);
    }

    private String text(List<?> queues) {
        StringBuilder text = new StringBuilder();
        for (Object queue : queues) {
            text.append(numbers.get(queue)).append(' ');
        }
        return text.toString();
    }

    private static String raised(RuntimeException error) {
        return "!" + (error instanceof IllegalArgumentException ? "ILLEGAL_ARGUMENT " : "RUNTIME ") + error;
    }
}
