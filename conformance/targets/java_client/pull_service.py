"""Requests in the queue of a release's pull service: they are taken out of it, as none of its threads runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from rocketmq_conformance.conformance.targets.java_client.java_source import BETWEEN, compiled
from rocketmq_conformance.models.message_queue import Queue


class Dispatched(NamedTuple):
    """A request to pull a queue, or to pop from it."""

    queue: Queue
    request: Any
    #: The offset that the pull begins at; of a pop where its group is to begin (``ConsumeInitMode``).
    start: int
    #: When a queue was popped last (ms of the machine), 0 where the release does not say; None of a pull.
    popped: int | None


def dispatched(waiting: Any) -> list[Dispatched]:
    """Take the requests that wait in a queue of Java; in one call where Java has a compiler."""
    java = compiled("PullRequests")
    if java is None:
        return [_looked_at(request) for request in iter(waiting.poll, None)]
    taken = java.take(waiting)
    if taken is None:
        return []
    text, *requests = taken
    parts = iter(str(text).split(BETWEEN))
    return [
        Dispatched((topic, broker, int(number)), request, int(start), int(popped) if popped else None)
        for topic, broker, number, start, popped, request in zip(*[parts] * 5, requests, strict=False)
    ]


def _looked_at(request: Any) -> Dispatched:
    """A request, call by call."""
    of = request.getMessageQueue()
    queue = str(of.getTopic()), str(of.getBrokerName()), int(of.getQueueId())
    if not hasattr(request, "getPopProcessQueue"):
        return Dispatched(queue, request, int(request.getNextOffset()), None)
    popped = int(request.getPopProcessQueue().getLastPopTimestamp())
    return Dispatched(queue, request, int(request.getInitMode()), popped)
