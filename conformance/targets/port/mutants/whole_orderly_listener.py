"""Mutants of the port's whole orderly consumers whose listeners fail or hold, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import OrderlyQueue
from rocketmq_conformance.conformance.targets.port.whole_orderly_listener import WholeOrderlyListener
from rocketmq_conformance.models.client.fixtures import FAILS, SUCCEEDS
from rocketmq_conformance.models.outcome import Result


class FailureIsCommitted(WholeOrderlyListener):
    def listened(self, consumer: Consumer, queue: int, offset: int) -> str:
        how = super().listened(consumer, queue, offset)
        return SUCCEEDS if how == FAILS else how


class FailureIsLost(WholeOrderlyListener):
    def put_back(self, owned: OrderlyQueue, offset: int) -> None:
        pass


class FailureGoesLast(WholeOrderlyListener):
    def put_back(self, owned: OrderlyQueue, offset: int) -> None:
        owned.messages.append(offset)


class FailureBlocks(WholeOrderlyListener):
    def consume_available(self, consumer: Consumer, queue: int) -> Result:
        owned = consumer.table.get(queue)
        if isinstance(owned, OrderlyQueue) and owned.taking in owned.messages:
            return None
        return super().consume_available(consumer, queue)

    def put_back(self, owned: OrderlyQueue, offset: int) -> None:
        super().put_back(owned, offset)
        owned.taking = offset


class FailurePassesOnce(WholeOrderlyListener):
    def listened(self, consumer: Consumer, queue: int, offset: int) -> str:
        owned = consumer.table.get(queue)
        how = super().listened(consumer, queue, offset)
        if how == FAILS and isinstance(owned, OrderlyQueue):
            if owned.taking == offset:
                return SUCCEEDS
            owned.taking = offset
        return how


class HeldIsNotAlone(WholeOrderlyListener):
    def consume_available(self, consumer: Consumer, queue: int) -> Result:
        owned = consumer.table.get(queue)
        if isinstance(owned, OrderlyQueue) and consumer.taken.get(queue) is owned:
            while owned.messages:
                self.listened(consumer, queue, owned.messages.pop(0))
        return super().consume_available(consumer, queue)


class CorrectsPastHeld(WholeOrderlyListener):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        consumer.store.update(queue, following, True)


class HeldIsCommitted(WholeOrderlyListener):
    def hold(self, consumer: Consumer, queue: int, owned: OrderlyQueue, offset: int) -> None:
        super().hold(consumer, queue, owned, offset)
        self.consumed(consumer, queue, offset)


class PulledIsCommitted(WholeOrderlyListener):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, following)
        consumer.store.update(queue, following, False)


class LateIsCommitted(WholeOrderlyListener):
    def is_late(self, taken: OwnedQueue) -> bool:
        return False

    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(range(9))


class OwnQueueOverlaps(WholeOrderlyListener):
    def queue_to_consume(self, consumer: Consumer, queue: int) -> OrderlyQueue | None:
        mine = consumer.taken.get(queue)
        if mine is not None and mine.dropped:
            del consumer.taken[queue]
        return super().queue_to_consume(consumer, queue)


class LockIsNeverForced(WholeOrderlyListener):
    def is_forced(self, owned: OrderlyQueue) -> bool:
        return False


class UnlockedIsLost(WholeOrderlyListener):
    def returned(self, consumer: Consumer, queue: int, owned: OrderlyQueue, how: str) -> None:
        if not owned.locked:
            return
        super().returned(consumer, queue, owned, how)


class ReturnedIsTwice(WholeOrderlyListener):
    def returned(self, consumer: Consumer, queue: int, owned: OrderlyQueue, how: str) -> None:
        super().returned(consumer, queue, owned, how)
        if how == SUCCEEDS and not owned.dropped:
            self.put_back(owned, owned.taking)


class FailsStopsPulls(WholeOrderlyListener):
    def may_pull(self, owned: OrderlyQueue) -> bool:
        return super().may_pull(owned) and not owned.messages


class ConsumesUnlocked(WholeOrderlyListener):
    def queue_to_consume(self, consumer: Consumer, queue: int) -> OrderlyQueue | None:
        owned = consumer.table.get(queue)
        return owned if isinstance(owned, OrderlyQueue) and queue not in consumer.taken else None


class FailsLate(WholeOrderlyListener):
    def listen(self, member: int, listener: str) -> Result:
        consumer = self.members[member]
        if listener == FAILS and consumer is not None and consumer.taken:
            for queue, owned in list(consumer.taken.items()):
                assert isinstance(owned, OrderlyQueue)
                self.returned(consumer, queue, owned, SUCCEEDS)
            consumer.taken.clear()
        return super().listen(member, listener)


_mutant = partial(Mutant.of, "whole-orderly-listener")

MUTANTS = (
    _mutant("ordered-failure-commits", "D93", "What an orderly listener fails is committed.", FailureIsCommitted),
    _mutant("ordered-failure-is-lost", "D93", "What an orderly listener fails is passed over.", FailureIsLost),
    _mutant("ordered-failure-goes-last", "D78", "What fails is given again after what follows it.", FailureGoesLast),
    _mutant("ordered-failure-blocks", "D95", "What fails is not given again.", FailureBlocks),
    _mutant("ordered-failure-passes-once", "D93", "What fails a second time counts as consumed.", FailurePassesOnce),
    _mutant("ordered-held-is-not-alone", "D78", "What follows a held message is given beside it.", HeldIsNotAlone),
    _mutant("ordered-held-is-committed", "D94", "What an orderly listener holds is committed.", HeldIsCommitted),
    _mutant(
        "ordered-corrects-held",
        "D94",
        "A pull that finds nothing commits what an orderly listener holds.",
        CorrectsPastHeld,
    ),
    _mutant("ordered-pulled-is-committed", "D31", "What is pulled is committed.", PulledIsCommitted),
    _mutant("ordered-late-is-committed", "D41", "The result for a queue that was lost is committed.", LateIsCommitted),
    _mutant(
        "ordered-own-queue-overlaps", "D78", "A queue that comes back has two listeners at once.", OwnQueueOverlaps
    ),
    _mutant(
        "ordered-lock-never-forced",
        "D78",
        "A queue that was lost stays locked until its listener returns.",
        LockIsNeverForced,
    ),
    _mutant("ordered-unlocked-is-lost", "D27", "What a listener returns without its lock is lost.", UnlockedIsLost),
    _mutant("ordered-returned-is-twice", "D38", "What was held and consumed is given again.", ReturnedIsTwice),
    _mutant(
        "ordered-failure-stops-pulls", "D77", "A queue is not pulled while a message of it fails.", FailsStopsPulls
    ),
    _mutant("ordered-consumes-unlocked", "D77", "A queue whose lock is lost is consumed.", ConsumesUnlocked),
    _mutant("ordered-late-failure", "D93", "An orderly listener that fails late counts as successful.", FailsLate),
)
