import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** An executor that runs nothing, and knows for when the last task was scheduled. */
public final class PullTasks extends ScheduledThreadPoolExecutor {
    /** In ms; -1: none was scheduled since this was set. */
    public long delay = -1;

    public PullTasks() {
        super(1);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long time, TimeUnit unit) {
        delay = unit.toMillis(time);
        return null;
    }
}
