"""The broker of suite broker-offsets and its relatives: every operation, with topics and groups by index.

The rules are in the modules beside this one; here indexes become names, and nothing else happens.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker import admin, aged_store, filed_store
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.search import earliest_time, instant, max_offset, min_offset, search
from rocketmq_conformance.models.broker.send import send, send_observed
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Topic
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: The indexes behind the topics: the topics of the aged store, and of the one with several files a queue.
AGED_TOPIC = len(TOPICS)
FILED_TOPIC = AGED_TOPIC + 1
TOPIC_NAMES = (*TOPICS, aged_store.TOPIC, filed_store.TOPIC)
_IN_STORE = Reason(("BQ-COM-11", "BQ-QUERY-1"), "in the store from the start")


class BrokerOffsetsModel:
    """A broker's rules for one profile; every method is pure. Topics and groups are indexes of the fixtures."""

    __slots__ = ("rules",)

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)

    def create_topic(self, state: BrokerState, topic: int, queues: int) -> Answer[BrokerState]:
        """BQ-TOPIC-1: None."""
        return admin.create_topic(self.rules, state, TOPICS[topic], Topic.of(queues))

    def delete_topic(self, state: BrokerState, topic: int) -> Answer[BrokerState]:
        """BQ-TOPIC-3: None."""
        return admin.delete_topic(self.rules, state, TOPICS[topic])

    def create_group(self, state: BrokerState, group: int) -> Answer[BrokerState]:
        """BQ-GROUP-1: None."""
        return admin.create_group(self.rules, state, GROUPS[group])

    def delete_group(self, state: BrokerState, group: int, flag: str) -> Answer[BrokerState]:
        """BQ-GROUP-2: None."""
        return admin.delete_group(self.rules, state, GROUPS[group], flag)

    def commit(
        self, state: BrokerState, group: int, topic: int, queue: int | None, offset: int | None
    ) -> Answer[BrokerState]:
        """BQ-UPDATE-*: None, or the error."""
        return commit_offset(self.rules, state, GROUPS[group], TOPIC_NAMES[topic], queue, offset)

    def query(
        self, state: BrokerState, group: int, topic: int, queue: int | None, set_zero: bool | None
    ) -> Answer[BrokerState]:
        """BQ-QUERY-*: the offset, or the error."""
        return query_offset(self.rules, state, GROUPS[group], TOPIC_NAMES[topic], queue, set_zero)

    def query_kept(self, state: BrokerState, queue: int, set_zero: bool | None) -> Answer[BrokerState]:
        """The offset that the aged store holds for a queue of its topic (BQ-COM-11)."""
        after, result, why = query_offset(self.rules, state, aged_store.KEPT_GROUP, aged_store.TOPIC, queue, set_zero)
        return after, result, _IN_STORE if why.rules == ("BQ-QUERY-1",) else why

    def send(self, state: BrokerState, topic: int, queue: int, count: int) -> Answer[BrokerState]:
        """BQ-SEND-1: the offsets of ``count`` messages, or the error. Store times are not observed."""
        return send(self.rules, state, TOPICS[topic], queue, (0,) * count)

    def send_timed(
        self, state: BrokerState, observed: Result, topic: int, queue: int, count: int, apart: bool
    ) -> Answer[BrokerState]:
        """BQ-SEND-1: the (offset, store time) pairs of ``count`` messages, or the error."""
        return send_observed(self.rules, state, observed, TOPICS[topic], queue, count)

    def max(self, state: BrokerState, topic: int, queue: int) -> Answer[BrokerState]:
        """BQ-STORE-MAX."""
        return max_offset(state, TOPIC_NAMES[topic], queue)

    def min(self, state: BrokerState, topic: int, queue: int) -> Answer[BrokerState]:
        """BQ-STORE-MIN."""
        return min_offset(state, TOPIC_NAMES[topic], queue)

    def earliest(self, state: BrokerState, topic: int, queue: int) -> Answer[BrokerState]:
        """BQ-EARLIEST-1, ms since the epoch."""
        return earliest_time(state, TOPIC_NAMES[topic], queue)

    def search(
        self, state: BrokerState, topic: int, queue: int, message: int, delta: int, boundary: str
    ) -> Answer[BrokerState]:
        """BQ-TIME-*: the offset found for the time ``delta`` ms from a message; no ``boundary`` is ""."""
        log = state.logs.get((TOPIC_NAMES[topic], queue), ABSENT)
        timestamp = instant(log, message, delta, aged_store.EPOCH)
        return search(self.rules, state, TOPIC_NAMES[topic], queue, timestamp, boundary)
