"""Fixture: a topic whose queues are so long that their entries fill several files, each with its own time of change.

Nobody can wait until real files are as old as they should be, so the kit writes this store itself, beside the aged one
(``aged_store``), and sets the times of the files: ``QUEUES`` is what they hold.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.aged_store import EPOCH
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.state import FILE_ENTRIES, BrokerState, QueueLog, Topic

TOPIC = "FILED"
#: Milliseconds between two messages.
APART = 10
_DAY = 86_400_000
#: The offset that the middle of the equal times has: they lie on both sides of a file's end.
_END = FILE_ENTRIES


def _log(first: int, end: int, *written: int, equal: int = 0) -> QueueLog:
    """Messages from ``first`` to before ``end``, so many before and after the first file's end at the same time; the
    files were changed at these times after the epoch, whole seconds."""
    times = [EPOCH + APART * (_END if abs(offset - _END) <= equal else offset) for offset in range(first, end)]
    return QueueLog(first=first, times=tuple(times), written=tuple(EPOCH + time for time in written))


#: Queues by id. A file ends 3 s after the one before it.
QUEUES = (
    _log(0, 650, 3000, 6000, 7000),  # changed when the last message came, but for the rest of the second
    _log(0, 650, _DAY, _DAY, _DAY),  # copied later, as by a backup
    _log(0, 650, -_DAY, -_DAY, -_DAY),  # put back with an older time
    _log(150, 650, 3000, 6000, 7000),  # the first half of the first file has expired
    _log(0, 620, 3000, 6000, 7000, equal=10),  # equal times in two files
    _log(0, 650, 4000, 2000, 7000),  # the second file seems older than the first one
)


def filed_broker(rules: BrokerRules) -> BrokerState:
    """The broker after it started on the store."""
    return BrokerState(
        topics={TOPIC: Topic.of(len(QUEUES))},
        logs={(TOPIC, queue): reopened(rules, log) for queue, log in enumerate(QUEUES)},
    )
