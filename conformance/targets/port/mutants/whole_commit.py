"""Mutants of the port's whole lite pull consumers that commit on demand alone, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_commit import WholeCommit
from rocketmq_conformance.conformance.targets.port.whole_lite import WholeLite


class CommitsByItself(WholeCommit):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        WholeLite.result(self, consumer, queue, owned, offset)


class OnlyRemembers(WholeCommit):
    def commit_all(self, consumer: Consumer) -> None:
        pass


class CommitsTheFirst(WholeCommit):
    def commit_all(self, consumer: Consumer) -> None:
        table, consumer.table = consumer.table, dict(sorted(consumer.table.items())[:1])
        super().commit_all(consumer)
        consumer.table = table


class CommitsAllButLast(WholeCommit):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        super().result(consumer, queue, owned, offset - 1)


class CommitsTheEnd(WholeCommit):
    def commit_all(self, consumer: Consumer) -> None:
        for queue, owned in consumer.table.items():
            self.polled[owned] = consumer.positions.max(queue)
        super().commit_all(consumer)


class CommitsAtItsEnd(WholeCommit):
    def end(self, member: int) -> None:
        consumer, line = self.members[member], self._lines[member]
        assert consumer is not None
        assert line is not None
        self._line = line
        self.commit_all(consumer)
        super().end(member)


class CommitsWhatItLoses(WholeCommit):
    def lose(self, consumer: Consumer, queue: int) -> None:
        owned = consumer.table[queue]
        if owned in self.polled:
            consumer.store.update(queue, self.polled[owned], False)
        super().lose(consumer, queue)


_mutant = partial(Mutant.of, "whole-commit")

MUTANTS = (
    _mutant("whole-commit-by-itself", "D31", "What was polled is committed without being asked.", CommitsByItself),
    _mutant("whole-commit-remembers", "D198", "A commit waits for a timer.", OnlyRemembers),
    _mutant("whole-commit-first", "D199", "A commit is of one queue alone.", CommitsTheFirst),
    _mutant("whole-commit-but-last", "D38", "The last message that was polled is not committed.", CommitsAllButLast),
    _mutant("whole-commit-end", "D31", "A commit is of everything that a queue has.", CommitsTheEnd),
    _mutant("whole-commit-at-its-end", "D31", "A consumer that is shut down commits unasked.", CommitsAtItsEnd),
    _mutant("whole-commit-loses", "D92", "A queue that is lost is committed unasked.", CommitsWhatItLoses),
)
