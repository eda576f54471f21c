"""Message queues: identity, text and order, exactly as Java has them (MQ-*).

Java compares strings by UTF-16 code unit, Python by code point: U+1F600 sorts before U+FF5E in Java. Every
member of a group must sort queues and client ids the same way, or queues are owned twice and orphaned.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "MQ-ORD-1",
        "Queues sort by topic, then broker name, then queue id; strings compare by UTF-16 code unit and ids by "
        "a wrapping 32-bit difference.",
        "MessageQueue#compareTo @ 4.0.0, 5.3.3",
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


class MessageQueue(NamedTuple):
    """One queue of a topic on one broker. A plain tuple ``(topic, broker, id)`` equals it."""

    topic: str
    broker: str
    id: int


def utf16(text: str) -> bytes:
    """The sort key that orders strings as ``java.lang.String#compareTo`` does."""
    return text.encode("utf-16-be", "surrogatepass")


def queue_text(queue: MessageQueue) -> str:
    """What Java's ``toString`` gives; the consistent hash places a queue by this text (MQ-ID-1)."""
    return f"MessageQueue [topic={queue.topic}, brokerName={queue.broker}, queueId={queue.id}]"
