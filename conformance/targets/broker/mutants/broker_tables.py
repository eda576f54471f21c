"""Broker mutants with faults in the files of topics, offsets and groups, and in the timer that writes offsets."""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.conformance.fakes.lifecycle import Lifecycle
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker import table_files
from rocketmq_conformance.models.broker.broker_tables import FIRST, LATE
from rocketmq_conformance.models.broker.table_files import (
    EMPTY,
    GONE,
    NO_TABLES,
    TABLES,
    ZEROS,
    Copy,
    Disk,
    Loaded,
    TableFile,
)

MUTANTS: list[BrokerMutant] = []
_tables = declared(MUTANTS, "lifetime", "broker-tables")


# --- starts -------------------------------------------------------------------------------------------------------


class _Reads(Lifecycle):
    """Takes its files for other ones when it starts."""

    def seen(self, file: TableFile) -> TableFile:
        """The copies of one table as they are read."""
        raise AssertionError("every kind reads")

    def read(self) -> Loaded:
        real = self._disk
        loaded = table_files.load(self._storage.rules, Disk(*(self.seen(file) for file in real)))
        return loaded._replace(disk=real) if loaded.started else loaded


@_tables("D35", "A start does not look at backups.")
class TablesNoBackup(_Reads):
    """A file that cannot be read is an empty table."""

    def seen(self, file: TableFile) -> TableFile:
        return file._replace(backup=Copy(None, GONE))


@_tables("D35", "A start reads the backup before the file.")
class TablesBackupFirst(_Reads):
    """The backup is read first."""

    def seen(self, file: TableFile) -> TableFile:
        return file if file.backup.table is None else file._replace(main=file.backup)


@_tables("D160", "A broker does not start on an empty backup.")
class TablesEmptyRefused(_Reads):
    """An empty file is no table: without a backup the broker does not start."""

    def seen(self, file: TableFile) -> TableFile:
        return file._replace(backup=Copy(None, ZEROS)) if file.backup.state == EMPTY else file


@_tables("D160", "A broker starts on files that it cannot read.")
class TablesNeverRefused(_Reads):
    """Files that cannot be read are forgotten."""

    def seen(self, file: TableFile) -> TableFile:
        return file if file.backup.table is not None or file.backup.absent else file._replace(backup=Copy(None, GONE))


@_tables("D161", "All tables are read from backups when one is.")
class TablesOneForAll(Lifecycle):
    """Where one table is taken from the backup, all are."""

    def read(self) -> Loaded:
        if all(file.main.table is not None for file in self._disk):
            return super().read()
        both = (file._replace(main=file.backup) if file.backup.table is not None else file for file in self._disk)
        return table_files.load(self._storage.rules, Disk(*both))._replace(disk=self._disk)


@_tables("D160", "When one table is empty, all are.")
class TablesForgetsAll(Lifecycle):
    """A broker that finds one table empty forgets the others."""

    def read(self) -> Loaded:
        loaded = super().read()
        lost = loaded.started and any(not loaded.tables[table] for table in TABLES)
        return loaded._replace(tables=NO_TABLES) if lost else loaded


@_tables("D160", "A broker that does not start writes nothing.")
class TablesRefusedKeeps(Lifecycle):
    """A broker that does not start leaves its files alone."""

    def read(self) -> Loaded:
        loaded = super().read()
        return loaded if loaded.started else loaded._replace(disk=self._disk)


# --- writes -------------------------------------------------------------------------------------------------------


@_tables("D35", "The backup is a copy of the file.")
class TablesBackupNew(Lifecycle):
    """The backup gets what is written to the file."""

    def write(self, table: str, content: object) -> None:
        self._disk = table_files.settled(self._disk, table, content)


@_tables("D35", "The backup is written once.")
class TablesBackupStays(Lifecycle):
    """The backup is never written again."""

    def write(self, table: str, content: object) -> None:
        kept: TableFile = getattr(self._disk, table)
        self._disk = self._disk._replace(**{table: kept._replace(main=Copy(content))})


@_tables("D161", "A file that cannot be read becomes the backup.")
class TablesKeepsBroken(Lifecycle):
    """A file that cannot be read is not deleted by the start, and replaces the good backup."""

    def read(self) -> Loaded:
        return table_files.load(replace(self._storage.rules, deletes_unusable=False), self._disk)


@_tables("D33", "A stop writes no topics and no groups.")
class TablesStopOffsets(Lifecycle):
    """A stop writes offsets only."""

    def stopped(self, frozen: bool) -> None:
        self._catch_up()
        self.save()


# --- the timer ----------------------------------------------------------------------------------------------------


@_tables("D151", "Offsets are first written 30 s after the start.")
class TablesTimerLate(Lifecycle):
    """The first write is 30 s after the start."""

    def watched(self) -> str:
        kind = super().watched()
        return "30.0 s after the start" if kind == FIRST else kind


@_tables("D151", "Offsets are on disk before the timer writes.")
class TablesTimerEarly(Lifecycle):
    """The timer writes all the time: a kill loses nothing."""

    def killed(self) -> None:
        self.save()
        super().killed()


@_tables("D151", "The timer that writes offsets does so once.")
class TablesTimerOnce(Lifecycle):
    """The timer writes only once."""

    def killed(self) -> None:
        timed, self._timed = self._timed, False
        super().killed()
        if timed:
            self.end = LATE
