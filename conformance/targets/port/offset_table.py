"""The port's table of offsets in memory, the base of its local and its remote store."""

from __future__ import annotations

from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: The result of reading a queue without an offset.
NO_OFFSET = -1


class Entry:
    """One offset in memory."""

    __slots__ = ("frozen", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.frozen = False


class OffsetTable:
    """Offsets of one consumer. Queues are given by their key in the topology, -1 for none."""

    def __init__(self, topology: Topology = ORDINARY) -> None:
        self.topology = topology
        self.table: dict[int, Entry] = {}
        self.forget()  # a subclass may have more state than the table

    def forget(self) -> None:
        """Clear the table."""
        self.table = {}

    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        """Store an offset."""
        if queue < 0:
            return None
        entry = self.table.get(queue)
        if entry is None:
            self.insert(queue, offset)
        elif not entry.frozen:
            entry.offset = self.newer(entry.offset, offset, increase_only)
        return None

    def insert(self, queue: int, offset: int) -> Entry:
        """The first offset of a queue."""
        entry = self.table[queue] = Entry(offset)
        return entry

    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        """The one of two offsets to keep."""
        return offset if not increase_only or offset > old else old

    def freeze(self, queue: int, offset: int) -> Result:
        """Set an offset that no update may change."""
        if queue >= 0:
            entry = self.table.get(queue) or self.insert(queue, offset)
            entry.offset = offset
            entry.frozen = True
        return None

    def refresh(self, queue: int, offset: int) -> None:
        """Store the offset that the broker or the file has."""
        self.update(queue, offset, False)

    def remove(self, queue: int) -> Result:
        """Forget a queue; what was persisted stays."""
        self.table.pop(queue, None)
        return None

    def clone(self, topic: str) -> Result:
        """A copy of the table, of one topic or of all."""
        return tuple(sorted((queue, entry.offset) for queue, entry in self.table.items() if self.is_of(queue, topic)))

    def is_of(self, queue: int, topic: str) -> bool:
        """Does a queue belong to a topic? The blank topic has them all."""
        return not topic or self.topology.topic_of[queue] == topic
