import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** An executor without threads: tasks to be run once, at whatever time, wait until all of them are run or forgotten. */
public final class PostponedTasks extends AbstractExecutorService implements ScheduledExecutorService {
    private List<Runnable> tasks = new ArrayList<>();

    /** Runs the tasks that wait, in the order in which they came. */
    public void run() {
        if (!tasks.isEmpty()) {
            List<Runnable> taken = tasks;
            tasks = new ArrayList<>();
            taken.forEach(Runnable::run);
        }
    }

    public void forget() {
        tasks.clear();
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        tasks.add(task);
        return null;
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void shutdown() {}

    @Override
    public List<Runnable> shutdownNow() {
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long time, TimeUnit unit) {
        return true;
    }
}
