"""The state of a broker: topics, groups, the log of each queue, and the offsets that groups stored."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.fast_tuples import maker

#: Entries in a file of a queue: the kit's own brokers and stores have so many; 300,000 by default.
FILE_ENTRIES = 300


class QueueLog(NamedTuple):
    """One consume queue.

    ``first`` is the offset of the first retained message, ``times`` the store time of every retained message
    (ms since the epoch, never decreasing). ``min`` is the first offset that the broker *reports*: it lags behind
    ``first`` in releases that forget to move it (BQ-MIN-2). ``hot`` is whether the broker takes message 0 to be in
    memory (BQ-DISK-1, BQ-MEM-1). ``written`` is when each file of ``FILE_ENTRIES`` entries was last changed (ms since
    the epoch); nothing while all entries are in one file.
    """

    min: int = 0
    first: int = 0
    times: tuple[int, ...] = ()
    hot: bool = True
    written: tuple[int, ...] = ()

    @property
    def max(self) -> int:
        """The offset that the next message will get."""
        return self.first + len(self.times)


#: Bits of a topic's permission: to be read, to be written, to be copied for a new topic.
READ, WRITE, INHERIT = 4, 2, 1
#: What names of topics begin with to which messages are sent back, and in which they end.
RETRY, DEAD = "%RETRY%", "%DLQ%"


class Topic(NamedTuple):
    """The settings of a topic: how many of its queues are read, how many are written, and its permission (bits)."""

    read_queues: int
    write_queues: int
    perm: int = READ | WRITE

    @classmethod
    def of(cls, queues: int) -> Topic:
        """An ordinary topic, whose queues are all read and written."""
        return cls(queues, queues)


def shown(topic: Topic) -> str:
    """The settings of a topic to a reader."""
    return f"{topic.read_queues} read, {topic.write_queues} written, permission {topic.perm}"


#: A queue that was never written, and one that does not exist: a broker cannot distinguish them.
ABSENT = QueueLog()

#: Stored offsets by (group, topic, queue id).
Stored = Mapping[tuple[str, str, int], int]


class BrokerState(NamedTuple):
    """Everything that a broker's answers about offsets depend on. Mappings are never changed in place."""

    topics: Mapping[str, Topic] = MappingProxyType({})
    groups: frozenset[str] = frozenset()
    logs: Mapping[tuple[str, int], QueueLog] = MappingProxyType({})
    stored: Stored = MappingProxyType({})
    #: Offsets that groups were reset to and that no pull has picked up yet (BQ-RESET-3).
    pending: Stored = MappingProxyType({})
    #: Groups that may not pull (consumeEnable is false).
    disabled: frozenset[str] = frozenset()


broker_state = maker(BrokerState)
