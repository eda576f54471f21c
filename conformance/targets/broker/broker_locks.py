"""The operations of ``broker-locks`` as jobs: locks, and time that passes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.jobs import Names, Requests
from rocketmq_conformance.models.broker.broker_locks import CLIENTS, LEASE, QUEUES
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err

#: A broker counts whole ms: by so much (s) an answer may seem to be later than it was.
_GRAIN = 0.004


def _lock(names: Names, group: int, client: int, queues: tuple[int, ...]) -> Requests:
    return (yield from _locked(names, group, CLIENTS[client], queues))


def _lock_for_nobody(names: Names, group: int, queue: int) -> Requests:
    return (yield from _locked(names, group, None, (queue,)))


def _locked(names: Names, group: int, client: str | None, queues: tuple[int, ...]) -> Requests:
    asked = _queues(names, queues)
    sent = math.floor(_shares(names, time.monotonic()))
    (answer,) = yield [requests.lock(names.group(group), client, asked)]
    answered = math.ceil(_shares(names, time.monotonic() + _GRAIN))
    granted = requests.locked(answer)
    if isinstance(granted, Err):
        return granted
    unasked = granted.difference(asked)
    if unasked:
        return Err("UNASKED", detail=f"the broker granted what nobody asked for: {sorted(unasked)}")
    return tuple(index for index, queue in zip(queues, asked, strict=True) if queue in granted), sent, answered


def _unlock(names: Names, group: int, client: int | None, queues: tuple[int, ...]) -> Requests:
    name = None if client is None else CLIENTS[client]
    (answer,) = yield [requests.unlock(names.group(group), name, _queues(names, queues))]
    return requests.refused(answer)


def _wait(names: Names, share: int) -> Requests:
    yield share / LEASE * names.lease
    return None


def _queues(names: Names, indexes: tuple[int, ...]) -> list[Queue]:
    return [(f"{names.prefix}-{topic}", broker, number) for topic, broker, number in (QUEUES[i] for i in indexes)]


def _shares(names: Names, moment: float) -> float:
    """A moment in thousandths of the lease since the case began."""
    return (moment - names.begun) / names.lease * LEASE


#: By the operation's name.
OPERATIONS: dict[str, Callable[..., Requests]] = {
    "lock": _lock,
    "lock_for_nobody": _lock_for_nobody,
    "unlock": _unlock,
    "wait": _wait,
}
