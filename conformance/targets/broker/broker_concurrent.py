"""Plays the suite ``broker-concurrent`` on a broker: requests of several clients at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.conformance.targets.broker.requests_at_once import Exchanged, Fault, Sending
from rocketmq_conformance.models.broker import overlapping
from rocketmq_conformance.models.broker.overlapping import CLIENTS, Request
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.outcome import Err, Result, Value
from rocketmq_conformance.suites.broker_concurrent import KINDS, AtOnce
from rocketmq_conformance.suites.declare.operation import Operation


def beside(kind: str) -> Callable[..., Requests]:
    """The job that puts a request of this kind beside others, to be sent with them."""

    def put(names: CaseNames, by: int, *args: Value) -> Requests:
        names.beside.append(Request(kind, by, args))
        yield from ()
        return None

    return put


def at_once(names: CaseNames) -> Requests:
    """Send the requests that were put beside each other: (client, request, moments of both, answer) of each."""
    asked, exchanged = exchange(names, {})
    return (yield from written(names, asked, exchanged))


def exchange(names: CaseNames, faults: Mapping[str, Fault]) -> tuple[list[Request], list[Exchanged]]:
    """Send the requests that were put beside each other, and let happen what stands between them."""
    asked, names.beside = names.beside, []
    if names.locking is None and any(one.kind == overlapping.LOCK for one in asked):
        names.locking = names.clock.monotonic()
    sendings = [Sending(one.by, faults.get(one.kind) or _ask(names, one), one.heard) for one in asked]
    return asked, names.exchange(sendings)


def may_have_expired(names: CaseNames) -> bool:
    """May a lock have expired by now?"""
    return names.locking is not None and names.clock.monotonic() - names.locking >= names.lease


def written(names: CaseNames, asked: Sequence[Request], exchanged: Sequence[Exchanged]) -> Requests:
    """The history, once the messages show that were sent."""
    expired = may_have_expired(names)
    for queue in overlapping.QUEUES:
        stored = [
            offset
            for one, came in zip(asked, exchanged, strict=True)
            if one.kind == overlapping.SEND and one.args == (queue,) and came.answer is not None
            if isinstance(offset := responses.number(came.answer, "queueOffset"), int)
        ]
        if stored:
            yield from jobs.shown(names, names.topic(0), queue, max(stored))
    return tuple(_written(one, came, expired) for one, came in zip(asked, exchanged, strict=True))


def _written(request: Request, came: Exchanged, expired: bool) -> Value:
    """A request of a history. One whose answer does not say whether it was done has none, nor has one for locks when
    these may have ``expired``."""
    if request.kind in overlapping.FAULTS:
        return request.by, str(request), came.sent, came.answered, None
    said = None if came.answer is None else _answer(request, came.answer)
    answered = came.answered
    if expired and request.kind == overlapping.LOCK:
        said, answered = None, None
    elif isinstance(said, Err):
        said, answered = (said.code, answered) if said.definite else (None, None)
    return request.by, str(request), came.sent, answered, said


def _ask(names: CaseNames, request: Request) -> Ask:
    group, topic = names.used_group(0), names.topic(0)
    client = f"{names.prefix}-{CLIENTS[request.by]}"
    match request.kind, request.args:
        case "commit", (queue, offset, _):
            return requests.commit(group, topic, queue, offset)
        case "query", (queue,):
            return requests.query(group, topic, queue, None)
        case "reset", (queue, offset):
            return requests.reset(group, topic, -1, True, queue, offset)
        case "pull", (queue, offset):
            return requests.pull(group, topic, queue, offset)
        case "send", (queue,):
            return requests.send(topic, queue, int(time.time() * 1000))
        case "max", (queue,):
            return requests.max_offset(topic, queue)
        case "lock", (queues,):
            return requests.lock(group, client, [(topic, "b0", queue) for queue in queues])
        case "unlock", (queues,):
            return requests.unlock(group, client, [(topic, "b0", queue) for queue in queues])
        case "join", _:
            names.created.add(RETRY + group)
            names.own_registered.add((request.by, group))
            return requests.heartbeat(client, group, [topic])
        case "leave", _:
            return requests.unregister(client, group)
    return requests.member_list(group)


def _answer(request: Request, answer: Command) -> Result:
    """The answer as the model has it."""
    match request.kind:
        case "query" | "max":
            return responses.number(answer)
        case "send":
            return responses.number(answer, "queueOffset")
        case "pull":
            return responses.pulled(answer)
        case "lock":
            granted = responses.locked(answer)
            return granted if isinstance(granted, Err) else tuple(sorted(queue for _, _, queue in granted))
        case "list":
            found = responses.listed_members(answer)
            return found if isinstance(found, Err) else tuple(name.rpartition("-")[2] for name in found)
        case "commit":
            return responses.bare(answer)
    return responses.refused(answer)


_JOBS: dict[type[Operation], Callable[..., Requests]] = {made: beside(kind) for made, kind in KINDS.items()}

PART = Part(jobs={**_JOBS, AtOnce: at_once}, lanes=1, needs=frozenset({Need.SILENCE}))
