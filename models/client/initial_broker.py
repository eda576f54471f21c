"""The cluster of a client case in its initial state, and the shapes that a queue of it can take."""

from __future__ import annotations

from functools import cache

from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic, broker_state
from rocketmq_conformance.models.client.topology import Topology

#: 2024-01-01T00:00Z, and the distance of neighbouring times: a time zone that is off by half an hour shows.
EPOCH = 1_704_067_200_000
GAP = 1_800_000
#: Where the clocks of New York go forward (2024-03-10T07:00Z), summer (2024-07-01T00:00Z), and where they go back
#: (2024-11-03T06:00Z).
CLOCKS_FORWARD = 1_710_054_000_000
SUMMER = 1_719_792_000_000
CLOCKS_BACK = 1_730_613_600_000
#: Store times of the messages of every queue (ms since the epoch).
TIMES = (
    *(EPOCH, EPOCH + GAP),
    *(CLOCKS_FORWARD - GAP, CLOCKS_FORWARD, CLOCKS_FORWARD + GAP, CLOCKS_FORWARD + 2 * GAP),
    *(SUMMER, SUMMER + GAP),
    *(CLOCKS_BACK - GAP, CLOCKS_BACK, CLOCKS_BACK + GAP, CLOCKS_BACK + 2 * GAP),
)

SHAPES = ("young", "empty", "expired", "gone", "cold")


@cache
def log_of_shape(shape: str) -> QueueLog:
    """A queue of each kind that the rules distinguish.

    young: 0 … 12 in memory; empty: never written; expired: 4 … 12; gone: all 12 expired; cold: 0 … 12, message 0
    no longer in memory.
    """
    match shape:
        case "empty":
            return QueueLog()
        case "expired":
            return QueueLog(min=4, first=4, times=TIMES[4:])
        case "gone":
            return QueueLog(min=12, first=12)
        case "cold":
            return QueueLog(times=TIMES, hot=False)
        case _:
            return QueueLog(times=TIMES)


def initial_broker(topology: Topology) -> BrokerState:
    """The initial state: the groups, all topics that have a route, nothing stored; all queues are young but those that
    have expired: these begin where ConsumeFromWhere says."""
    known = [at for at in range(len(topology.queues)) if at not in topology.unrouted]
    topics: dict[str, int] = {}
    for topic, number in (topology.places[at] for at in known):
        topics[topic] = max(topics.get(topic, 0), number + 1)
    return BrokerState(
        topics={topic: Topic.of(queues) for topic, queues in topics.items()},
        groups=frozenset({topology.group, topology.other_group}),
        logs={topology.places[at]: log_of_shape("expired" if at in topology.expired else "young") for at in known},
        stored={},  # copied with each commit: a dict is copied several times as fast as a view of one
    )


def reshaped(broker: BrokerState, place: tuple[str, int], shape: str) -> BrokerState:
    """The broker with the queue at a place in another shape; stored offsets stay."""
    topics, groups, logs, stored, pending, disabled = broker
    return broker_state((topics, groups, {**logs, place: log_of_shape(shape)}, stored, pending, disabled))
