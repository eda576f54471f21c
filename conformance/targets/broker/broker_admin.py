"""The operations of ``broker-admin`` as jobs: members, pulls, resets and clones."""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.jobs import Names, Requests
from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.search import instant
from rocketmq_conformance.models.broker.state import ABSENT
from rocketmq_conformance.models.outcome import Err

#: Prefix of the topic that a broker creates for a group that registers.
_RETRY = "%RETRY%"


def _join(names: Names, group: int, topics: tuple[int, ...]) -> Requests:
    name = names.used_group(group)
    names.joined.add(name)
    names.created.add(_RETRY + name)
    (answer,) = yield [requests.heartbeat(names.client(), name, [names.topic(topic) for topic in topics])]
    return requests.refused(answer)


def _leave(names: Names, group: int) -> Requests:
    name = names.used_group(group)  # unregistering creates the group, too
    names.joined.discard(name)
    (answer,) = yield [requests.unregister(names.client(), name)]
    return requests.refused(answer)


def _pull(names: Names, group: int, topic: int, queue: int, offset: int, commit: int | None) -> Requests:
    (answer,) = yield [requests.pull(names.used_group(group), names.topic(topic), queue, offset, commit)]
    return requests.pulled(answer)


def _reset_by_time(names: Names, group: int, topic: int, message: int, delta: int, force: bool) -> Requests:
    log = names.logs.get((names.topic(topic), 0), ABSENT)
    return (yield from _reset(names, group, topic, instant(log, message, delta, aged_store.EPOCH), force))


def _reset_to_max(names: Names, group: int, topic: int, timestamp: int, force: bool) -> Requests:
    return (yield from _reset(names, group, topic, timestamp, force))


def _reset_queue(names: Names, group: int, topic: int, queue: int, offset: int | None) -> Requests:
    return (yield from _reset(names, group, topic, -1, True, queue, offset))


def _reset(
    names: Names,
    group: int,
    topic: int,
    timestamp: int,
    force: bool,
    queue: int | None = None,
    offset: int | None = None,
) -> Requests:
    name = names.used_group(group)
    (answer,) = yield [requests.reset(name, names.topic(topic), timestamp, force, queue, offset)]
    told = names.told(name)  # a broker tells the members before it answers
    error = requests.refused(answer)
    if error is not None:
        return error
    moved = requests.offset_pairs(answer.body)
    passed_on = None if told is None else requests.offset_pairs(told.body)
    if isinstance(moved, Err):
        return moved
    return passed_on if isinstance(passed_on, Err) else (moved, passed_on)


def _clone(names: Names, source: int, destination: int, topic: int | None, offline: bool) -> Requests:
    name = None if topic is None else names.topic(topic)
    (answer,) = yield [requests.clone(names.group(source), names.used_group(destination), name, offline)]
    return requests.refused(answer)


#: By the operation's name.
OPERATIONS: dict[str, Callable[..., Requests]] = {
    "join": _join,
    "leave": _leave,
    "pull": _pull,
    "reset_by_time": _reset_by_time,
    "reset_to_max": _reset_to_max,
    "reset_queue": _reset_queue,
    "clone": _clone,
}
