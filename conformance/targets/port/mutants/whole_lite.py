"""Mutants of the port's whole lite pull consumers, after real defects of clients."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import RebalanceOrderly
from rocketmq_conformance.conformance.targets.port.whole_lite import WholeLite
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-lite")


@_mutant("D31", "What was polled is never committed.")
class WholeLiteNeverCommits(WholeLite):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return ()


@_mutant("D33", "A corrected offset is committed at once.")
class WholeLiteStoresCorrection(WholeLite):
    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code == Response.PULL_OFFSET_MOVED:
            consumer.store.update(queue, int(response.ext["nextBeginOffset"]), False)
        super().answered(consumer, line, queue, owned, response)


@_mutant("D44", "A pull that is sent elsewhere is the last.")
class WholeLiteIgnoresCorrection(WholeLite):
    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code != Response.PULL_OFFSET_MOVED:
            super().answered(consumer, line, queue, owned, response)


@_mutant("D43", "A lower offset is not committed.")
class WholeLiteCommitsUpward(WholeLite):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        consumer.store.update(queue, offset, True)


@_mutant("D31", "What is committed is where the polled pull began.")
class WholeLiteCommitsBeginning(WholeLite):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        super().result(consumer, queue, owned, owned.offset)


@_mutant("D38", "The last message of a pull is not polled.")
class WholeLitePollsButLast(WholeLite):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, max(following - 1, owned.offset))


@_mutant("D38", "What was polled is polled again.")
class WholeLitePollsTwice(WholeLite):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, following)
        self.given.append(self.given[-1])


@_mutant("D38", "A queue that was lost is polled on.")
class WholeLitePullsLost(WholeLite):
    def takes(self, owned: OwnedQueue) -> bool:
        return True


@_mutant("D05", "A stored offset is not asked for.")
class WholeLiteBeginsAnew(WholeLite):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return consumer.positions.begin(queue, consumer.where, "20240701000000", "UTC")


@_mutant("D92", "A queue that is lost is committed as unconsumed.")
class WholeLiteLeavesNothing(WholeLite):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.update(queue, 0, False)
        super().hand_over(consumer, queue)


@_mutant("D75", "A lite pull consumer locks its queues.")
class WholeLiteLocks(WholeLite, RebalanceOrderly):
    def gain(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        if self.ask_locks(consumer, (queue,)):
            super().gain(consumer, queue, new_pulls)

    def rebalance(self, consumer: Consumer) -> Result:
        return WholeLite.rebalance(self, consumer)


@_mutant("D42", "A lite pull consumer is reset like a push consumer.")
class WholeLiteObeysResets(WholeLite):
    def handle_reset(self, consumer: Consumer, offsets: Mapping[MessageQueue, int]) -> None:
        WholePush.handle_reset(self, consumer, offsets)


@_mutant("D31", "A seek has no effect.")
class WholeLiteIgnoresSeeks(WholeLite):
    def may_seek(self, consumer: Consumer, queue: int, offset: int) -> bool:
        return False


@_mutant("D43", "A seek takes offsets that the queue does not have.")
class WholeLiteSeeksAnywhere(WholeLite):
    def may_seek(self, consumer: Consumer, queue: int, offset: int) -> bool:
        return True


@_mutant("D43", "A seek to the end fails.")
class WholeLiteSeeksBelowMax(WholeLite):
    def may_seek(self, consumer: Consumer, queue: int, offset: int) -> bool:
        return super().may_seek(consumer, queue, offset) and offset < consumer.positions.max(queue)


@_mutant("D42", "A seek waits for the answer to the pull under way.")
class WholeLiteSeeksLater(WholeLite):
    def seek_to(self, consumer: Consumer, line: Line, queue: int, offset: int) -> None:
        consumer.table[queue].offset = offset
