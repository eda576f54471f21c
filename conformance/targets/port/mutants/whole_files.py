"""Mutants of the port's whole broadcasting consumer with a real offset file, after real defects of clients."""

from __future__ import annotations

from contextlib import suppress

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.file_store import Offsets, UnreadableError
from rocketmq_conformance.conformance.targets.port.local_store import LocalStore
from rocketmq_conformance.conformance.targets.port.mutants import local_store as stores
from rocketmq_conformance.conformance.targets.port.whole_files import WholeFiles

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-files")


@_mutant("D35", "A member writes no backup.")
class WholeFilesNoBackup(WholeFiles):
    store = stores.LocalNoBackup


@_mutant("D35", "A member writes the backup when there is none, and never again.")
class WholeFilesBackupOnce(WholeFiles):
    store = stores.LocalBackupOnce


@_mutant("D35", "A member writes the backup and never reads it.")
class WholeFilesBackupNeverRead(WholeFiles):
    store = stores.LocalBackupNeverRead


@_mutant("D35", "A file that is gone or empty means no offsets, although there is a backup.")
class WholeFilesMissingIsEmpty(WholeFiles):
    store = stores.LocalMissingIsEmpty


@_mutant("D35", "A file that is cut means no offsets, although there is a backup.")
class WholeFilesBrokenIsEmpty(WholeFiles):
    store = stores.LocalBrokenIsEmpty


@_mutant("D35", "A backup that is cut counts as an empty one.")
class WholeFilesStartsAsNew(WholeFiles):
    store = stores.LocalWritesOverUnreadable


class EmptyIsBroken(LocalStore):
    def missing(self) -> Offsets:
        if self.file.exists():
            raise UnreadableError
        return super().missing()


@_mutant("D35", "A file that is empty keeps a member from starting.")
class WholeFilesEmptyIsBroken(WholeFiles):
    store = EmptyIsBroken


class BackupFirst(LocalStore):
    def stored(self) -> Offsets:
        return self.backed_up() or super().stored()


@_mutant("D35", "The backup is read first.")
class WholeFilesBackupFirst(WholeFiles):
    store = BackupFirst


class TakesTheLater(LocalStore):
    def stored(self) -> Offsets:
        found = super().stored()
        with suppress(UnreadableError):
            return {**found, **{queue: max(at, found.get(queue, at)) for queue, at in self.backed_up().items()}}
        return found


@_mutant("D61", "Of the offsets in the file and in its backup the later one counts.")
class WholeFilesTakesTheLater(WholeFiles):
    store = TakesTheLater


class KnowsItsOwn(stores.LocalBrokenIsEmpty):
    def parsed(self, text: str) -> Offsets:
        if "written" in text:
            raise ValueError("an entry that it does not know")
        return super().parsed(text)


@_mutant("D35", "A file with an entry that is not known cannot be read, and counts as none.")
class WholeFilesKnowsItsOwn(WholeFiles):
    store = KnowsItsOwn


class CutIsZero(LocalStore):
    def broken(self) -> Offsets:
        return dict.fromkeys(range(len(self.topology.queues)), 0)


@_mutant("D36", "A file that is cut means 0 for each queue.")
class WholeFilesCutIsZero(WholeFiles):
    store = CutIsZero
