"""Mutants of where the port's broadcasting consumers start, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.offset_file_damage import CLIENT_ID
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.start_broadcast import StartBroadcast
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "start-broadcast")


@_mutant("D75", "A broadcasting consumer keeps its offsets at the broker.")
class FileStartAtBroker(StartBroadcast):
    def begin_push(self) -> Result:
        super().begin_push()
        self.forget()
        return None


@_mutant("D75", "What the file lacks is asked from the broker.")
class FileStartAsksBroker(StartBroadcast):
    def push_stored(self, queue: int) -> int:
        stored = super().push_stored(queue)
        return self.remote.read(queue, "store") if stored == NO_OFFSET else stored


@_mutant("D30", "A broadcasting consumer begins without loading its file.")
class FileStartNeverLoads(StartBroadcast):
    def begin_push(self) -> Result:
        super().begin_push()
        self.local.forget()
        return None


@_mutant("D30", "A broadcasting push consumer starts as a new one.")
class FileStartIgnoresFile(StartBroadcast):
    def push_stored(self, queue: int) -> int:
        return NO_OFFSET


@_mutant("D74", "A broadcasting push consumer reads memory first.")
class FileStartFromMemory(StartBroadcast):
    def push_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory-then-store")


@_mutant("D06", "A broadcasting lite pull consumer reads its file first.")
class FileStartLiteFromFile(StartBroadcast):
    def lite_stored(self, queue: int) -> int:
        return self.store.read(queue, "store")


@_mutant("D29", "A broadcasting lite pull consumer reads memory alone.")
class FileStartLiteMemory(StartBroadcast):
    def lite_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory")


@_mutant("D35", "Lite pull consumers have a file of their own.")
class FileStartLiteApart(StartBroadcast):
    def begin_lite_pull(self) -> Result:
        super().begin_lite_pull()
        self.local.open(self.case.directory, self.case.group, CLIENT_ID + "-lite")
        self.broadcast(self.local)
        return None


@_mutant("D36", "A queue that the file lacks starts at 0.")
class FileStartLackingIsZero(StartBroadcast):
    def absent(self, stored: int) -> int:
        return 0 if stored == NO_OFFSET else stored

    def push_stored(self, queue: int) -> int:
        return self.absent(super().push_stored(queue))

    def lite_stored(self, queue: int) -> int:
        return self.absent(super().lite_stored(queue))
