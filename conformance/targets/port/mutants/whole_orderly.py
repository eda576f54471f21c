"""Mutants of the port's whole orderly consumers, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import OrderlyQueue
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_orderly import WholeOrderly


class NeverLocks(WholeOrderly):
    def needs_lock(self, consumer: Consumer) -> bool:
        return False

    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        return ()


class AnswerIsGrant(WholeOrderly):
    def is_granted(self, queue: int, granted: frozenset[int]) -> bool:
        return True


class RefusalIsGrant(WholeOrderly):
    def ask_locks(self, consumer: Consumer, queues: tuple[int, ...]) -> frozenset[int] | None:
        granted = super().ask_locks(consumer, queues)
        return frozenset(queues) if granted is None else granted


class RefusalIsForGood(WholeOrderly):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.known_refusals: set[tuple[Consumer, int]] = set()

    def ask_locks(self, consumer: Consumer, queues: tuple[int, ...]) -> frozenset[int] | None:
        if any((consumer, queue) in self.known_refusals for queue in queues):
            return None
        granted = super().ask_locks(consumer, queues)
        if granted is None:
            self.known_refusals |= {(consumer, queue) for queue in queues}
        return granted


class LostIsKept(WholeOrderly):
    def mark_lost(self, owned: OrderlyQueue) -> None:
        pass


class NeverRenews(WholeOrderly):
    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        return ()

    def unlock_all(self, consumer: Consumer) -> None:
        if consumer.table:
            self.unlock(consumer, tuple(consumer.table), False)


class LostIsForGood(WholeOrderly):
    def confirm(self, owned: OrderlyQueue) -> None:
        pass


class LossIsNotUnlocked(WholeOrderly):
    def give_back(self, consumer: Consumer, queue: int) -> None:
        pass


class EndIsNotUnlocked(WholeOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        pass


class PullsUnlocked(WholeOrderly):
    def may_pull(self, owned: OrderlyQueue) -> bool:
        return True


class SkipsAfterLoss(WholeOrderly):
    def mark_lost(self, owned: OrderlyQueue) -> None:
        super().mark_lost(owned)
        owned.offset += 1


class ManyThreads(WholeOrderly):
    def in_order(self, offsets: range) -> list[int]:
        return [*offsets[1::2], *offsets[::2]]


class NewestFirst(WholeOrderly):
    def in_order(self, offsets: range) -> list[int]:
        return list(reversed(offsets))


class CommitsFirst(WholeOrderly):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, following)
        consumer.store.update(queue, owned.offset, False)


class LosesLast(WholeOrderly):
    def in_order(self, offsets: range) -> list[int]:
        return list(offsets[:-1]) if len(offsets) > 1 else list(offsets)


class ResetWaits(WholeOrderly):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        mine = consumer.table[queue]
        mine.offset = offset
        consumer.store.update(queue, offset, False)


class EndUnlocksOneWay(WholeOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        queues = self.queues_to_renew(consumer)
        if queues:
            self.unlock(consumer, queues, True)


_mutant = partial(Mutant.of, "whole-orderly")

MUTANTS = (
    _mutant("whole-orderly-never-locks", "D75", "A whole orderly consumer asks for no lock.", NeverLocks),
    _mutant("whole-orderly-answer-is-grant", "D77", "Any answer about a lock counts as granted.", AnswerIsGrant),
    _mutant("whole-orderly-refusal-is-grant", "D77", "A refusal to lock counts as granted.", RefusalIsGrant),
    _mutant("whole-orderly-refused-for-good", "D27", "A lock that is refused once is not asked for.", RefusalIsForGood),
    _mutant("whole-orderly-lost-is-kept", "D27", "A lock that was lost is relied on.", LostIsKept),
    _mutant("whole-orderly-never-renews", "D76", "Locks are asked for once, and never renewed.", NeverRenews),
    _mutant("whole-orderly-lost-for-good", "D27", "A lock that was lost never counts as granted again.", LostIsForGood),
    _mutant("whole-orderly-loss-not-unlocked", "D76", "A queue for another member stays locked.", LossIsNotUnlocked),
    _mutant("whole-orderly-end-not-unlocked", "D76", "A consumer that ends leaves its locks behind.", EndIsNotUnlocked),
    _mutant(
        "whole-orderly-end-unlocks-one-way", "D153", "At its end an orderly member unlocks one way.", EndUnlocksOneWay
    ),
    _mutant("whole-orderly-pulls-unlocked", "D77", "A whole consumer pulls queues without locks.", PullsUnlocked),
    _mutant("whole-orderly-skips-after-loss", "D92", "After a lost lock a message is skipped.", SkipsAfterLoss),
    _mutant("whole-orderly-many-threads", "D78", "Two threads share the messages of a queue.", ManyThreads),
    _mutant("whole-orderly-newest-first", "D78", "The newest message of a pull is consumed first.", NewestFirst),
    _mutant("whole-orderly-commits-first", "D31", "What is committed is where the last pull began.", CommitsFirst),
    _mutant("whole-orderly-reset-waits", "D42", "A reset waits for the pull under way.", ResetWaits),
    _mutant("whole-orderly-loses-last", "D38", "The last message of a pull is not consumed.", LosesLast),
)
