"""Mutants of the port's local offset store, after real defects of clients."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.offset_file_damage import CLIENT_ID
from rocketmq_conformance.conformance.targets.port.file_store import Offsets, UnreadableError
from rocketmq_conformance.conformance.targets.port.local_store import LocalStore
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET, Entry
from rocketmq_conformance.models.client.fixtures import QUEUES
from rocketmq_conformance.models.outcome import Result

# --- what is written -----------------------------------------------------------------------------------------


class PersistIgnored(LocalStore):
    def persist(self, queue: int) -> Result:
        return None


class PersistsEverything(LocalStore):
    def persist(self, queue: int) -> Result:
        if queue in self.table:
            self.save(tuple(self.table))
        return None


class WritesFresh(LocalStore):
    def merged(self, stored: Offsets, chosen: Offsets) -> Offsets:
        return chosen


class StoredWins(LocalStore):
    def merged(self, stored: Offsets, chosen: Offsets) -> Offsets:
        return {**chosen, **stored}


class NeverStoresLess(LocalStore):
    def merged(self, stored: Offsets, chosen: Offsets) -> Offsets:
        return {**stored, **{queue: max(offset, stored.get(queue, offset)) for queue, offset in chosen.items()}}


class UnseenIsZero(LocalStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        for queue in queues:
            self.table.setdefault(queue, Entry(0))
        return super().persist_all(queues)


class EmptySetIsAll(LocalStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        return super().persist_all(queues or tuple(self.table))


class DropsUnused(LocalStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        super().persist_all(queues)
        if queues:
            self.table = {queue: entry for queue, entry in self.table.items() if queue in queues}
        return None


class WritesOverUnreadable(LocalStore):
    def backed_up(self) -> Offsets:
        try:
            return super().backed_up()
        except UnreadableError:
            return {}


# --- the backup ----------------------------------------------------------------------------------------------


class NoBackup(LocalStore):
    def back_up(self) -> None:
        pass


class BackupOnce(LocalStore):
    def back_up(self) -> None:
        if not self.backup.exists():
            super().back_up()


class BacksUpWhatParses(LocalStore):
    def back_up(self) -> None:
        try:
            self.parsed(self.text_of(self.file) or "")
        except ValueError:
            return
        super().back_up()


class SwappedPath(LocalStore):
    def open(self, directory: Path, group: str, client: str = CLIENT_ID) -> None:
        super().open(directory, group, client)
        swapped = directory / group / self.folder.parent.name
        swapped.mkdir(parents=True, exist_ok=True)
        self.file, self.backup = swapped / self.file.name, swapped / self.backup.name


class BackupNeverRead(LocalStore):
    def backed_up(self) -> Offsets:
        return {}


class MissingIsEmpty(LocalStore):
    def missing(self) -> Offsets:
        return {}


class BrokenIsEmpty(LocalStore):
    def broken(self) -> Offsets:
        return {}


# --- restarts and reading ------------------------------------------------------------------------------------


class KeepsMemory(LocalStore):
    def forget(self) -> None:
        pass


class LoadsNothing(LocalStore):
    def restart(self) -> Result:
        self.forget()
        return None


class StartsAsNew(LocalStore):
    def cannot_load(self) -> Result:
        return None


class UnreadableIsFailure(LocalStore):
    def unreadable(self, queue: int) -> int:
        return -2


class AbsentIsMemory(LocalStore):
    def absent(self, queue: int) -> int:
        entry = self.table.get(queue)
        return entry.offset if entry else NO_OFFSET


class NoRefreshFromFile(LocalStore):
    def refresh(self, queue: int, offset: int) -> None:
        pass


class RefreshRaisesOnly(LocalStore):
    def refresh(self, queue: int, offset: int) -> None:
        self.update(queue, offset, True)


class RefreshThawsLocal(LocalStore):
    def refresh(self, queue: int, offset: int) -> None:
        self.table[queue] = Entry(offset)


class ShortFileOffsets(LocalStore):
    def parsed(self, text: str) -> Offsets:
        offsets = super().parsed(text)
        if any(abs(offset) >= 2**31 for offset in offsets.values()):
            raise ValueError("int overflow")
        return offsets


class FloatFileOffsets(LocalStore):
    def parsed(self, text: str) -> Offsets:
        return {queue: int(float(offset)) for queue, offset in super().parsed(text).items()}


class BrokersForgotten(LocalStore):
    def parsed(self, text: str) -> Offsets:
        by_number = {QUEUES[queue].id: offset for queue, offset in super().parsed(text).items()}
        return {queue: by_number[known.id] for queue, known in enumerate(QUEUES) if known.id in by_number}


# --- memory --------------------------------------------------------------------------------------------------


class LocalFreezeIgnored(LocalStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return None


class LocalFreezeIsUpdate(LocalStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return self.update(queue, offset, False)


class LocalRemoveIgnored(LocalStore):
    def remove(self, queue: int) -> Result:
        return None


class RemoveErases(LocalStore):
    def remove(self, queue: int) -> Result:
        super().remove(queue)
        with suppress(UnreadableError):
            stored = self.stored() if self.text_of(self.file) else {}
            if stored.pop(queue, None) is not None:
                self.write(stored)
        return None


class LocalFlagIgnored(LocalStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return offset


class NullReadsThree(LocalStore):
    def read(self, queue: int, kind: str) -> int:
        return -3 if queue < 0 else super().read(queue, kind)


_mutant = partial(Mutant.of, "local-store")

MUTANTS: tuple[Mutant, ...] = (
    _mutant("local-persist-ignored", "D33", "Persisting one queue leaves the file as it is.", PersistIgnored),
    _mutant("local-remove-ignored", "D33", "Removing keeps the entry of the local store.", LocalRemoveIgnored),
    _mutant("local-persists-everything", "D25", "Persisting one queue writes the others too.", PersistsEverything),
    _mutant("local-writes-fresh", "D34", "The file loses entries that are not persisted now.", WritesFresh),
    _mutant("local-stored-wins", "D34", "Merging keeps the file's old offset.", StoredWins),
    _mutant("local-never-stores-less", "D61", "The offset in the file never becomes smaller.", NeverStoresLess),
    _mutant("local-unseen-is-zero", "D36", "Persisting a set writes 0 for queues without an offset.", UnseenIsZero),
    _mutant("local-empty-set-is-all", "D26", "Persisting an empty set writes every offset to the file.", EmptySetIsAll),
    _mutant("local-drops-unused", "D26", "Persisting a set drops the memory of all other queues.", DropsUnused),
    _mutant("local-writes-over-unreadable", "D35", "A broken backup counts as an empty one.", WritesOverUnreadable),
    _mutant("local-no-backup", "D35", "No backup is written.", NoBackup),
    _mutant("local-backup-once", "D35", "The backup is written when there is none, and never again.", BackupOnce),
    _mutant("local-backs-up-what-parses", "D35", "A broken file is not copied to the backup.", BacksUpWhatParses),
    _mutant("local-path-swapped", "D35", "Group and client id are swapped in the path.", SwappedPath),
    _mutant("local-backup-never-read", "D35", "The backup is written and never read.", BackupNeverRead),
    _mutant(
        "local-missing-is-empty", "D35", "A missing file means no offsets, although there is a backup.", MissingIsEmpty
    ),
    _mutant(
        "local-broken-is-empty", "D35", "A broken file means no offsets, although there is a backup.", BrokenIsEmpty
    ),
    _mutant("local-keeps-memory", "D30", "A restarted store still knows what it never persisted.", KeepsMemory),
    _mutant("local-loads-nothing", "D35", "A restarted store does not load its file.", LoadsNothing),
    _mutant("local-starts-as-new", "D35", "A store that cannot load its file starts without offsets.", StartsAsNew),
    _mutant("local-unreadable-is-failure", "D14", "An unreadable file reads as a failed query.", UnreadableIsFailure),
    _mutant("local-absent-is-memory", "D70", "A queue that the file lacks is read from memory.", AbsentIsMemory),
    _mutant("local-no-refresh", "D39", "An offset read from the file is not remembered.", NoRefreshFromFile),
    _mutant("local-refresh-raises-only", "D63", "The file's offset never makes memory smaller.", RefreshRaisesOnly),
    _mutant("local-refresh-thaws", "D41", "The file's offset replaces a frozen one.", RefreshThawsLocal),
    _mutant("local-short-offsets", "D52", "A file with an offset beyond 32 bits counts as broken.", ShortFileOffsets),
    _mutant("local-float-offsets", "D52", "Offsets in the file are read as floating-point numbers.", FloatFileOffsets),
    _mutant(
        "local-topics-mixed", "D67", "Entries of the file are distinguished by queue number only.", BrokersForgotten
    ),
    _mutant("local-freeze-ignored", "D41", "Freezing an entry of the local store does nothing.", LocalFreezeIgnored),
    _mutant(
        "local-freeze-is-update", "D41", "Freezing sets the entry and lets updates change it.", LocalFreezeIsUpdate
    ),
    _mutant("local-remove-erases", "D34", "Removing erases the entry from the file too.", RemoveErases),
    _mutant(
        "local-increase-only-ignored", "D61", "Increase-only updates of the local store replace.", LocalFlagIgnored
    ),
    _mutant("local-null-is-missing", "D27", "No queue reads -3, as in the remote store.", NullReadsThree),
)
