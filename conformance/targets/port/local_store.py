"""The port's local offset store: a table of offsets in memory, persisted to a file with a backup."""

from __future__ import annotations

from pathlib import Path

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets import offset_file_damage
from rocketmq_conformance.conformance.targets.port.file_store import FileStore, Offsets, UnreadableError
from rocketmq_conformance.conformance.targets.port.offset_file import parse, render
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import local_store as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY


class LocalStore(FileStore):
    """Offsets of one consumer, and its files."""

    def __init__(self, transport: Transport | None = None, topology: Topology = ORDINARY) -> None:
        super().__init__(topology)

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.open(case.directory, case.group)

    def open(self, directory: Path, group: str, client: str = offset_file_damage.CLIENT_ID) -> None:
        """Become a new store with its files in ``directory``; nothing is read before ``restart``."""
        self.open_folder(offset_file_damage.store_folder(directory, group, client))

    def open_folder(self, folder: Path) -> None:
        """Become a new store with its files in ``folder``; nothing is read before ``restart``."""
        self.table = {}
        self.folder = folder
        self.file = self.folder / offset_file_damage.FILE_NAME
        self.backup = self.folder / f"{offset_file_damage.FILE_NAME}{offset_file_damage.BACKUP}"

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
        queues = self.topology.queues
        return {queues.index(queue): offset for queue, offset in parse(text).items() if queue in queues}

    def write(self, offsets: Offsets) -> None:
        """Copy the file to the backup, and write a new one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.back_up()
        self.file.write_text(
            render({self.topology.queues[queue]: offset for queue, offset in offsets.items()}), "utf-8"
        )

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
