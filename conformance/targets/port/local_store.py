"""The port's local offset store: a table of offsets in memory, persisted to a file with a backup."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets import offset_file_damage
from rocketmq_conformance.conformance.targets.port.offset_file import parse, render
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET, Entry, OffsetTable
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.client.fixtures import QUEUES
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites import local_store as operations

Offsets = dict[int, int]


class UnreadableError(Exception):
    """Neither the file nor its backup can be parsed."""


class LocalStore(OffsetTable):
    """Offsets of one consumer, and its files."""

    def __init__(self, transport: Transport | None = None) -> None:
        super().__init__()

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.open(case.directory, case.group)

    def open(self, directory: Path, group: str) -> None:
        """Become a new store with its files in ``directory``; nothing is read before ``restart``."""
        self.open_folder(offset_file_damage.store_folder(directory, group))

    def open_folder(self, folder: Path) -> None:
        """Become a new store with its files in ``folder``; nothing is read before ``restart``."""
        self.table = {}
        self.folder = folder
        self.file = self.folder / offset_file_damage.FILE_NAME
        self.backup = self.folder / offset_file_damage.BACKUP_NAME

    # --- reading ------------------------------------------------------------------------------------------

    def read(self, queue: int, kind: str) -> int:
        """The offset of a queue from memory, from the file, or from memory first."""
        if queue < 0:
            return NO_OFFSET
        if kind != "store":
            entry = self.table.get(queue)
            if entry is not None:
                return entry.offset
            if kind == "memory":
                return NO_OFFSET
        return self.read_from_file(queue)

    def read_from_file(self, queue: int) -> int:
        """Read the offset from the file, and keep it in memory."""
        try:
            offset = self.stored().get(queue)
        except UnreadableError:
            return self.unreadable(queue)
        if offset is None:
            return self.absent(queue)
        self.refresh(queue, offset)
        return offset

    def unreadable(self, queue: int) -> int:
        """The offset read from an unreadable file."""
        return NO_OFFSET

    def absent(self, queue: int) -> int:
        """The offset read for a queue that is not in the file."""
        return NO_OFFSET

    def restart(self) -> Result:
        """Forget everything, as a new process does, and load the file."""
        self.forget()
        try:
            stored = self.stored()
        except UnreadableError:
            return self.cannot_load()
        self.table.update((queue, Entry(offset)) for queue, offset in stored.items())
        return None

    def cannot_load(self) -> Result:
        """The file cannot be read: the consumer must not start as if it were new."""
        return Err("CLIENT")

    # --- files --------------------------------------------------------------------------------------------

    def stored(self) -> Offsets:
        """The offsets of the file, or of its backup when the file is missing, empty or broken."""
        text = self.text_of(self.file)
        if text:
            try:
                return self.parsed(text)
            except ValueError:
                return self.broken()
        return self.missing()

    def missing(self) -> Offsets:
        """The offsets when there is no file, or an empty one."""
        return self.backed_up()

    def broken(self) -> Offsets:
        """The offsets when the file cannot be parsed."""
        return self.backed_up()

    def backed_up(self) -> Offsets:
        """The offsets of the backup; UnreadableError when it is broken."""
        text = self.text_of(self.backup)
        if not text:
            return {}
        try:
            return self.parsed(text)
        except ValueError as error:
            raise UnreadableError from error

    def text_of(self, file: Path) -> str | None:
        """A file's text, or None without one."""
        try:
            return file.read_text("utf-8")
        except FileNotFoundError:
            return None

    def parsed(self, text: str) -> Offsets:
        """The offsets of known queues in a text; ValueError when it cannot be parsed."""
        return {QUEUES.index(queue): offset for queue, offset in parse(text).items() if queue in QUEUES}

    def persist(self, queue: int) -> Result:
        """Write one queue's offset to the file."""
        if queue in self.table:
            self.save((queue,))
        return None

    def persist_all(self, queues: tuple[int, ...]) -> Result:
        """Write the offsets of some queues to the file."""
        if queues:
            self.save(queues)
        return None

    def save(self, queues: Iterable[int]) -> None:
        """Merge offsets into the file, unless the file is unreadable."""
        try:
            stored = self.stored()
        except UnreadableError:
            return
        self.write(self.merged(stored, {queue: self.table[queue].offset for queue in queues if queue in self.table}))

    def merged(self, stored: Offsets, chosen: Offsets) -> Offsets:
        """The new contents of the file."""
        return {**stored, **chosen}

    def write(self, offsets: Offsets) -> None:
        """Copy the file to the backup, and write a new one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.back_up()
        self.file.write_text(render({QUEUES[queue]: offset for queue, offset in offsets.items()}), "utf-8")

    def back_up(self) -> None:
        """Copy the file to the backup, even when it is broken."""
        text = self.text_of(self.file)
        if text is not None:
            self.backup.write_text(text, "utf-8")

    # --- the suite ----------------------------------------------------------------------------------------

    def damage(self, which: str, how: str) -> Result:
        """Play a crash."""
        offset_file_damage.damage_offset_file(self.folder, which, how)
        return None

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Update: self.update,
            operations.Freeze: self.freeze,
            operations.Read: self.read,
            operations.Persist: self.persist,
            operations.PersistAll: self.persist_all,
            operations.Remove: self.remove,
            operations.Clone: self.clone,
            operations.Restart: self.restart,
            operations.Damage: self.damage,
        }


PART = LocalStore
