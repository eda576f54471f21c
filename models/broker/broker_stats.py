"""The broker of suite broker-stats: what operators' tools ask of topics and groups.

The rules are in the modules beside this one; here indexes become names. Beside the topics of the fixtures there is the
retry topic of each group, which a broker creates when a member registers.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker import consumption
from rocketmq_conformance.models.broker.broker_admin import BrokerAdminModel, BrokerAdminState, of_broker
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS
from rocketmq_conformance.models.broker.group_stats import group_stats
from rocketmq_conformance.models.broker.members import subscribes_elsewhere
from rocketmq_conformance.models.broker.state import RETRY, BrokerState, Topic
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer

#: Stands for the retry topic of a group.
RETRY_TOPIC = len(TOPICS)
#: What the index of a queue is asked of: no broker tells a queue that was never written from one that does not exist.
INDEXED_TOPIC, INDEXED_QUEUE = TOPICS[0], 0


class BrokerStatsState(NamedTuple):
    """A broker with its members, and the index of subscribers that it keeps."""

    admin: BrokerAdminState = BrokerAdminState()
    subscribers: consumption.Subscribers = frozenset()

    @property
    def broker(self) -> BrokerState:
        """The broker alone."""
        return self.admin.broker

    @property
    def written(self) -> bool:
        """Has the queue messages that the index is asked of?"""
        return (INDEXED_TOPIC, INDEXED_QUEUE) in self.broker.logs


class BrokerStatsModel:
    """The rules of suite broker-stats; every method is pure. Topics and groups are indexes of the fixtures."""

    __slots__ = ("admin", "rules")

    def __init__(self, profile: Profile) -> None:
        self.admin = BrokerAdminModel(profile)
        self.rules: BrokerRules = self.admin.rules

    def create_topic(self, state: BrokerStatsState, topic: int, queues: int) -> Answer[BrokerStatsState]:
        """BQ-TOPIC-1."""
        return _of_admin(state, self.admin.create_topic(state.admin, topic, queues))

    def delete_topic(self, state: BrokerStatsState, topic: int) -> Answer[BrokerStatsState]:
        """BQ-TOPIC-3."""
        return _of_admin(state, self.admin.delete_topic(state.admin, topic))

    def delete_group(self, state: BrokerStatsState, group: int, flag: str) -> Answer[BrokerStatsState]:
        """BQ-GROUP-2."""
        return _of_admin(state, self.admin.delete_group(state.admin, group, flag))

    def send_timed(
        self, state: BrokerStatsState, observed: Result, topic: int, queue: int, count: int, apart: bool
    ) -> Answer[BrokerStatsState]:
        """BQ-SEND-1."""
        return _of_admin(state, self.admin.send_timed(state.admin, observed, topic, queue, count, apart))

    def commit_to(
        self, state: BrokerStatsState, group: int, topic: int, queue: int, offset: int
    ) -> Answer[BrokerStatsState]:
        """BQ-UPDATE-*."""
        answer = commit_offset(self.rules, state.broker, GROUPS[group], topic_name(topic, group), queue, offset)
        return _of_admin(state, of_broker(state.admin, answer))

    def join(self, state: BrokerStatsState, group: int, topics: tuple[int, ...]) -> Answer[BrokerStatsState]:
        """BQ-HB-1: None."""
        admin, result, why = self.admin.join(state.admin, group, topics)
        name, retry = GROUPS[group], topic_name(RETRY_TOPIC, group)
        index = consumption.subscribed(self.rules, state.subscribers, name, [TOPICS[topic] for topic in topics])
        known = admin.broker.topics
        if retry not in known:
            admin = admin._replace(broker=admin.broker._replace(topics={**known, retry: Topic.of(1)}))
        return BrokerStatsState(admin, index), result, why

    def leave(self, state: BrokerStatsState, group: int) -> Answer[BrokerStatsState]:
        """BQ-HB-6: None."""
        admin, result, why = self.admin.leave(state.admin, group)
        index = consumption.left(state.subscribers, state.admin.members, admin.members)
        return BrokerStatsState(admin, index), result, why

    def reset_queue(
        self, state: BrokerStatsState, group: int, topic: int, queue: int, offset: int | None
    ) -> Answer[BrokerStatsState]:
        """BQ-RESET-2, BQ-RESET-QUEUE."""
        return _of_admin(state, self.admin.reset_queue(state.admin, group, topic, queue, offset))

    def lag(self, state: BrokerStatsState, group: int, topic: int | None) -> Answer[BrokerStatsState]:
        """BQ-STATS-GROUP: ``QueueStats``. A topic of None is a field that is not sent."""
        name, broker = GROUPS[group], state.broker
        registered = state.admin.members.get(name)
        elsewhere = [
            one
            for one in broker.topics
            if registered is not None and subscribes_elsewhere(self.rules, registered, one, False)
        ]
        asked = "" if topic is None else topic_name(topic, group)
        return _same(state, group_stats(self.rules, broker, state.admin.gone_on, name, asked, elsewhere))

    def topic_stats(self, state: BrokerStatsState, topic: int) -> Answer[BrokerStatsState]:
        """BQ-STATS-TOPIC, BQ-STATS-QUEUES."""
        return _same(state, consumption.topic_stats(self.rules, state.broker, TOPICS[topic]))

    def consumed_by(self, state: BrokerStatsState, topic: int) -> Answer[BrokerStatsState]:
        """BQ-WHO-TOPIC, BQ-WHO-INDEX."""
        broker, groups = state.broker, state.admin.members
        return _same(state, consumption.consumed_by(self.rules, broker, groups, state.subscribers, TOPICS[topic]))

    def topics_of(self, state: BrokerStatsState, group: int) -> Answer[BrokerStatsState]:
        """BQ-WHO-GROUP."""
        return _same(state, consumption.topics_of(state.broker, GROUPS[group]))

    def time_span(self, state: BrokerStatsState, group: int, topic: int) -> Answer[BrokerStatsState]:
        """BQ-SPAN."""
        return _same(state, consumption.time_span(state.broker, GROUPS[group], topic_name(topic, group)))

    def queue_index(self, state: BrokerStatsState, position: int, count: int) -> Answer[BrokerStatsState]:
        """BQ-INDEX, BQ-INDEX-ZERO."""
        broker = state.broker
        found = consumption.queue_index(self.rules, broker, INDEXED_TOPIC, INDEXED_QUEUE, position, count)
        return _same(state, found)


def topic_name(topic: int, group: int) -> str:
    """A topic of the fixtures, or the retry topic of a group."""
    return RETRY + GROUPS[group] if topic == RETRY_TOPIC else TOPICS[topic]


def _of_admin(state: BrokerStatsState, answer: Answer[BrokerAdminState]) -> Answer[BrokerStatsState]:
    after, result, why = answer
    return state._replace(admin=after), result, why


def _same(state: BrokerStatsState, answer: Answer[object]) -> Answer[BrokerStatsState]:
    return state, answer[1], answer[2]
