"""Mutants of the port's whole lite pull consumers, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import RebalanceOrderly
from rocketmq_conformance.conformance.targets.port.whole_lite import WholeLite
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Result


class NeverCommits(WholeLite):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return ()


class StoresCorrection(WholeLite):
    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code == Response.PULL_OFFSET_MOVED:
            consumer.store.update(queue, int(response.ext["nextBeginOffset"]), False)
        super().answered(consumer, line, queue, owned, response)


class IgnoresCorrection(WholeLite):
    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        if response.code != Response.PULL_OFFSET_MOVED:
            super().answered(consumer, line, queue, owned, response)


class CommitsUpward(WholeLite):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        consumer.store.update(queue, offset, True)


class CommitsWhatBegan(WholeLite):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        super().result(consumer, queue, owned, owned.offset)


class PollsAllButLast(WholeLite):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, max(following - 1, owned.offset))


class PollsTwice(WholeLite):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, following)
        self.given.append(self.given[-1])


class PullsWhatItLost(WholeLite):
    def takes(self, owned: OwnedQueue) -> bool:
        return True


class BeginsAnew(WholeLite):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return consumer.positions.begin(queue, consumer.where, "20240701000000", "UTC")


class LeavesNothing(WholeLite):
    def hand_over(self, consumer: Consumer, queue: int) -> None:
        consumer.store.update(queue, 0, False)
        super().hand_over(consumer, queue)


class Locks(WholeLite, RebalanceOrderly):
    def gain(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        if self.ask_locks(consumer, (queue,)):
            super().gain(consumer, queue, new_pulls)

    def rebalance(self, consumer: Consumer) -> Result:
        return WholeLite.rebalance(self, consumer)


class ObeysResets(WholeLite):
    def handle_reset(self, consumer: Consumer, offsets: dict[MessageQueue, int]) -> None:
        WholePush.handle_reset(self, consumer, offsets)


class IgnoresSeeks(WholeLite):
    def may_seek(self, consumer: Consumer, queue: int, offset: int) -> bool:
        return False


class SeeksAnywhere(WholeLite):
    def may_seek(self, consumer: Consumer, queue: int, offset: int) -> bool:
        return True


class SeeksBelowMax(WholeLite):
    def may_seek(self, consumer: Consumer, queue: int, offset: int) -> bool:
        return super().may_seek(consumer, queue, offset) and offset < consumer.positions.max(queue)


class SeeksLater(WholeLite):
    def seek_to(self, consumer: Consumer, line: Line, queue: int, offset: int) -> None:
        consumer.table[queue].offset = offset


_mutant = partial(Mutant.of, "whole-lite")

MUTANTS = (
    _mutant("whole-lite-never-commits", "D31", "What was polled is never committed.", NeverCommits),
    _mutant("whole-lite-stores-correction", "D33", "A corrected offset is committed at once.", StoresCorrection),
    _mutant("whole-lite-ignores-correction", "D44", "A pull that is sent elsewhere is the last.", IgnoresCorrection),
    _mutant("whole-lite-commits-upward", "D43", "A lower offset is not committed.", CommitsUpward),
    _mutant(
        "whole-lite-commits-beginning",
        "D31",
        "What is committed is where the polled pull began.",
        CommitsWhatBegan,
    ),
    _mutant("whole-lite-polls-but-last", "D38", "The last message of a pull is not polled.", PollsAllButLast),
    _mutant("whole-lite-polls-twice", "D38", "What was polled is polled again.", PollsTwice),
    _mutant("whole-lite-pulls-lost", "D38", "A queue that was lost is polled on.", PullsWhatItLost),
    _mutant("whole-lite-begins-anew", "D05", "A stored offset is not asked for.", BeginsAnew),
    _mutant("whole-lite-leaves-nothing", "D92", "A queue that is lost is committed as unconsumed.", LeavesNothing),
    _mutant("whole-lite-obeys-resets", "D42", "A lite pull consumer is reset like a push consumer.", ObeysResets),
    _mutant("whole-lite-ignores-seeks", "D31", "A seek has no effect.", IgnoresSeeks),
    _mutant("whole-lite-seeks-anywhere", "D43", "A seek takes offsets that the queue does not have.", SeeksAnywhere),
    _mutant("whole-lite-seeks-below-max", "D43", "A seek to the end fails.", SeeksBelowMax),
    _mutant("whole-lite-seeks-later", "D42", "A seek waits for the answer to the pull under way.", SeeksLater),
    _mutant("whole-lite-locks", "D75", "A lite pull consumer locks its queues.", Locks),
)
