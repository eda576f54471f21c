"""Mutants of the port's local offset store, after real defects of clients."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.offset_file_damage import CLIENT_ID
from rocketmq_conformance.conformance.targets.port.file_store import Offsets, UnreadableError
from rocketmq_conformance.conformance.targets.port.local_store import LocalStore
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET, Entry
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "local-store")


# --- what is written -----------------------------------------------------------------------------------------


@_mutant("D33", "Persisting one queue leaves the file as it is.")
class LocalPersistIgnored(LocalStore):
    def persist(self, queue: int) -> Result:
        return None


@_mutant("D25", "Persisting one queue writes the others too.")
class LocalPersistsEverything(LocalStore):
    def persist(self, queue: int) -> Result:
        if queue in self.table:
            self.save(tuple(self.table))
        return None


@_mutant("D34", "The file loses entries that are not persisted now.")
class LocalWritesFresh(LocalStore):
    def merged(self, stored: Offsets, chosen: Offsets) -> Offsets:
        return chosen


@_mutant("D34", "Merging keeps the file's old offset.")
class LocalStoredWins(LocalStore):
    def merged(self, stored: Offsets, chosen: Offsets) -> Offsets:
        return {**chosen, **stored}


@_mutant("D61", "The offset in the file never becomes smaller.")
class LocalNeverStoresLess(LocalStore):
    def merged(self, stored: Offsets, chosen: Offsets) -> Offsets:
        return {**stored, **{queue: max(offset, stored.get(queue, offset)) for queue, offset in chosen.items()}}


@_mutant("D36", "Persisting a set writes 0 for queues without an offset.")
class LocalUnseenIsZero(LocalStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        for queue in queues:
            self.table.setdefault(queue, Entry(0))
        return super().persist_all(queues)


@_mutant("D26", "Persisting an empty set writes every offset to the file.")
class LocalEmptySetIsAll(LocalStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        return super().persist_all(queues or tuple(self.table))


@_mutant("D26", "Persisting a set drops the memory of all other queues.")
class LocalDropsUnused(LocalStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        super().persist_all(queues)
        if queues:
            self.table = {queue: entry for queue, entry in self.table.items() if queue in queues}
        return None


@_mutant("D35", "A broken backup counts as an empty one.")
class LocalWritesOverUnreadable(LocalStore):
    def backed_up(self) -> Offsets:
        try:
            return super().backed_up()
        except UnreadableError:
            return {}


# --- the backup ----------------------------------------------------------------------------------------------


@_mutant("D35", "No backup is written.")
class LocalNoBackup(LocalStore):
    def back_up(self) -> None:
        pass


@_mutant("D35", "The backup is written when there is none, and never again.")
class LocalBackupOnce(LocalStore):
    def back_up(self) -> None:
        if not self.backup.exists():
            super().back_up()


@_mutant("D35", "A broken file is not copied to the backup.")
class LocalBacksUpWhatParses(LocalStore):
    def back_up(self) -> None:
        try:
            self.parsed(self.text_of(self.file) or "")
        except ValueError:
            return
        super().back_up()


@_mutant("D35", "Group and client id are swapped in the path.")
class LocalPathSwapped(LocalStore):
    def open(self, directory: Path, group: str, client: str = CLIENT_ID) -> None:
        super().open(directory, group, client)
        swapped = directory / group / self.folder.parent.name
        swapped.mkdir(parents=True, exist_ok=True)
        self.file, self.backup = swapped / self.file.name, swapped / self.backup.name


@_mutant("D35", "The backup is written and never read.")
class LocalBackupNeverRead(LocalStore):
    def backed_up(self) -> Offsets:
        return {}


@_mutant("D35", "A missing file means no offsets, although there is a backup.")
class LocalMissingIsEmpty(LocalStore):
    def missing(self) -> Offsets:
        return {}


@_mutant("D35", "A broken file means no offsets, although there is a backup.")
class LocalBrokenIsEmpty(LocalStore):
    def broken(self) -> Offsets:
        return {}


# --- restarts and reading ------------------------------------------------------------------------------------


@_mutant("D30", "A restarted store still knows what it never persisted.")
class LocalKeepsMemory(LocalStore):
    def forget(self) -> None:
        pass


@_mutant("D35", "A restarted store does not load its file.")
class LocalLoadsNothing(LocalStore):
    def restart(self) -> Result:
        self.forget()
        return None


@_mutant("D35", "A store that cannot load its file starts without offsets.")
class LocalStartsAsNew(LocalStore):
    def cannot_load(self) -> Result:
        return None


@_mutant("D14", "An unreadable file reads as a failed query.")
class LocalUnreadableIsFailure(LocalStore):
    def unreadable(self, queue: int) -> int:
        return -2


@_mutant("D70", "A queue that the file lacks is read from memory.")
class LocalAbsentIsMemory(LocalStore):
    def absent(self, queue: int) -> int:
        entry = self.table.get(queue)
        return entry.offset if entry else NO_OFFSET


@_mutant("D39", "An offset read from the file is not remembered.")
class LocalNoRefresh(LocalStore):
    def refresh(self, queue: int, offset: int) -> None:
        pass


@_mutant("D63", "The file's offset never makes memory smaller.")
class LocalRefreshRaisesOnly(LocalStore):
    def refresh(self, queue: int, offset: int) -> None:
        self.update(queue, offset, True)


@_mutant("D41", "The file's offset replaces a frozen one.")
class LocalRefreshThaws(LocalStore):
    def refresh(self, queue: int, offset: int) -> None:
        self.table[queue] = Entry(offset)


@_mutant("D52", "A file with an offset beyond 32 bits counts as broken.")
class LocalShortOffsets(LocalStore):
    def parsed(self, text: str) -> Offsets:
        offsets = super().parsed(text)
        if any(abs(offset) >= 2**31 for offset in offsets.values()):
            raise ValueError("int overflow")
        return offsets


@_mutant("D52", "Offsets in the file are read as floating-point numbers.")
class LocalFloatOffsets(LocalStore):
    def parsed(self, text: str) -> Offsets:
        return {queue: int(float(offset)) for queue, offset in super().parsed(text).items()}


@_mutant("D67", "Entries of the file are distinguished by queue number only.")
class LocalTopicsMixed(LocalStore):
    def parsed(self, text: str) -> Offsets:
        by_number = {ORDINARY.queues[queue].id: offset for queue, offset in super().parsed(text).items()}
        return {queue: by_number[known.id] for queue, known in enumerate(ORDINARY.queues) if known.id in by_number}


# --- memory --------------------------------------------------------------------------------------------------


@_mutant("D41", "Freezing an entry of the local store does nothing.")
class LocalFreezeIgnored(LocalStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return None


@_mutant("D41", "Freezing sets the entry and lets updates change it.")
class LocalFreezeIsUpdate(LocalStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return self.update(queue, offset, False)


@_mutant("D33", "Removing keeps the entry of the local store.")
class LocalRemoveIgnored(LocalStore):
    def remove(self, queue: int) -> Result:
        return None


@_mutant("D34", "Removing erases the entry from the file too.")
class LocalRemoveErases(LocalStore):
    def remove(self, queue: int) -> Result:
        super().remove(queue)
        with suppress(UnreadableError):
            stored = self.stored() if self.text_of(self.file) else {}
            if stored.pop(queue, None) is not None:
                self.write(stored)
        return None


@_mutant("D61", "Increase-only updates of the local store replace.")
class LocalIncreaseOnlyIgnored(LocalStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return offset


@_mutant("D27", "No queue reads -3, as in the remote store.")
class LocalNullIsMissing(LocalStore):
    def read(self, queue: int, kind: str) -> int:
        return -3 if queue < 0 else super().read(queue, kind)
