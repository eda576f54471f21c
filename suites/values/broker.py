"""Value domains of the broker suites (topics, groups, queues, offsets, times), and their state in one line."""

from __future__ import annotations

from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP, REMOVE_OFFSET
from rocketmq_conformance.models.broker.configuration import (
    PERMISSION,
    PROPERTY_FILTER,
    SERVER_RESET,
    SETTINGS,
    TIMER_WHEEL,
)
from rocketmq_conformance.models.broker.search import LOWER, UPPER
from rocketmq_conformance.models.broker.state import READ, BrokerState, Topic, shown
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit

TOPIC = Values(0, 1, 2, weights=(5, 2, 1))
GROUP = Values(0, 1, 2, weights=(5, 2, 1))
#: Queues that topic 0 has, one that it may get, one far beyond.
WRITTEN = Values(0, 1, 2, weights=(6, 3, 1))
QUEUE = Values(0, 1, 2, 9, -1, weights=(8, 4, 1, 1, 1))
#: The same, and a field that is not sent.
ANY_QUEUE = Values(0, 1, 2, 9, -1, None, weights=(10, 5, 1, 1, 1, 1))
COUNT = Values(1, 2, 3)
QUEUES = Values(2, 1, 4)
SET_ZERO = Values(None, True, False, weights=(3, 1, 1))
FLAG = Values(KEEP, REMOVE_OFFSET, CLEAN_OFFSET)
#: 0, in the middle, around the max of a few sends, beyond it, negative, beyond 32 and 53 bits, not sent.
OFFSET = Values(0, 1, 2, 3, 4, 6, 100, -1, -7, 2**31, 2**53 + 1, None, weights=(3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1))
#: Message of a queue from 0; -1 is the last one.
MESSAGE = Values(0, 1, 2, 4, 6, -1, weights=(3, 3, 2, 1, 1, 3))
_DAY = 86_400_000
#: Distance from a message in ms: the same time, near ones, before the first and after the last.
DELTA = Values(0, 1, -1, 2, -2, 5, -5, _DAY, -_DAY, weights=(4, 2, 2, 1, 1, 1, 1, 1, 1))
BOUNDARY = Values("", LOWER, UPPER)

#: Rules of a query for an offset, but for ``set_zero``.
QUERIES = ("BQ-QUERY-1", "BQ-COM-3", "BQ-QUERY-4", "BQ-QUERY-G3", "BQ-DISK-1", "BQ-MEM-2")
#: Rules of a search by time.
SEARCHES = ("BQ-TIME-1", "BQ-TIME-2", "BQ-TIME-3", "BQ-TIME-CLAMP")
#: The rule of a broker that may not be read.
NOT_READABLE = RuleLimit(
    rules=("BQ-PULL-BROKER",),
    setting=PERMISSION,
    values=tuple(value for value in SETTINGS[PERMISSION].values if not int(value) & READ),
    because="the broker may be read: brokerPermission has the bit 4, as by default",
)
#: The rule of a broker without a timer wheel.
NO_TIMER = RuleLimit(
    rules=("BQ-TOPIC-TIMER",),
    setting=TIMER_WHEEL,
    values=("false",),
    because="the broker has a timer wheel: timerWheelEnable is on, the default",
)
#: The rule of expressions in SQL92 that are answered, where no other rule of theirs fires.
NO_SQL = RuleLimit(
    rules=("BQ-SQL-PASS",),
    setting=PROPERTY_FILTER,
    values=("true",),
    because="expressions in SQL92 are refused: enablePropertyFilter is off, the default",
)


def members_reset(*rules: str) -> RuleLimit:
    """The rules of resets that members make."""
    return RuleLimit(
        rules=rules,
        broker="up to 5.1.4",
        setting=SERVER_RESET,
        values=("false",),
        because="the broker makes resets itself: useServerSideResetOffset is on, the default from 5.2.0 on",
    )


def brokers_reset(*rules: str) -> RuleLimit:
    """The rules of resets that a broker makes itself."""
    return RuleLimit(
        rules=rules,
        broker="5.2.0+",
        setting=SERVER_RESET,
        values=("true",),
        because="members make resets: useServerSideResetOffset is off, the default before 5.2.0",
    )


def show(state: BrokerState) -> str:
    """A broker's state in one line: topics, groups, queues as min(first)..max, stored offsets.

    A topic is the number of its queues, unless fewer are read or written or its permission is another.
    """
    topics = {
        name: settings.read_queues if settings == Topic.of(settings.read_queues) else shown(settings)
        for name, settings in state.topics.items()
    }
    groups = (
        sorted(state.groups) if not state.disabled else f"{sorted(state.groups)}, disabled {sorted(state.disabled)}"
    )
    logs = {
        f"{topic}/{queue}": f"{log.min}..{log.max}" if log.min == log.first else f"{log.min}({log.first})..{log.max}"
        for (topic, queue), log in state.logs.items()
    }
    stored = {f"{group}:{topic}/{queue}": offset for (group, topic, queue), offset in state.stored.items()}
    return f"topics {topics}, groups {groups}, queues {logs}, stored {stored}"
