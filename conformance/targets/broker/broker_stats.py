"""Plays the suite ``broker-stats`` on a broker: the requests of operators' tools as jobs."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.broker_admin import join, leave, reset_queue
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Need, Part
from rocketmq_conformance.models.broker.broker_stats import RETRY_TOPIC
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_admin import Join, Leave, ResetQueue
from rocketmq_conformance.suites.broker_offsets import CreateTopic, DeleteGroup, DeleteTopic
from rocketmq_conformance.suites.broker_search import SendTimed
from rocketmq_conformance.suites.broker_stats import (
    CommitTo,
    ConsumedBy,
    Lag,
    QueueIndex,
    TimeSpan,
    TopicsOf,
    TopicStats,
)


def commit_to(names: CaseNames, group: int, topic: int, queue: int, offset: int) -> Requests:
    """Commit an offset."""
    (answer,) = yield [requests.commit(names.used_group(group), _topic(names, topic, group), queue, offset)]
    return responses.bare(answer)


def lag(names: CaseNames, group: int, topic: int | None) -> Requests:
    """Ask for the statistics of a group."""
    name = None if topic is None else _topic(names, topic, group)
    (answer,) = yield [requests.group_stats(names.group(group), name)]
    found = responses.group_stats(answer)
    if isinstance(found, Err):
        return found
    return tuple(sorted((names.plain(one[0]), *one[1:]) for one in found))


def topic_stats(names: CaseNames, topic: int) -> Requests:
    """Ask for the statistics of a topic."""
    (answer,) = yield [requests.topic_stats(names.topic(topic))]
    return responses.topic_stats(answer)


def consumed_by(names: CaseNames, topic: int) -> Requests:
    """Ask which groups consume a topic."""
    (answer,) = yield [requests.consumed_by(names.topic(topic))]
    return _plain(names, responses.listed(answer, "groupList"))


def topics_of(names: CaseNames, group: int) -> Requests:
    """Ask for the topics of a group."""
    (answer,) = yield [requests.topics_of(names.group(group))]
    return _plain(names, responses.listed(answer, "topicList"))


def time_span(names: CaseNames, group: int, topic: int) -> Requests:
    """Ask for the time span of a group."""
    (answer,) = yield [requests.time_span(names.group(group), _topic(names, topic, group))]
    return responses.time_span(answer)


def queue_index(names: CaseNames, position: int, count: int) -> Requests:
    """Ask for entries of the index of a queue."""
    (answer,) = yield [requests.queue_index(names.topic(0), 0, position, count)]
    return responses.queue_index(answer)


def _topic(names: CaseNames, topic: int, group: int) -> str:
    return RETRY + names.group(group) if topic == RETRY_TOPIC else names.topic(topic)


def _plain(names: CaseNames, found: tuple[str, ...] | Err) -> tuple[str, ...] | Err:
    return found if isinstance(found, Err) else tuple(sorted(map(names.plain, found)))


PART = Part(
    jobs={
        CreateTopic: jobs.create_topic,
        DeleteTopic: jobs.delete_topic,
        DeleteGroup: jobs.delete_group,
        SendTimed: jobs.send_timed,
        CommitTo: commit_to,
        ResetQueue: reset_queue,
        Join: join,
        Leave: leave,
        Lag: lag,
        TopicStats: topic_stats,
        ConsumedBy: consumed_by,
        TopicsOf: topics_of,
        TimeSpan: time_span,
        QueueIndex: queue_index,
    },
    needs=frozenset({Need.SILENCE}),
)
