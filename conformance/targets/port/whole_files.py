"""The port's whole broadcasting consumer with a real offset file, which is damaged while it does not run."""

from __future__ import annotations

from pathlib import Path

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.offset_file_damage import become, offset_files
from rocketmq_conformance.conformance.targets.port.local_store import LocalStore
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_broadcast import WholeBroadcast
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_files as operations
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY


class WholeFiles(WholeBroadcast):
    """The consumer, if it runs."""

    #: What reads and writes its files.
    store: type[LocalStore] = LocalStore

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.folder = Path()

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs, and there is no file."""
        self.folder = case.directory
        super().begin_case(case)

    def file_store(self, client: str) -> LocalStore:
        """The offset store of a client id."""
        store = self.store()
        store.open(self.folder, GROUP, client)
        return store

    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        """The store of a new consumer, with what its file holds."""
        positions.broadcast(self.file_store(client))

    def start(self, member: int) -> None:
        """Start a member, unless its files cannot be read."""
        if self.file_store(ORDINARY.members[member]).restart() is None:
            super().start(member)

    def come_back_to(self, member: int, found: str) -> Result:
        """If a member runs, it is given messages and ends; others arrive, its files are damaged, and it is started."""
        if self.members[member] is not None:
            store = self.file_store(ORDINARY.members[member])
            # those of its store alone: the folder of the case may have others
            older = {file: file.read_bytes() for file in offset_files(store.folder)}
            self.send_all()
            self.look()
            self.end(member)
            self.send_all()
            become(older, found)
            self.start(member)
        return self.look()

    def send_all(self) -> None:
        """A message arrives in every queue."""
        for queue in range(self.world.queues):
            self.world.send(queue)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = super().calls()
        return {
            operations.Prepare: methods[group.Prepare],
            operations.Join: methods[group.Join],
            operations.Leave: methods[group.Leave],
            operations.Send: methods[group.Send],
            operations.Look: methods[group.Look],
            operations.ComeBack: self.come_back_to,
        }


PART = WholeFiles
