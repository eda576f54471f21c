"""Plays the suite ``broker-fields`` on a broker: header fields as they are in the plan, and names of every kind."""

from __future__ import annotations

import time

from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Part
from rocketmq_conformance.models.broker.broker_fields import GROUPS, LEFT_OUT, NO_QUEUE, OTHERS, TOPICS
from rocketmq_conformance.models.broker.fixtures import QUEUES
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_fields import (
    CommitTexts,
    CreateNamedGroup,
    CreateNamedTopic,
    DeleteNamedGroup,
    DeleteNamedTopic,
    MaxTexts,
    MinTexts,
    NamedCorrection,
    PullTexts,
    QueryTexts,
    SearchTexts,
    SendNamed,
    SendTo,
)

_NAMES = TOPICS | OTHERS


def create_topic(names: CaseNames, topic: str) -> Requests:
    """Create a topic, and wait until it exists unless it is refused."""
    return (yield from jobs.create_named_topic(names, _topic(names, topic), QUEUES))


def delete_topic(names: CaseNames, topic: str) -> Requests:
    """Delete a topic."""
    (answer,) = yield [requests.delete_topic(_topic(names, topic))]
    return responses.refused(answer)


def create_group(names: CaseNames, group: str) -> Requests:
    """Create a group."""
    (answer,) = yield [requests.create_group(_named_group(names, group))]
    return responses.refused(answer)


def delete_group(names: CaseNames, group: str, flag: str) -> Requests:
    """Delete a group."""
    (answer,) = yield [requests.delete_group(_named_group(names, group), *([flag] if flag else []))]
    return responses.refused(answer)


def send(names: CaseNames, queue: int, count: int) -> Requests:
    """Send messages to topic T0."""
    return (yield from jobs.send(names, 0, queue, count))


def send_to(names: CaseNames, topic: str) -> Requests:
    """Send a message to queue 0 of a topic; of one that no plan creates to none, so that it is not stored there."""
    name, queue = _topic(names, topic), NO_QUEUE if topic in OTHERS else 0
    (answer,) = yield [requests.send_with(name, int(time.time() * 1000), {}, queue=queue)]
    offset = responses.number(answer, "queueOffset")
    if isinstance(offset, Err):
        return offset
    error = yield from jobs.shown(names, name, 0, offset)
    return error or (offset,)


def correction(names: CaseNames, topic: str, left_out: tuple[str, ...]) -> Requests:
    """Ask for correction offsets, without a group to compare with."""
    groups = [LEFT_OUT[group].of(_case(names)) for group in left_out]
    (answer,) = yield [requests.correction(_topic(names, topic), groups, "")]
    return responses.corrected(answer)


def commit(names: CaseNames, group: str | None, topic: str, queue: str | None, offset: str | None) -> Requests:
    """Commit an offset."""
    (answer,) = yield [requests.commit(_used_group(names, group), _topic(names, topic), queue, offset)]
    return responses.bare(answer)


def query(names: CaseNames, group: str | None, topic: str | None, queue: str | None, set_zero: str | None) -> Requests:
    """Query an offset."""
    (answer,) = yield [
        requests.query(
            None if group is None else GROUPS[group].of(_case(names)), _any_topic(names, topic), queue, set_zero
        )
    ]
    return responses.number(answer)


def pull(
    names: CaseNames,
    group: str | None,
    topic: str | None,
    queue: str | None,
    offset: str | None,
    most: str | None,
    commit: str | None,
) -> Requests:
    """Pull messages, without waiting for any."""
    (answer,) = yield [
        requests.pull(
            None if group is None else _used_group(names, group), _any_topic(names, topic), queue, offset, commit, most
        )
    ]
    return responses.pulled(answer)


def max_offset(names: CaseNames, topic: str | None, queue: str | None) -> Requests:
    """Ask for max."""
    (answer,) = yield [requests.max_offset(_any_topic(names, topic), queue)]
    return responses.number(answer)


def min_offset(names: CaseNames, topic: str | None, queue: str | None) -> Requests:
    """Ask for min."""
    (answer,) = yield [requests.min_offset(_any_topic(names, topic), queue)]
    return responses.number(answer)


def search(names: CaseNames, topic: str | None, queue: str | None, timestamp: str | None) -> Requests:
    """Search by a time."""
    (answer,) = yield [requests.search(_any_topic(names, topic), queue, timestamp, "")]
    return responses.number(answer)


def _case(names: CaseNames) -> str:
    return f"{names.prefix}-"


def _topic(names: CaseNames, topic: str) -> str:
    return _NAMES[topic].of(_case(names))


def _any_topic(names: CaseNames, topic: str | None) -> str | None:
    return None if topic is None else _topic(names, topic)


def _named_group(names: CaseNames, group: str) -> str:
    """The name of a group, for a request that may leave something behind under it."""
    name = GROUPS[group].of(_case(names))
    names.used_groups.add(name)
    return name


def _used_group(names: CaseNames, group: str | None) -> str | None:
    """The same, for a request that may name none."""
    return None if group is None else _named_group(names, group)


PART = Part(
    jobs={
        CreateNamedTopic: create_topic,
        DeleteNamedTopic: delete_topic,
        CreateNamedGroup: create_group,
        DeleteNamedGroup: delete_group,
        SendNamed: send,
        SendTo: send_to,
        NamedCorrection: correction,
        CommitTexts: commit,
        QueryTexts: query,
        PullTexts: pull,
        MaxTexts: max_offset,
        MinTexts: min_offset,
        SearchTexts: search,
    },
)
