"""Plays the suite ``broker-topics`` on a broker: settings of topics and groups, and pulls of any size, as jobs."""

from __future__ import annotations

import time

from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.broker_admin import join, reset
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import LOOK, Requests, applying
from rocketmq_conformance.conformance.targets.broker.part import Part
from rocketmq_conformance.models.broker.admin import pop_retry_topic
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.broker_admin import Join
from rocketmq_conformance.suites.broker_offsets import Commit, DeleteGroup, DeleteTopic, Max, Min, Query
from rocketmq_conformance.suites.broker_topics import (
    PopQueues,
    PullMost,
    ResetTopic,
    SearchEnd,
    Send,
    SendAnywhere,
    SendNew,
    SetGroup,
    SetPopTopic,
    SetTopic,
    TopicQueues,
)


def set_topic(names: CaseNames, topic: int, read: int, write: int, perm: int) -> Requests:
    """Create or change a topic, and wait until the broker has its settings."""
    return (yield from set_named_topic(names, names.topic(topic), Topic(read, write, perm)))


def set_named_topic(names: CaseNames, name: str, settings: Topic) -> Requests:
    """The same for a topic by its name."""
    names.created.add(name)
    (answer,) = yield [requests.create_topic(name, settings)]
    error = responses.refused(answer)
    if names.late_topics and error is None:
        for _ in applying(names):
            (answer,) = yield [requests.topic_configs()]
            found = responses.topic_settings(answer, name)
            if isinstance(found, Err):
                return found
            if found == settings:
                break
            yield LOOK
    return error


def set_group(names: CaseNames, group: int, enabled: bool) -> Requests:
    """Create or change a group."""
    (answer,) = yield [requests.create_group(names.used_group(group), enabled)]
    return responses.refused(answer)


def send_new(names: CaseNames, topic: int, default: int, queues: int) -> Requests:
    """Send a message to queue 0 of a topic that may be made then."""
    names.created.add(names.topic(topic))
    ask = requests.send_new(names.topic(topic), names.topic(default), queues, int(time.time() * 1000))
    (answer,) = yield [ask]
    offset = responses.number(answer, "queueOffset")
    if isinstance(offset, Err):
        return offset
    error = yield from jobs.shown(names, names.topic(topic), 0, offset)
    return error or (offset,)


def topic_queues(names: CaseNames, topic: int) -> Requests:
    """Ask for the queues in the statistics of a topic."""
    (answer,) = yield [requests.topic_stats(names.topic(topic))]
    return responses.queues_in_stats(answer)


def set_pop_topic(names: CaseNames, group: int, topic: int) -> Requests:
    """Create the topic of messages that come again to members that pop."""
    return (yield from set_named_topic(names, pop_retry_topic(names.group(group), names.topic(topic)), Topic.of(1)))


def pop_queues(names: CaseNames, group: int, topic: int) -> Requests:
    """Ask for its queues."""
    (answer,) = yield [requests.topic_stats(pop_retry_topic(names.group(group), names.topic(topic)))]
    return responses.queues_in_stats(answer)


def pull_most(
    names: CaseNames, group: int, topic: int, queue: int, offset: int, most: int, commit: int | None
) -> Requests:
    """Pull so many messages from a queue."""
    (answer,) = yield [requests.pull(names.used_group(group), names.topic(topic), queue, offset, commit, most)]
    return responses.pulled(answer)


def search_end(names: CaseNames, topic: int, queue: int, timestamp: int) -> Requests:
    """Search by a time before or after all messages."""
    (answer,) = yield [requests.search(names.topic(topic), queue, timestamp, "")]
    return responses.number(answer)


def reset_topic(names: CaseNames, group: int, topic: int, timestamp: int) -> Requests:
    """Reset a group in all queues, by force."""
    return (yield from reset(names, group, topic, timestamp, True))


PART = Part(
    lanes=16,  # old brokers refuse messages that wait for 0.2 s behind those of other cases
    jobs={
        SetTopic: set_topic,
        SetGroup: set_group,
        DeleteTopic: jobs.delete_topic,
        DeleteGroup: jobs.delete_group,
        Send: jobs.send,
        SendAnywhere: jobs.send_anywhere,
        SendNew: send_new,
        TopicQueues: topic_queues,
        SetPopTopic: set_pop_topic,
        PopQueues: pop_queues,
        PullMost: pull_most,
        Commit: jobs.commit,
        Query: jobs.query,
        Max: jobs.max_offset,
        Min: jobs.min_offset,
        SearchEnd: search_end,
        Join: join,
        ResetTopic: reset_topic,
    },
)
