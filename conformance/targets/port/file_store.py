"""The port's offset stores of broadcasting consumers: offsets in memory, and those that a file holds.

A store in a case about files has real ones (``local_store``). That of a group's member has entries in a table instead:
no rule of a group depends on a file's text, and members are stepped many thousand times in a second.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET, Entry, OffsetTable
from rocketmq_conformance.models.outcome import Err, Result

#: Offsets by queue.
Offsets = dict[int, int]


class UnreadableError(Exception):
    """Neither the file nor its backup can be parsed."""


class FileStore(OffsetTable, ABC):
    """Offsets of one consumer; where its file is, a subclass knows."""

    @abstractmethod
    def stored(self) -> Offsets:
        """The offsets that the file holds; UnreadableError."""

    @abstractmethod
    def write(self, offsets: Offsets) -> None:
        """Make these the offsets that the file holds."""

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
        return self.read_stored(queue)

    def read_stored(self, queue: int) -> int:
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

    # --- persisting ---------------------------------------------------------------------------------------

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


class MemberStore(FileStore):
    """The store of a member of a group; ``files`` is shared by the group, and has an entry for each client id."""

    def __init__(self, files: dict[str, Offsets], client: str) -> None:
        super().__init__()
        self.files = files
        self.client = client

    def stored(self) -> Offsets:
        """The offsets that the file holds."""
        return self.files.get(self.client, {})

    def write(self, offsets: Offsets) -> None:
        """Make these the offsets that the file holds."""
        self.files[self.client] = offsets
