"""Mutants of the port's whole lite pull consumer that assigns queues, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_assign import WholeAssign
from rocketmq_conformance.conformance.targets.port.whole_lite import WholeLite
from rocketmq_conformance.conformance.targets.port.whole_push import Line
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-assign")


@_mutant("D38", "What is assigned is added to what was assigned before.")
class WholeAssignAdds(WholeAssign):
    def forgotten(self, queues: set[int]) -> set[int]:
        return set()

    def now_assigned(self, queues: set[int]) -> set[int]:
        return self.assigned | queues


@_mutant("D237", "The first assignment is the last one.")
class WholeAssignOnce(WholeAssign):
    def assign(self, member: int, queues: tuple[int, ...]) -> Result:
        return self.look()


@_mutant("D05", "A queue that is assigned again begins as if nothing was stored.")
class WholeAssignBeginsAnew(WholeAssign):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return consumer.positions.begin(queue, consumer.where, "20240701000000", "UTC")


@_mutant("D75", "A consumer takes its share of the queues, whatever is assigned.")
class WholeAssignShares(WholeAssign):
    def rebalance(self, consumer: Consumer) -> Result:
        return WholeLite.rebalance(self, consumer)


@_mutant("D92", "A queue that is not assigned any more is committed as unconsumed.")
class WholeAssignLeavesNothing(WholeAssign):
    def forget_queue(self, consumer: Consumer, queue: int) -> None:
        consumer.store.update(queue, 0, False)
        consumer.store.persist(queue)
        super().forget_queue(consumer, queue)


@_mutant("D237", "A queue is pulled on when it is paused.")
class WholeAssignIgnoresPauses(WholeAssign):
    def paused_by(self, queues: set[int]) -> set[int]:
        return set()


@_mutant("D237", "A pause is one of all queues.")
class WholeAssignPausesAll(WholeAssign):
    def paused_by(self, queues: set[int]) -> set[int]:
        return self.assigned


@_mutant("D237", "A queue that is resumed is not pulled.")
class WholeAssignNeverResumes(WholeAssign):
    def go_on(self, consumer: Consumer, line: Line, queue: int) -> None:
        pass


@_mutant("D237", "What arrived in a pause is skipped.")
class WholeAssignSkipsPause(WholeAssign):
    def go_on(self, consumer: Consumer, line: Line, queue: int) -> None:
        self.sought.setdefault(queue, consumer.positions.max(queue))
        super().go_on(consumer, line, queue)


@_mutant("D237", "A queue that is assigned again is still paused.")
class WholeAssignKeepsPause(WholeAssign):
    def forget_queue(self, consumer: Consumer, queue: int) -> None:
        paused = queue in self.paused
        super().forget_queue(consumer, queue)
        if paused:
            self.paused.add(queue)


@_mutant("D237", "An assignment that forgets a queue leaves the seek that waits.")
class WholeAssignKeepsSeek(WholeAssign):
    def forget_seek(self, queue: int) -> None:
        pass

    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: list[tuple[int, int]]) -> None:
        super().begin(consumer, queue, self.sought.pop(queue, offset), new_pulls)


@_mutant("D237", "A seek in a paused queue is taken at once.")
class WholeAssignSeeksPaused(WholeAssign):
    def seek_to(self, consumer: Consumer, line: Line, queue: int, offset: int) -> None:
        self.end_pause(queue)
        super().seek_to(consumer, line, queue, offset)


@_mutant("D237", "A seek in a paused queue is lost.")
class WholeAssignLosesSeek(WholeAssign):
    def go_on(self, consumer: Consumer, line: Line, queue: int) -> None:
        self.forget_seek(queue)
        super().go_on(consumer, line, queue)


@_mutant("D236", "A seek in a paused queue is committed at once.")
class WholeAssignCommitsSeek(WholeAssign):
    def seek_to(self, consumer: Consumer, line: Line, queue: int, offset: int) -> None:
        self.result(consumer, queue, consumer.table[queue], offset)
        super().seek_to(consumer, line, queue, offset)


@_mutant("D237", "The first seek in a pause counts.")
class WholeAssignKeepsFirstSeek(WholeAssign):
    def seek_to(self, consumer: Consumer, line: Line, queue: int, offset: int) -> None:
        super().seek_to(consumer, line, queue, self.sought.get(queue, offset))


@_mutant("D237", "A seek to the end gives the last message again.")
class WholeAssignSeeksLast(WholeAssign):
    def end_of(self, consumer: Consumer, queue: int) -> int:
        return super().end_of(consumer, queue) - 1


@_mutant("D237", "A seek to the begin goes to 0, whatever has expired.")
class WholeAssignSeeksZero(WholeAssign):
    def begin_of(self, consumer: Consumer, queue: int) -> int:
        return 0


@_mutant("D237", "A seek below min or beyond max is obeyed.")
class WholeAssignSeeksAnywhere(WholeAssign):
    def may_seek(self, consumer: Consumer, queue: int, offset: int) -> bool:
        return True


@_mutant("D31", "What an assigned queue gave is never committed.")
class WholeAssignNeverCommits(WholeAssign):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        pass
