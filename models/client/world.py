"""The broker of a client case, as it stands when the case begins."""

from __future__ import annotations

from rocketmq_conformance.models.broker.state import BrokerState, QueueLog
from rocketmq_conformance.models.client.layout import GROUP, LOST, QUEUES

#: 2024-01-01T00:00:00Z: the store time of the first message of every queue (ms since the epoch).
EPOCH = 1_704_067_200_000
HOUR = 3_600_000
#: Messages lie half an hour apart, so that a time zone mistaken by 30 minutes shows.
GAP = HOUR // 2

SHAPES = ("young", "empty", "expired", "gone", "cold")


def shaped(shape: str) -> QueueLog:
    """A queue of each kind that a rule tells apart.

    young: 0 … 12 in memory; empty: never written; expired: 4 … 12; gone: all 12 expired; cold: 0 … 12, message 0
    no longer in memory.
    """
    times = tuple(EPOCH + GAP * k for k in range(12))
    match shape:
        case "empty":
            return QueueLog()
        case "expired":
            return QueueLog(min=4, first=4, times=times[4:])
        case "gone":
            return QueueLog(min=12, first=12)
        case "cold":
            return QueueLog(times=times, hot=False)
        case _:
            return QueueLog(times=times)


def world() -> BrokerState:
    """Topics T, U and the group's retry topic, young queues, nothing stored."""
    known = [queue for at, queue in enumerate(QUEUES) if at != LOST]
    topics: dict[str, int] = {}
    for queue in known:
        topics[queue.topic] = max(topics.get(queue.topic, 0), queue.id + 1)
    return BrokerState(
        topics=topics,
        groups=frozenset({GROUP}),
        logs={(queue.topic, queue.id): shaped("young") for queue in known},
    )
