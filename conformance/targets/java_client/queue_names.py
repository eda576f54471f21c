"""Java queues by their names, and their keys in the ordinary topology."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocketmq_conformance.conformance.targets.java_client.rows import rows
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: The key of each queue.
POSITIONS: Mapping[Queue, int] = {queue: at for at, queue in enumerate(ORDINARY.queues)}


def names(queues: Any) -> list[Queue]:
    """The queues of a collection of Java, in its order."""
    parts = rows(queues, "getTopic", "getBrokerName", "getQueueId")
    return [(topic, broker, int(number)) for topic, broker, number in parts]


def name_of(queue: Any) -> Queue:
    """A queue of Java."""
    return str(queue.getTopic()), str(queue.getBrokerName()), int(queue.getQueueId())


def position(queue: Any) -> int:
    """The key of a queue of Java in the ordinary topology."""
    return POSITIONS[name_of(queue)]


def positions(queues: Any) -> list[int]:
    """The keys of the queues of a collection of Java, in its order."""
    return [POSITIONS[name] for name in names(queues)]
