"""Mutants of where the port's broadcasting consumers start, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.offset_file_damage import CLIENT_ID
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.start_broadcast import StartBroadcast
from rocketmq_conformance.models.outcome import Result


class StartsAtBroker(StartBroadcast):
    def begin_push(self) -> Result:
        super().begin_push()
        self.forget()
        return None


class FileThenBroker(StartBroadcast):
    def push_stored(self, queue: int) -> int:
        stored = super().push_stored(queue)
        return self.remote.read(queue, "store") if stored == NO_OFFSET else stored


class NeverLoads(StartBroadcast):
    def begin_push(self) -> Result:
        super().begin_push()
        self.local.forget()
        return None


class StartIgnoresFile(StartBroadcast):
    def push_stored(self, queue: int) -> int:
        return NO_OFFSET


class MemoryBeforeFile(StartBroadcast):
    def push_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory-then-store")


class LiteFileFirst(StartBroadcast):
    def lite_stored(self, queue: int) -> int:
        return self.store.read(queue, "store")


class LiteMemoryAlone(StartBroadcast):
    def lite_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory")


class FileByGroupAlone(StartBroadcast):
    def begin_lite_pull(self) -> Result:
        super().begin_lite_pull()
        self.local.open(self.case.directory, self.case.group, CLIENT_ID + "-lite")
        self.broadcast(self.local)
        return None


class LackingIsZero(StartBroadcast):
    def absent(self, stored: int) -> int:
        return 0 if stored == NO_OFFSET else stored

    def push_stored(self, queue: int) -> int:
        return self.absent(super().push_stored(queue))

    def lite_stored(self, queue: int) -> int:
        return self.absent(super().lite_stored(queue))


_mutant = partial(Mutant.of, "start-broadcast")

MUTANTS = (
    _mutant("file-start-at-broker", "D75", "A broadcasting consumer keeps its offsets at the broker.", StartsAtBroker),
    _mutant("file-start-asks-broker", "D75", "What the file lacks is asked from the broker.", FileThenBroker),
    _mutant("file-start-never-loads", "D30", "A broadcasting consumer begins without loading its file.", NeverLoads),
    _mutant("file-start-ignores-file", "D30", "A broadcasting push consumer starts as a new one.", StartIgnoresFile),
    _mutant("file-start-from-memory", "D74", "A broadcasting push consumer reads memory first.", MemoryBeforeFile),
    _mutant(
        "file-start-lite-from-file", "D06", "A broadcasting lite pull consumer reads its file first.", LiteFileFirst
    ),
    _mutant("file-start-lite-memory", "D29", "A broadcasting lite pull consumer reads memory alone.", LiteMemoryAlone),
    _mutant("file-start-lite-apart", "D35", "Lite pull consumers have a file of their own.", FileByGroupAlone),
    _mutant("file-start-lacking-is-zero", "D36", "A queue that the file lacks starts at 0.", LackingIsZero),
)
