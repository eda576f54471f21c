"""Mutants of the port's orderly consumers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import (
    FORCE,
    LOCK_EXPIRY,
    OrderlyQueue,
    RebalanceOrderly,
)
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

NewPulls = list[tuple[int, int]]

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "rebalance-orderly")


# --- taking a lock -------------------------------------------------------------------------------------------


class BornUnlockedQueue(OrderlyQueue):
    def __init__(self, offset: int, now: int) -> None:
        super().__init__(offset, now)
        self.locked = False


@_mutant("D73", "A new queue waits for the timer although it is locked.")
class BornUnlocked(RebalanceOrderly):
    def new_queue(self, offset: int) -> OwnedQueue:
        return BornUnlockedQueue(offset, self.now)


@_mutant("D75", "A broadcasting member locks its queues.")
class BroadcastLocks(RebalanceOrderly):
    def needs_lock(self, consumer: Consumer) -> bool:
        return True


@_mutant("D75", "Queues are added without asking for their locks.")
class NeverLocks(RebalanceOrderly):
    def needs_lock(self, consumer: Consumer) -> bool:
        return False


@_mutant("D77", "Any answer to a request for a lock counts as granted.")
class AnswerIsGrant(RebalanceOrderly):
    def is_granted(self, queue: int, granted: frozenset[int]) -> bool:
        return True


@_mutant("D77", "A lock of a queue counts for all queues with its number.")
class LockById(RebalanceOrderly):
    def is_granted(self, queue: int, granted: frozenset[int]) -> bool:
        return ORDINARY.queues[queue].id in [ORDINARY.queues[other].id for other in granted]


@_mutant("D92", "A refused lock forgets the offset in memory.")
class RefusedIsForgotten(RebalanceOrderly):
    def not_locked(self, consumer: Consumer, queue: int, new_pulls: NewPulls) -> None:
        consumer.store.remove(queue)


@_mutant("D80", "A refused lock asks for no other round.")
class RefusedIsNotRetried(RebalanceOrderly):
    def wants_round(self) -> bool:
        return False


# --- keeping it ----------------------------------------------------------------------------------------------


@_mutant("D27", "A lock that is not renewed is never marked as lost.")
class LostLockIsKept(RebalanceOrderly):
    def mark_lost(self, owned: OrderlyQueue) -> None:
        pass


@_mutant("D82", "A renewal that fails loses all locks.")
class FailedRenewalLoses(RebalanceOrderly):
    def renewal_failed(self, consumer: Consumer) -> None:
        for owned in consumer.table.values():
            assert isinstance(owned, OrderlyQueue)
            owned.locked = False


@_mutant("D27", "A renewal that fails counts as granted.")
class FailedRenewalConfirms(RebalanceOrderly):
    def renewal_failed(self, consumer: Consumer) -> None:
        for owned in consumer.table.values():
            assert isinstance(owned, OrderlyQueue)
            self.confirm(owned)


@_mutant("D76", "The timer asks for the lock of one queue.")
class RenewsOne(RebalanceOrderly):
    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        return super().queues_to_renew(consumer)[:1]


@_mutant("D78", "Locks of queues that are to be given up are renewed.")
class RenewsDropped(RebalanceOrderly):
    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(consumer.table)


@_mutant("D27", "A lock never expires at the client.")
class LockNeverExpires(RebalanceOrderly):
    def has_expired(self, owned: OrderlyQueue) -> bool:
        return False


@_mutant("D87", "A lock expires after exactly 30 s.")
class LockExpiresEarly(RebalanceOrderly):
    def has_expired(self, owned: OrderlyQueue) -> bool:
        return self.now - owned.confirmed >= LOCK_EXPIRY


@_mutant("D78", "A lock is relied on as long as brokers do.")
class LockExpiresWithBrokers(RebalanceOrderly):
    def has_expired(self, owned: OrderlyQueue) -> bool:
        return self.now - owned.confirmed > 2 * LOCK_EXPIRY


# --- giving it back ------------------------------------------------------------------------------------------


@_mutant("D76", "A lost queue is not unlocked.")
class LossIsNotUnlocked(RebalanceOrderly):
    def give_back(self, consumer: Consumer, queue: int) -> None:
        pass


@_mutant("D76", "A member that shuts down unlocks nothing.")
class EndIsNotUnlocked(RebalanceOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        pass


@_mutant("D76", "A shutdown unlocks all queues but the first.")
class FirstIsNotUnlocked(RebalanceOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        queues = self.queues_to_renew(consumer)[1:]
        if queues:
            self.unlock(consumer, queues, False)


@_mutant("D151", "Unlocking a lost queue waits for the answer.")
class LossUnlockWaits(RebalanceOrderly):
    def give_back(self, consumer: Consumer, queue: int) -> None:
        self.unlock(consumer, (queue,), False)


@_mutant("D151", "A shutdown does not wait until it is unlocked.")
class EndUnlockIsOneWay(RebalanceOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        queues = self.queues_to_renew(consumer)
        if queues:
            self.unlock(consumer, queues, True)


@_mutant("D78", "A lost queue is unlocked while its listener is busy.")
class BusyIsUnlocked(RebalanceOrderly):
    def is_busy(self, consumer: Consumer, queue: int, owned: OrderlyQueue) -> bool:
        return False


@_mutant("D78", "A lost queue waits for its listener without end.")
class NeverForces(RebalanceOrderly):
    def is_forced(self, owned: OrderlyQueue) -> bool:
        return False


@_mutant("D78", "A lost queue waits for its listener as long as brokers keep locks.")
class ForcesLate(RebalanceOrderly):
    def is_forced(self, owned: OrderlyQueue) -> bool:
        return self.now - owned.confirmed > 3 * FORCE


@_mutant("D87", "A lost queue is unlocked by force after exactly 20 s.")
class ForcesEarly(RebalanceOrderly):
    def is_forced(self, owned: OrderlyQueue) -> bool:
        return self.now - owned.confirmed >= FORCE


@_mutant("D33", "The offset of a queue that its listener keeps is forgotten.")
class KeptIsForgotten(RebalanceOrderly):
    def keep(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)


@_mutant("D80", "A dropped queue that is still there counts as owned.")
class KeptIsBalanced(RebalanceOrderly):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: NewPulls) -> bool:
        super().own(consumer, topic, wanted, new_pulls)
        return all(queue in consumer.table for queue in wanted)


@_mutant("D78", "A queue that its listener keeps is not dropped.")
class KeptIsAlive(RebalanceOrderly):
    def keep(self, consumer: Consumer, queue: int) -> None:
        consumer.table[queue].dropped = False


# --- pulling and consuming -----------------------------------------------------------------------------------


@_mutant("D77", "A queue whose lock is lost is pulled.")
class PullsUnlocked(RebalanceOrderly):
    def may_pull(self, owned: OrderlyQueue) -> bool:
        return True


@_mutant("D74", "The first pull of a locked queue does not ask where to start.")
class NeverCorrected(RebalanceOrderly):
    def corrected(self, consumer: Consumer, queue: int, owned: OrderlyQueue) -> int:
        return owned.offset


@_mutant("D05", "Without a start the first pull of a locked queue is -1.")
class PullsFromNowhere(RebalanceOrderly):
    def not_corrected(self, owned: OrderlyQueue) -> Result:
        owned.corrected = True
        owned.offset = -1
        return owned.offset


@_mutant("D27", "A listener does not look at its lock.")
class ConsumesUnlocked(RebalanceOrderly):
    def is_locked(self, owned: OrderlyQueue) -> bool:
        return True


@_mutant("D78", "A queue has two listeners at once.")
class ListenersOverlap(RebalanceOrderly):
    def queue_to_consume(self, consumer: Consumer, queue: int) -> OrderlyQueue | None:
        busy = consumer.taken.pop(queue, None)
        mine = super().queue_to_consume(consumer, queue)
        if busy is not None:
            consumer.taken[queue] = busy
        return mine


@_mutant("D41", "A result counts although the queue was lost.")
class LateOrderCounts(RebalanceOrderly):
    def is_late(self, taken: OwnedQueue) -> bool:
        return False


@_mutant("D75", "An orderly broadcasting member's offsets are kept at the broker.")
class OrderlyBroadcastAtBroker(RebalanceOrderly):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()


@_mutant("D153", "A lost queue's offset is sent once.")
class LostIsSentOnce(RebalanceOrderly):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        if consumer.broadcasts:
            super().hand_over(consumer, queue)
        else:
            consumer.store.remove(queue)


@_mutant("D153", "A lost queue's offset is sent three times.")
class LostIsSentThreeTimes(RebalanceOrderly):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist(queue)
        super().hand_over(consumer, queue)
