"""Mutants of the port's orderly consumers, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import (
    FORCE,
    LOCK_EXPIRY,
    OrderlyQueue,
    RebalanceOrderly,
)
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.models.client.fixtures import QUEUES
from rocketmq_conformance.models.outcome import Result

NewPulls = list[tuple[int, int]]

# --- taking a lock -------------------------------------------------------------------------------------------


class BornUnlockedQueue(OrderlyQueue):
    def __init__(self, offset: int, now: int) -> None:
        super().__init__(offset, now)
        self.locked = False


class BornUnlocked(RebalanceOrderly):
    def new_queue(self, offset: int) -> OwnedQueue:
        return BornUnlockedQueue(offset, self.now)


class BroadcastLocks(RebalanceOrderly):
    def needs_lock(self, consumer: Consumer) -> bool:
        return True


class NeverLocks(RebalanceOrderly):
    def needs_lock(self, consumer: Consumer) -> bool:
        return False


class AnswerIsGrant(RebalanceOrderly):
    def is_granted(self, queue: int, granted: frozenset[int]) -> bool:
        return True


class IdsOnly(RebalanceOrderly):
    def is_granted(self, queue: int, granted: frozenset[int]) -> bool:
        return QUEUES[queue].id in [QUEUES[other].id for other in granted]


class RefusedIsForgotten(RebalanceOrderly):
    def not_locked(self, consumer: Consumer, queue: int, new_pulls: NewPulls) -> None:
        consumer.store.remove(queue)


class NeverAsksAgain(RebalanceOrderly):
    def wants_round(self) -> bool:
        return False


# --- keeping it ----------------------------------------------------------------------------------------------


class LostIsKept(RebalanceOrderly):
    def mark_lost(self, owned: OrderlyQueue) -> None:
        pass


class FailureLoses(RebalanceOrderly):
    def renewal_failed(self, consumer: Consumer) -> None:
        for owned in consumer.table.values():
            assert isinstance(owned, OrderlyQueue)
            owned.locked = False


class FailureConfirms(RebalanceOrderly):
    def renewal_failed(self, consumer: Consumer) -> None:
        for owned in consumer.table.values():
            assert isinstance(owned, OrderlyQueue)
            self.confirm(owned)


class RenewsOne(RebalanceOrderly):
    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        return super().queues_to_renew(consumer)[:1]


class RenewsDropped(RebalanceOrderly):
    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(consumer.table)


class LockNeverExpires(RebalanceOrderly):
    def has_expired(self, owned: OrderlyQueue) -> bool:
        return False


class LockExpiresEarly(RebalanceOrderly):
    def has_expired(self, owned: OrderlyQueue) -> bool:
        return self.now - owned.confirmed >= LOCK_EXPIRY


class LockExpiresWithBrokers(RebalanceOrderly):
    def has_expired(self, owned: OrderlyQueue) -> bool:
        return self.now - owned.confirmed > 2 * LOCK_EXPIRY


# --- giving it back ------------------------------------------------------------------------------------------


class LossIsNotUnlocked(RebalanceOrderly):
    def give_back(self, consumer: Consumer, queue: int) -> None:
        pass


class EndIsNotUnlocked(RebalanceOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        pass


class FirstIsNotUnlocked(RebalanceOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        queues = self.queues_to_renew(consumer)[1:]
        if queues:
            self.unlock(consumer, queues, False)


class LossIsUnlockedSynchronously(RebalanceOrderly):
    def give_back(self, consumer: Consumer, queue: int) -> None:
        self.unlock(consumer, (queue,), False)


class EndIsUnlockedOneWay(RebalanceOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        queues = self.queues_to_renew(consumer)
        if queues:
            self.unlock(consumer, queues, True)


class BusyIsUnlocked(RebalanceOrderly):
    def is_busy(self, consumer: Consumer, queue: int, owned: OrderlyQueue) -> bool:
        return False


class NeverForces(RebalanceOrderly):
    def is_forced(self, owned: OrderlyQueue) -> bool:
        return False


class ForcesLate(RebalanceOrderly):
    def is_forced(self, owned: OrderlyQueue) -> bool:
        return self.now - owned.confirmed > 3 * FORCE


class ForcesEarly(RebalanceOrderly):
    def is_forced(self, owned: OrderlyQueue) -> bool:
        return self.now - owned.confirmed >= FORCE


class KeptIsForgotten(RebalanceOrderly):
    def keep(self, consumer: Consumer, queue: int) -> None:
        consumer.store.remove(queue)


class KeptIsBalanced(RebalanceOrderly):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: NewPulls) -> bool:
        super().own(consumer, topic, wanted, new_pulls)
        return all(queue in consumer.table for queue in wanted)


class KeptIsAlive(RebalanceOrderly):
    def keep(self, consumer: Consumer, queue: int) -> None:
        consumer.table[queue].dropped = False


# --- pulling and consuming -----------------------------------------------------------------------------------


class PullsUnlocked(RebalanceOrderly):
    def may_pull(self, owned: OrderlyQueue) -> bool:
        return True


class NeverCorrected(RebalanceOrderly):
    def corrected(self, consumer: Consumer, queue: int, owned: OrderlyQueue) -> int:
        return owned.offset


class PullsFromNowhere(RebalanceOrderly):
    def not_corrected(self, owned: OrderlyQueue) -> Result:
        owned.corrected = True
        owned.offset = -1
        return owned.offset


class ConsumesUnlocked(RebalanceOrderly):
    def is_locked(self, owned: OrderlyQueue) -> bool:
        return True


class ListenersOverlap(RebalanceOrderly):
    def queue_to_consume(self, consumer: Consumer, queue: int) -> OrderlyQueue | None:
        busy = consumer.taken.pop(queue, None)
        mine = super().queue_to_consume(consumer, queue)
        if busy is not None:
            consumer.taken[queue] = busy
        return mine


class LateResultCounts(RebalanceOrderly):
    def is_late(self, taken: OwnedQueue) -> bool:
        return False


class BroadcastAtBroker(RebalanceOrderly):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()


class LostIsSentOnce(RebalanceOrderly):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        if consumer.broadcasts:
            super().hand_over(consumer, queue)
        else:
            consumer.store.remove(queue)


class LostIsSentThreeTimes(RebalanceOrderly):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.persist(queue)
        super().hand_over(consumer, queue)


_mutant = partial(Mutant.of, "rebalance-orderly")

MUTANTS = (
    _mutant("born-unlocked", "D73", "A new queue waits for the timer although it is locked.", BornUnlocked),
    _mutant("broadcast-locks", "D75", "A broadcasting member locks its queues.", BroadcastLocks),
    _mutant("never-locks", "D75", "Queues are added without asking for their locks.", NeverLocks),
    _mutant("answer-is-grant", "D77", "Any answer to a request for a lock counts as granted.", AnswerIsGrant),
    _mutant("lock-by-id", "D77", "A lock of a queue counts for all queues with its number.", IdsOnly),
    _mutant("refused-is-forgotten", "D92", "A refused lock forgets the offset in memory.", RefusedIsForgotten),
    _mutant("refused-is-not-retried", "D80", "A refused lock asks for no other round.", NeverAsksAgain),
    _mutant("lost-lock-is-kept", "D27", "A lock that is not renewed is never marked as lost.", LostIsKept),
    _mutant("failed-renewal-loses", "D82", "A renewal that fails loses all locks.", FailureLoses),
    _mutant("failed-renewal-confirms", "D27", "A renewal that fails counts as granted.", FailureConfirms),
    _mutant("renews-one", "D76", "The timer asks for the lock of one queue.", RenewsOne),
    _mutant("renews-dropped", "D78", "Locks of queues that are to be given up are renewed.", RenewsDropped),
    _mutant("lock-never-expires", "D27", "A lock never expires at the client.", LockNeverExpires),
    _mutant("lock-expires-early", "D87", "A lock expires after exactly 30 s.", LockExpiresEarly),
    _mutant("lock-expires-with-brokers", "D78", "A lock is relied on as long as brokers do.", LockExpiresWithBrokers),
    _mutant("loss-is-not-unlocked", "D76", "A lost queue is not unlocked.", LossIsNotUnlocked),
    _mutant("end-is-not-unlocked", "D76", "A member that shuts down unlocks nothing.", EndIsNotUnlocked),
    _mutant("first-is-not-unlocked", "D76", "A shutdown unlocks all queues but the first.", FirstIsNotUnlocked),
    _mutant("loss-unlock-waits", "D151", "Unlocking a lost queue waits for the answer.", LossIsUnlockedSynchronously),
    _mutant("end-unlock-is-one-way", "D151", "A shutdown does not wait until it is unlocked.", EndIsUnlockedOneWay),
    _mutant("busy-is-unlocked", "D78", "A lost queue is unlocked while its listener is busy.", BusyIsUnlocked),
    _mutant("never-forces", "D78", "A lost queue waits for its listener without end.", NeverForces),
    _mutant("forces-late", "D78", "A lost queue waits for its listener as long as brokers keep locks.", ForcesLate),
    _mutant("forces-early", "D87", "A lost queue is unlocked by force after exactly 20 s.", ForcesEarly),
    _mutant("kept-is-forgotten", "D33", "The offset of a queue that its listener keeps is forgotten.", KeptIsForgotten),
    _mutant("kept-is-balanced", "D80", "A dropped queue that is still there counts as owned.", KeptIsBalanced),
    _mutant("kept-is-alive", "D78", "A queue that its listener keeps is not dropped.", KeptIsAlive),
    _mutant("pulls-unlocked", "D77", "A queue whose lock is lost is pulled.", PullsUnlocked),
    _mutant("never-corrected", "D74", "The first pull of a locked queue does not ask where to start.", NeverCorrected),
    _mutant("pulls-from-nowhere", "D05", "Without a start the first pull of a locked queue is -1.", PullsFromNowhere),
    _mutant("consumes-unlocked", "D27", "A listener does not look at its lock.", ConsumesUnlocked),
    _mutant("listeners-overlap", "D78", "A queue has two listeners at once.", ListenersOverlap),
    _mutant("late-order-counts", "D41", "A result counts although the queue was lost.", LateResultCounts),
    _mutant(
        "orderly-broadcast-at-broker",
        "D75",
        "An orderly broadcasting member's offsets are kept at the broker.",
        BroadcastAtBroker,
    ),
    _mutant("lost-is-sent-once", "D153", "A lost queue's offset is sent once.", LostIsSentOnce),
    _mutant("lost-is-sent-three-times", "D153", "A lost queue's offset is sent three times.", LostIsSentThreeTimes),
)
