"""Plays the suite ``broker-locks`` on a broker: locks, unlocks, and waiting for leases, as jobs."""

from __future__ import annotations

import math

from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests, UnsupportedHereError
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.models.broker.broker_locks import CLIENTS, LEASE, QUEUES
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_locks import Lock, LockForNobody, Unlock, Wait

#: Error of a broker's clock, which counts whole ms (s).
_GRAIN = 0.004
#: Most cases only wait.
_LANES = 256
#: Leases that are too long to wait for (s).
_LONGEST_LEASE = 10.0
_TOO_LONG = (
    "takes a minute: start the broker with -Drocketmq.broker.rebalance.lockMaxLiveTime=1000 and name it "
    "HOST:PORT?lease=1000, or judge broker:VERSION"
)


def lock(names: CaseNames, group: int, client: int, queues: tuple[int, ...]) -> Requests:
    """Lock queues: those granted, and the times of request and response."""
    return (yield from _locked(names, group, CLIENTS[client], queues))


def lock_for_nobody(names: CaseNames, group: int, queue: int) -> Requests:
    """Lock a queue without a client id."""
    return (yield from _locked(names, group, None, (queue,)))


def _locked(names: CaseNames, group: int, client: str | None, queues: tuple[int, ...]) -> Requests:
    asked = _queues(names, queues)
    sent = math.floor(_shares(names, names.clock.monotonic()))
    (answer,) = yield [requests.lock(names.group(group), client, asked)]
    answered = math.ceil(_shares(names, names.clock.monotonic() + _GRAIN))
    granted = responses.locked(answer)
    if isinstance(granted, Err):
        return granted
    unasked = granted.difference(asked)
    if unasked:
        return Err("UNASKED", detail=f"the broker granted queues that it was not asked for: {sorted(unasked)}")
    return tuple(index for index, queue in zip(queues, asked, strict=True) if queue in granted), sent, answered


def unlock(names: CaseNames, group: int, client: int | None, queues: tuple[int, ...]) -> Requests:
    """Unlock queues."""
    name = None if client is None else CLIENTS[client]
    (answer,) = yield [requests.unlock(names.group(group), name, _queues(names, queues))]
    return responses.refused(answer)


def wait(names: CaseNames, share: int) -> Requests:
    """Let a share of the lease pass."""
    if names.lease > _LONGEST_LEASE:
        raise UnsupportedHereError(_TOO_LONG)
    yield share / LEASE * names.lease
    return None


def _queues(names: CaseNames, indexes: tuple[int, ...]) -> list[Queue]:
    return [(f"{names.prefix}-{topic}", broker, number) for topic, broker, number in (QUEUES[i] for i in indexes)]


def _shares(names: CaseNames, moment: float) -> float:
    """A moment in thousandths of the lease since the case began."""
    return (moment - names.start) / names.lease * LEASE


PART = Part(
    jobs={Lock: lock, LockForNobody: lock_for_nobody, Unlock: unlock, Wait: wait},
    lanes=_LANES,
    needs=frozenset({Need.SILENCE}),
)
