"""Mutants of the port's whole orderly consumers whose listeners fail or hold, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import OrderlyQueue
from rocketmq_conformance.conformance.targets.port.whole_orderly_listener import WholeOrderlyListener
from rocketmq_conformance.models.client.plan_words import FAILS, SUCCEEDS
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-orderly-listener")


@_mutant("D93", "What an orderly listener fails is committed.")
class OrderedFailureCommits(WholeOrderlyListener):
    def listened(self, consumer: Consumer, queue: int, offset: int) -> str:
        how = super().listened(consumer, queue, offset)
        return SUCCEEDS if how == FAILS else how


@_mutant("D93", "What an orderly listener fails is passed over.")
class OrderedFailureIsLost(WholeOrderlyListener):
    def put_back(self, owned: OrderlyQueue, offset: int) -> None:
        pass


@_mutant("D78", "What fails is given again after what follows it.")
class OrderedFailureGoesLast(WholeOrderlyListener):
    def put_back(self, owned: OrderlyQueue, offset: int) -> None:
        owned.messages.append(offset)


@_mutant("D95", "What fails is not given again.")
class OrderedFailureBlocks(WholeOrderlyListener):
    def consume_available(self, consumer: Consumer, queue: int) -> Result:
        owned = consumer.table.get(queue)
        if isinstance(owned, OrderlyQueue) and owned.taking in owned.messages:
            return None
        return super().consume_available(consumer, queue)

    def put_back(self, owned: OrderlyQueue, offset: int) -> None:
        super().put_back(owned, offset)
        owned.taking = offset


@_mutant("D93", "What fails a second time counts as consumed.")
class OrderedFailurePassesOnce(WholeOrderlyListener):
    def listened(self, consumer: Consumer, queue: int, offset: int) -> str:
        owned = consumer.table.get(queue)
        how = super().listened(consumer, queue, offset)
        if how == FAILS and isinstance(owned, OrderlyQueue):
            if owned.taking == offset:
                return SUCCEEDS
            owned.taking = offset
        return how


@_mutant("D78", "What follows a held message is given beside it.")
class OrderedHeldIsNotAlone(WholeOrderlyListener):
    def consume_available(self, consumer: Consumer, queue: int) -> Result:
        owned = consumer.table.get(queue)
        if isinstance(owned, OrderlyQueue) and consumer.taken.get(queue) is owned:
            while owned.messages:
                self.listened(consumer, queue, owned.messages.pop(0))
        return super().consume_available(consumer, queue)


@_mutant("D94", "A pull that finds nothing commits what an orderly listener holds.")
class OrderedCorrectsHeld(WholeOrderlyListener):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        consumer.store.update(queue, following, True)


@_mutant("D94", "What an orderly listener holds is committed.")
class OrderedHeldIsCommitted(WholeOrderlyListener):
    def hold(self, consumer: Consumer, queue: int, owned: OrderlyQueue, offset: int) -> None:
        super().hold(consumer, queue, owned, offset)
        self.consumed(consumer, queue, offset)


@_mutant("D31", "What is pulled is committed.")
class OrderedPulledIsCommitted(WholeOrderlyListener):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, following)
        consumer.store.update(queue, following, False)


@_mutant("D41", "The result for a queue that was lost is committed.")
class OrderedLateIsCommitted(WholeOrderlyListener):
    def is_late(self, taken: OwnedQueue) -> bool:
        return False

    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return tuple(range(9))


@_mutant("D78", "A queue that comes back has two listeners at once.")
class OrderedOwnQueueOverlaps(WholeOrderlyListener):
    def queue_to_consume(self, consumer: Consumer, queue: int) -> OrderlyQueue | None:
        mine = consumer.taken.get(queue)
        if mine is not None and mine.dropped:
            del consumer.taken[queue]
        return super().queue_to_consume(consumer, queue)


@_mutant("D78", "A queue that was lost stays locked until its listener returns.")
class OrderedLockNeverForced(WholeOrderlyListener):
    def is_forced(self, owned: OrderlyQueue) -> bool:
        return False


@_mutant("D27", "What a listener returns without its lock is lost.")
class OrderedUnlockedIsLost(WholeOrderlyListener):
    def returned(self, consumer: Consumer, queue: int, owned: OrderlyQueue, how: str) -> None:
        if not owned.locked:
            return
        super().returned(consumer, queue, owned, how)


@_mutant("D38", "What was held and consumed is given again.")
class OrderedReturnedIsTwice(WholeOrderlyListener):
    def returned(self, consumer: Consumer, queue: int, owned: OrderlyQueue, how: str) -> None:
        super().returned(consumer, queue, owned, how)
        if how == SUCCEEDS and not owned.dropped:
            self.put_back(owned, owned.taking)


@_mutant("D77", "A queue is not pulled while a message of it fails.")
class OrderedFailureStopsPulls(WholeOrderlyListener):
    def may_pull(self, owned: OrderlyQueue) -> bool:
        return super().may_pull(owned) and not owned.messages


@_mutant("D77", "A queue whose lock is lost is consumed.")
class OrderedConsumesUnlocked(WholeOrderlyListener):
    def queue_to_consume(self, consumer: Consumer, queue: int) -> OrderlyQueue | None:
        owned = consumer.table.get(queue)
        return owned if isinstance(owned, OrderlyQueue) and queue not in consumer.taken else None


@_mutant("D93", "An orderly listener that fails late counts as successful.")
class OrderedLateFailure(WholeOrderlyListener):
    def listen(self, member: int, listener: str) -> Result:
        consumer = self.members[member]
        if listener == FAILS and consumer is not None and consumer.taken:
            for queue, owned in list(consumer.taken.items()):
                assert isinstance(owned, OrderlyQueue)
                self.returned(consumer, queue, owned, SUCCEEDS)
            consumer.taken.clear()
        return super().listen(member, listener)
