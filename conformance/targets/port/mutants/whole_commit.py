"""Mutants of the port's whole lite pull consumers that commit on demand alone, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_commit import WholeCommit
from rocketmq_conformance.conformance.targets.port.whole_lite import WholeLite

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-commit")


@_mutant("D31", "What was polled is committed without being asked.")
class WholeCommitByItself(WholeCommit):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        WholeLite.result(self, consumer, queue, owned, offset)


@_mutant("D198", "A commit waits for a timer.")
class WholeCommitRemembers(WholeCommit):
    def commit_all(self, consumer: Consumer) -> None:
        pass


@_mutant("D199", "A commit is of one queue alone.")
class WholeCommitFirst(WholeCommit):
    def commit_all(self, consumer: Consumer) -> None:
        table, consumer.table = consumer.table, dict(sorted(consumer.table.items())[:1])
        super().commit_all(consumer)
        consumer.table = table


@_mutant("D38", "The last message that was polled is not committed.")
class WholeCommitButLast(WholeCommit):
    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        super().result(consumer, queue, owned, offset - 1)


@_mutant("D31", "A commit is of everything that a queue has.")
class WholeCommitEnd(WholeCommit):
    def commit_all(self, consumer: Consumer) -> None:
        for queue, owned in consumer.table.items():
            self.polled[owned] = consumer.positions.max(queue)
        super().commit_all(consumer)


@_mutant("D31", "A consumer that is shut down commits unasked.")
class WholeCommitAtItsEnd(WholeCommit):
    def end(self, member: int) -> None:
        consumer, line = self.members[member], self._lines[member]
        assert consumer is not None
        assert line is not None
        self._line = line
        self.commit_all(consumer)
        super().end(member)


@_mutant("D92", "A queue that is lost is committed unasked.")
class WholeCommitLoses(WholeCommit):
    def lose(self, consumer: Consumer, queue: int) -> None:
        owned = consumer.table[queue]
        if owned in self.polled:
            consumer.store.update(queue, self.polled[owned], False)
        super().lose(consumer, queue)
