"""Plays the suite ``start-broadcast`` on the port: the offset at which a broadcasting consumer starts a queue."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.local_store import LocalStore
from rocketmq_conformance.conformance.targets.port.start_by_where import StartByWhere
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import start_broadcast as operations


class StartBroadcast(StartByWhere):
    """The start decisions of a broadcasting consumer, push or lite pull."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.local = LocalStore()
        self.lite = False

    def begin_case(self, case: Case) -> None:
        """Begin a case: a push consumer."""
        self.transport.begin(case)
        self.case = case
        self.begin_push()

    def begin_push(self) -> Result:
        """A push consumer begins."""
        self.lite = False
        self.local.open(self.case.directory, self.case.group)
        self.broadcast(self.local)
        return None

    def begin_lite_pull(self) -> Result:
        """A lite pull consumer begins."""
        self.begin_push()
        self.lite = True
        return None

    def decide(self, queue: int, where: str, text: str | None, zone: str) -> int:
        """The decision of the consumer."""
        return (self.lite_pull if self.lite else self.push)(queue, where, text, zone)

    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        """Update the offset in memory."""
        return self.store.update(queue, offset, increase_only)

    def remove(self, queue: int) -> Result:
        """Forget the offset in memory."""
        return self.store.remove(queue)

    def read(self, queue: int, kind: str) -> Result:
        """Read an offset."""
        return self.store.read(queue, kind)

    def persist_all(self, queues: tuple[int, ...]) -> Result:
        """Write offsets to the file."""
        return self.store.persist_all(queues)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.BeginPush: self.begin_push,
            operations.BeginLitePull: self.begin_lite_pull,
            operations.Start: self.start,
            operations.StartChecked: self.start_checked,
            operations.StartAtTime: self.start_at_time,
            operations.Update: self.update,
            operations.Remove: self.remove,
            operations.Read: self.read,
            operations.PersistAll: self.persist_all,
            operations.Damage: self.local.damage,
        }


PART = StartBroadcast
