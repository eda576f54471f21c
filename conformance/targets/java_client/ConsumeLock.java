import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/** The lock that a listener holds while it works, and that a rebalance tries to take; taking it never waits. */
public final class ConsumeLock implements Lock, ReadWriteLock {
    private final AtomicInteger held = new AtomicInteger();

    @Override
    public void lock() {
        held.incrementAndGet();
    }

    @Override
    public void unlock() {
        held.decrementAndGet();
    }

    @Override
    public boolean tryLock() {
        return held.compareAndSet(0, 1);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
        return tryLock();
    }

    @Override
    public Lock readLock() {
        return this;
    }

    @Override
    public Lock writeLock() {
        return this;
    }

    @Override
    public void lockInterruptibly() {
        lock();
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException();
    }
}
