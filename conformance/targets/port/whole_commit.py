"""The port's whole lite pull consumers that commit on demand alone."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_lite import WholeLite
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_commit as operations


class WholeCommit(WholeLite):
    """The members that run."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: The offset behind what was polled of each queue, as long as its member has it.
        self.polled: dict[OwnedQueue, int] = {}

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs."""
        self.polled = {}
        super().begin_case(case)

    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        """Messages were polled, or a seek went there: remember the offset until it is asked for."""
        self.polled[owned] = offset

    def commit(self, member: int) -> Result:
        """A member is asked to commit, if it runs."""
        consumer, line = self.members[member], self._lines[member]
        if consumer is not None and line is not None:
            self._line = line
            self.commit_all(consumer)
        return self.look()

    def commit_all(self, consumer: Consumer) -> None:
        """Commit what was polled of every queue."""
        for queue, owned in consumer.table.items():
            if owned in self.polled:
                consumer.store.update(queue, self.polled[owned], False)
            consumer.store.persist(queue)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Prepare: self.prepare,
            operations.Join: self.join_group,
            operations.Leave: self.leave_group,
            operations.Crash: self.crash,
            operations.Send: self.send,
            operations.Look: self.look,
            operations.Seek: self.seek,
            operations.Commit: self.commit,
        }


PART = WholeCommit
