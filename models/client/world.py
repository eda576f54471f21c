"""The broker of a client case, as it stands when the case begins."""

from __future__ import annotations

from rocketmq_conformance.models.broker.state import BrokerState, QueueLog
from rocketmq_conformance.models.client.layout import GROUP, LOST, QUEUES

#: Store time of the first message of each queue (ms since the epoch): where nothing happens to the clocks, where
#: they go forward in New York, and where they go back there.
BEGINS = (
    1_704_067_200_000,  # 2024-01-01T00:00Z
    1_710_046_800_000,  # 2024-03-10T05:00Z: midnight in New York, two hours before the change
    1_730_606_400_000,  # 2024-11-03T04:00Z: midnight in New York, two hours before the change
    1_704_067_200_000,
)
HOUR = 3_600_000
#: Messages lie half an hour apart, so that a time zone mistaken by 30 minutes shows.
GAP = HOUR // 2

SHAPES = ("young", "empty", "expired", "gone", "cold")


def shaped(queue: int, shape: str) -> QueueLog:
    """The queue of that index, in each kind that a rule tells apart.

    young: 0 … 12 in memory; empty: never written; expired: 4 … 12; gone: all 12 expired; cold: 0 … 12, message 0
    no longer in memory.
    """
    times = tuple(BEGINS[queue] + GAP * k for k in range(12))
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
        logs={(queue.topic, queue.id): shaped(at, "young") for at, queue in enumerate(QUEUES) if at != LOST},
    )


def reshaped(broker: BrokerState, queue: int, shape: str) -> BrokerState:
    """The broker with one queue in another shape; what is stored stays."""
    topic, _, number = QUEUES[queue]
    return broker._replace(logs={**broker.logs, (topic, number): shaped(queue, shape)})
