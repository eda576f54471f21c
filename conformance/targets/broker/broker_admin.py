"""Plays the suite ``broker-admin`` on a broker: members, pulls, resets and clones as jobs."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.fixtures import TOPICS
from rocketmq_conformance.models.broker.search import instant
from rocketmq_conformance.models.broker.state import ABSENT
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_admin import (
    Clone,
    Correction,
    GroupStats,
    Join,
    Leave,
    Pull,
    PullBy,
    ResetByTime,
    ResetFrom,
    ResetQueue,
    ResetToMax,
)
from rocketmq_conformance.suites.broker_offsets import (
    Commit,
    CreateGroup,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    Max,
    Query,
)
from rocketmq_conformance.suites.broker_search import SendTimed

#: Prefix of the topic that a broker creates for a group that registers.
_RETRY = "%RETRY%"


def join(names: CaseNames, group: int, topics: tuple[int, ...]) -> Requests:
    """Register a member."""
    name = names.used_group(group)
    names.joined.add(name)
    names.created.add(_RETRY + name)
    (answer,) = yield [requests.heartbeat(names.client(), name, [names.topic(topic) for topic in topics])]
    return responses.refused(answer)


def leave(names: CaseNames, group: int) -> Requests:
    """Unregister the member."""
    name = names.used_group(group)  # unregistering creates the group, too
    names.joined.discard(name)
    (answer,) = yield [requests.unregister(names.client(), name)]
    return responses.refused(answer)


def pull(names: CaseNames, group: int, topic: int, queue: int, offset: int, commit: int | None) -> Requests:
    """Pull from a queue."""
    (answer,) = yield [requests.pull(names.used_group(group), names.topic(topic), queue, offset, commit)]
    return responses.pulled(answer)


def pull_by(names: CaseNames, group: int, topic: int, expression: str, kind: str) -> Requests:
    """Pull from queue 0 by an expression."""
    (answer,) = yield [requests.pull_by(names.used_group(group), names.topic(topic), 0, 0, expression, kind)]
    found = responses.pulled(answer)
    return found[0] if isinstance(found, tuple) else found


def reset_by_time(names: CaseNames, group: int, topic: int, message: int, delta: int, force: bool) -> Requests:
    """Reset a group to a time."""
    log = names.logs.get((names.topic(topic), 0), ABSENT)
    return (yield from reset(names, group, topic, instant(log, message, delta, aged_store.EPOCH), force))


def reset_to_max(names: CaseNames, group: int, topic: int, timestamp: int, force: bool) -> Requests:
    """Reset a group by a negative time."""
    return (yield from reset(names, group, topic, timestamp, force))


def reset_queue(names: CaseNames, group: int, topic: int, queue: int, offset: int | None) -> Requests:
    """Reset a group in one queue."""
    return (yield from reset(names, group, topic, -1, True, queue, offset))


def reset(
    names: CaseNames,
    group: int,
    topic: int,
    timestamp: int,
    force: bool,
    queue: int | None = None,
    offset: int | None = None,
) -> Requests:
    """Reset a group, and see what its members are told."""
    name = names.used_group(group)
    (answer,) = yield [requests.reset(name, names.topic(topic), timestamp, force, queue, offset)]
    notice = names.take_reset_notice(name)  # a broker sends it to the members before it responds
    error = responses.refused(answer)
    if error is not None:
        return error
    moved = responses.offset_pairs(answer.body)
    passed_on = None if notice is None else responses.offset_pairs(notice.body)
    if isinstance(moved, Err):
        return moved
    return passed_on if isinstance(passed_on, Err) else (moved, passed_on)


def reset_from(names: CaseNames, group: int, topic: int, language: str) -> Requests:
    """Reset a group as a client in this language, and see what its members are told, and how."""
    name = names.used_group(group)
    answer = names.ask_in(language, requests.reset(name, names.topic(topic), -1, True, None, None))
    yield [requests.member_list(name)]  # what the broker sent over the members' connection is there before the answer
    notice = names.take_reset_notice(name)
    error = responses.refused(answer)
    if error is not None:
        return error
    moved = responses.offset_pairs(answer.body)
    if isinstance(moved, Err):
        return moved
    if notice is None:
        return moved, None, None
    passed_on = responses.written_pairs(notice.body)
    return passed_on if isinstance(passed_on, Err) else (moved, *passed_on)


def clone(names: CaseNames, source: int, destination: int, topic: int | None, offline: bool) -> Requests:
    """Clone the offsets of a group."""
    name = None if topic is None else names.topic(topic)
    (answer,) = yield [requests.clone(names.group(source), names.used_group(destination), name, offline)]
    return responses.refused(answer)


def correction(names: CaseNames, topic: int, left_out: tuple[int, ...], compared: int) -> Requests:
    """Ask for correction offsets."""
    groups = [names.group(group) for group in left_out]
    (answer,) = yield [requests.correction(names.topic(topic), groups, names.group(compared))]
    return responses.corrected(answer)


def group_stats(names: CaseNames, group: int, topic: int | None) -> Requests:
    """Ask for the statistics of a group."""
    name = None if topic is None else names.topic(topic)
    (answer,) = yield [requests.group_stats(names.group(group), name)]
    found = responses.group_stats(answer)
    if isinstance(found, Err):
        return found
    indexes = {names.topic(index): index for index in range(len(TOPICS))}
    return tuple((indexes[one[0]] if one[0] in indexes else one[0], *one[1:]) for one in found)


PART = Part(
    jobs={
        CreateTopic: jobs.create_topic,
        DeleteTopic: jobs.delete_topic,
        CreateGroup: jobs.create_group,
        DeleteGroup: jobs.delete_group,
        SendTimed: jobs.send_timed,
        Commit: jobs.commit,
        Query: jobs.query,
        Max: jobs.max_offset,
        Join: join,
        Leave: leave,
        Pull: pull,
        PullBy: pull_by,
        ResetByTime: reset_by_time,
        ResetToMax: reset_to_max,
        ResetQueue: reset_queue,
        ResetFrom: reset_from,
        Clone: clone,
        Correction: correction,
        GroupStats: group_stats,
    },
    needs=frozenset({Need.SILENCE}),
)
