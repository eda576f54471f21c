"""Message queues: identity, text and order, exactly as Java has them (MQ-*).

Java compares strings by UTF-16 code unit, Python by code point: U+1F600 sorts before U+FF5E in Java. Every
member of a group must sort queues and client ids the same way, or some queues have two owners and others none.

Up to 5.5.0 queue ids compare by their difference, and the difference is a Java ``int``. Among real ids (never negative)
that is the order of numbers. Ids further apart than 2**31 can stand in a circle, and then no order is promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from typing import NamedTuple

from rocketmq_conformance.models.java_text import int32, string_hash, utf16
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "MQ-ORD-1",
        "Queues sort by topic, then broker name, then queue id; strings compare by UTF-16 code unit and ids by "
        "a wrapping 32-bit difference, from 5.5.1 as numbers.",
        "MessageQueue#compareTo @ 4.0.0, 5.3.3",
        quirk="the difference of the ids wraps",
    ),
    Rule(
        "MQ-ID-1",
        "A queue's text is `MessageQueue [topic=T, brokerName=B, queueId=Q]`; its hash folds broker name, id and "
        "topic with 31 in 32 bits.",
        "MessageQueue#toString, #hashCode @ 5.3.3",
    ),
    Rule(
        "REB-CLU-2",
        "Before an allocation every member sorts the queues (MQ-ORD-1) and the client ids (UTF-16 order).",
        "RebalanceImpl#rebalanceByTopic @ 4.0.0, 5.3.3",
    ),
)

#: A queue inside plans and results: (topic, broker name, queue id).
Queue = tuple[str, str, int]


class MessageQueue(NamedTuple):
    """One queue of a topic on one broker. A plain tuple ``(topic, broker, id)`` equals it."""

    topic: str
    broker: str
    id: int


def queue_text(queue: Queue) -> str:
    """The text of Java's ``toString``; the consistent hash places a queue by it (MQ-ID-1)."""
    topic, broker, number = queue
    return f"MessageQueue [topic={topic}, brokerName={broker}, queueId={number}]"


def queue_hash(queue: Queue) -> int:
    """The result of Java's ``hashCode``, a signed 32-bit number (MQ-ID-1)."""
    topic, broker, number = queue
    total = 1
    for part in (string_hash(broker), number, string_hash(topic)):
        total = 31 * total + part
    return int32(total)


def compare_queues(left: Queue, right: Queue, numbers: bool = False) -> int:
    """-1, 0 or 1: the sign of Java's ``left.compareTo(right)`` (MQ-ORD-1), by ids as ``numbers`` or by their
    difference."""
    for one, other in ((utf16(left[0]), utf16(right[0])), (utf16(left[1]), utf16(right[1]))):
        if one != other:
            return -1 if one < other else 1
    difference = left[2] - right[2] if numbers else int32(left[2] - right[2])
    return (difference > 0) - (difference < 0)


def sort_queues(queues: Sequence[Queue], numbers: bool = False) -> tuple[Queue, ...] | None:
    """The queues in Java's order, by ids as ``numbers`` or by their difference; None when these lie so far apart that
    their differences order them in a circle, and the result depends on the sorting algorithm (MQ-ORD-1)."""
    ids = [queue[2] for queue in queues]
    if numbers or not ids or max(ids) - min(ids) < 2**31:
        return sort_by_number(queues)
    ordered = sorted(queues, key=cmp_to_key(compare_queues))
    for at, queue in enumerate(ordered):
        for later in ordered[at + 1 :]:
            if compare_queues(queue, later) > 0 or compare_queues(later, queue) < 0:
                return None
    return tuple(ordered)


def sort_by_number(queues: Sequence[Queue]) -> tuple[Queue, ...]:
    """The queues in the order that Java's is as long as no difference of ids wraps."""
    return tuple(sorted(queues, key=lambda queue: (utf16(queue[0]), utf16(queue[1]), queue[2])))


def sort_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Client ids in Java's order (REB-CLU-2)."""
    return tuple(sorted(ids, key=utf16))
