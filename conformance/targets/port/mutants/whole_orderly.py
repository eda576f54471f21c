"""Mutants of the port's whole orderly consumers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import OrderlyQueue
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_orderly import WholeOrderly
from rocketmq_conformance.suites.declare.topologies import TOPIC

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-orderly")


@_mutant("D75", "A whole orderly consumer asks for no lock.")
class WholeOrderlyNeverLocks(WholeOrderly):
    def needs_lock(self, consumer: Consumer) -> bool:
        return False

    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        return ()


@_mutant("D77", "Any answer about a lock counts as granted.")
class WholeOrderlyAnswerIsGrant(WholeOrderly):
    def is_granted(self, queue: int, granted: frozenset[int]) -> bool:
        return True


@_mutant("D77", "A refusal to lock counts as granted.")
class WholeOrderlyRefusalIsGrant(WholeOrderly):
    def ask_locks(self, consumer: Consumer, queues: tuple[int, ...]) -> frozenset[int] | None:
        granted = super().ask_locks(consumer, queues)
        return frozenset(queues) if granted is None else granted


@_mutant("D27", "A lock that is refused once is not asked for.")
class WholeOrderlyRefusedForGood(WholeOrderly):
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


@_mutant("D27", "A lock that was lost is relied on.")
class WholeOrderlyLostIsKept(WholeOrderly):
    def mark_lost(self, owned: OrderlyQueue) -> None:
        pass


@_mutant("D76", "Locks are asked for once, and never renewed.")
class WholeOrderlyNeverRenews(WholeOrderly):
    def queues_to_renew(self, consumer: Consumer) -> tuple[int, ...]:
        return ()

    def unlock_all(self, consumer: Consumer) -> None:
        if consumer.table:
            self.unlock(consumer, tuple(consumer.table), False)


@_mutant("D27", "A lock that was lost never counts as granted again.")
class WholeOrderlyLostForGood(WholeOrderly):
    def confirm(self, owned: OrderlyQueue) -> None:
        pass


@_mutant("D76", "A queue for another member stays locked.")
class WholeOrderlyLossNotUnlocked(WholeOrderly):
    def give_back(self, consumer: Consumer, queue: int) -> None:
        pass


@_mutant("D76", "A consumer that ends leaves its locks behind.")
class WholeOrderlyEndNotUnlocked(WholeOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        pass


@_mutant("D77", "A whole consumer pulls queues without locks.")
class WholeOrderlyPullsUnlocked(WholeOrderly):
    def may_pull(self, owned: OrderlyQueue) -> bool:
        return True


@_mutant("D92", "After a lost lock a message is skipped.")
class WholeOrderlySkipsAfterLoss(WholeOrderly):
    def mark_lost(self, owned: OrderlyQueue) -> None:
        super().mark_lost(owned)
        owned.offset += 1


@_mutant("D78", "Two threads share the messages of a queue.")
class WholeOrderlyManyThreads(WholeOrderly):
    def in_order(self, offsets: range) -> list[int]:
        return [*offsets[1::2], *offsets[::2]]


@_mutant("D78", "The newest message of a pull is consumed first.")
class WholeOrderlyNewestFirst(WholeOrderly):
    def in_order(self, offsets: range) -> list[int]:
        return list(reversed(offsets))


@_mutant("D31", "What is committed is where the last pull began.")
class WholeOrderlyCommitsFirst(WholeOrderly):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, following)
        consumer.store.update(queue, owned.offset, False)


@_mutant("D38", "The last message of a pull is not consumed.")
class WholeOrderlyLosesLast(WholeOrderly):
    def in_order(self, offsets: range) -> list[int]:
        return list(offsets[:-1]) if len(offsets) > 1 else list(offsets)


@_mutant("D42", "A reset waits for the pull under way.")
class WholeOrderlyResetWaits(WholeOrderly):
    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        mine = consumer.table[queue]
        mine.offset = offset
        consumer.store.update(queue, offset, False)


@_mutant("D153", "At its end an orderly member unlocks one way.")
class WholeOrderlyEndUnlocksOneWay(WholeOrderly):
    def unlock_all(self, consumer: Consumer) -> None:
        queues = self.queues_to_renew(consumer)
        if queues:
            self.unlock(consumer, queues, True)


@_mutant("D77", "At its end 0 is stored of queues without a lock.")
class WholeOrderlyStoresUnlocked(WholeOrderly):
    def end(self, member: int) -> None:
        consumer = self.members[member]
        assert consumer is not None
        assert isinstance(consumer.store, RemoteStore)
        queues = consumer.routes[TOPIC] or ()
        share = self.divided(consumer, TOPIC, queues, self.listed(TOPIC) or ()) or ()
        for queue in set(share) - consumer.table.keys():
            consumer.store.send(queue, 0)
        super().end(member)
