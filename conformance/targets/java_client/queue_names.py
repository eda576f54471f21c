"""Java queues by their names, and where they are in the layout of the suites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocketmq_conformance.conformance.targets.java_client.rows import rows
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Where each queue is in the layout.
POSITIONS: Mapping[Queue, int] = {queue: at for at, queue in enumerate(ORDINARY.queues)}


def names(queues: Any) -> list[Queue]:
    """The queues of a collection of Java, in its order."""
    parts = rows(queues, "getTopic", "getBrokerName", "getQueueId")
    return [(topic, broker, int(number)) for topic, broker, number in parts]


def position(queue: Any) -> int:
    """Where a queue of Java is in the layout."""
    return POSITIONS[str(queue.getTopic()), str(queue.getBrokerName()), int(queue.getQueueId())]


def positions(queues: Any) -> list[int]:
    """Where the queues of a collection of Java are in the layout, in the collection's order."""
    return [POSITIONS[name] for name in names(queues)]
