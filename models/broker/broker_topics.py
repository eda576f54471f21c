"""The broker of suite broker-topics: topics whose read and written queues differ, permissions, and disabled groups.

This is how operators shrink a topic: first fewer queues are written, then, once the others are consumed, fewer are
read. What is refused on the way, and what is not, is in the modules beside this one; here indexes become names. Store
times are not observed: a search is for a time before or after all of them.
"""

from __future__ import annotations

from functools import cache

from rocketmq_conformance.models.broker import admin
from rocketmq_conformance.models.broker.broker_admin import BrokerAdminModel, BrokerAdminState, of_broker
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS
from rocketmq_conformance.models.broker.reset import ResetRequest
from rocketmq_conformance.models.broker.search import search
from rocketmq_conformance.models.broker.send import inherit, send, send_anywhere
from rocketmq_conformance.models.broker.state import READ, Topic
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.rule import Answer, Reason, Rule

#: A store time that stands for all of them, and times before and after all of them (ms since the epoch).
STORED_AT, BEGINNING, END = 1_000_000_000_000, 0, 4_000_000_000_000

RULES = (
    Rule(
        "BQ-TOPIC-APART",
        "Commits, queries, min, max and searches look neither at the numbers of queues nor at the permission of the "
        "topic, nor whether the group is disabled: a queue that cannot be pulled from is answered as ever.",
        "ConsumerManageProcessor#processRequest, AdminBrokerProcessor#processRequest @ 4.0.0, 4.9.7, 5.3.3",
    ),
)


class BrokerTopicsModel(BrokerAdminModel):
    """The rules of suite broker-topics; every method is pure. Topics and groups are indexes of the fixtures."""

    __slots__ = ()

    def set_topic(
        self, state: BrokerAdminState, topic: int, read: int, write: int, perm: int
    ) -> Answer[BrokerAdminState]:
        """BQ-TOPIC-RW: None."""
        settings = Topic(read, write, perm)
        return of_broker(state, admin.create_topic(self.rules, state.broker, TOPICS[topic], settings))

    def topic_queues(self, state: BrokerAdminState, topic: int) -> Answer[BrokerAdminState]:
        """BQ-STATS-QUEUES: the number of queues, or the error."""
        return of_broker(state, admin.topic_queues(self.rules, state.broker, TOPICS[topic]))

    def set_pop_topic(self, state: BrokerAdminState, group: int, topic: int) -> Answer[BrokerAdminState]:
        """BQ-TOPIC-1: None."""
        name = admin.pop_retry_topic(GROUPS[group], TOPICS[topic])
        return of_broker(state, admin.create_topic(self.rules, state.broker, name, Topic.of(1)))

    def pop_queues(self, state: BrokerAdminState, group: int, topic: int) -> Answer[BrokerAdminState]:
        """BQ-STATS-QUEUES, BQ-TOPIC-POP: the number of queues, or the error."""
        name = admin.pop_retry_topic(GROUPS[group], TOPICS[topic])
        return of_broker(state, admin.topic_queues(self.rules, state.broker, name))

    def set_group(self, state: BrokerAdminState, group: int, enabled: bool) -> Answer[BrokerAdminState]:
        """BQ-GROUP-ENABLE: None."""
        return of_broker(state, admin.create_group(self.rules, state.broker, GROUPS[group], enabled))

    def send(self, state: BrokerAdminState, topic: int, queue: int, count: int) -> Answer[BrokerAdminState]:
        """BQ-SEND-1, BQ-SEND-BOUNDS: the offsets of ``count`` messages, or the error."""
        return of_broker(state, send(self.rules, state.broker, TOPICS[topic], queue, (STORED_AT,) * count))

    def send_new(self, state: BrokerAdminState, topic: int, default: int, queues: int) -> Answer[BrokerAdminState]:
        """BQ-TOPIC-INHERIT, BQ-SEND-1, BQ-SEND-BOUNDS: the offset of a message in queue 0, or the error."""
        broker, inherited = inherit(self.rules, state.broker, TOPICS[topic], TOPICS[default], queues)
        broker, offsets, why = send(self.rules, broker, TOPICS[topic], 0, (STORED_AT,))
        if inherited is not None:
            why = _inherited(why, inherited)
        return of_broker(state, (broker, offsets, why))

    def send_anywhere(self, state: BrokerAdminState, observed: Result, topic: int) -> Answer[BrokerAdminState]:
        """BQ-SEND-ANY: the (queue, offset) of a message, or the error."""
        return of_broker(state, send_anywhere(self.rules, state.broker, observed, TOPICS[topic], STORED_AT))

    def pull_most(
        self, state: BrokerAdminState, group: int, topic: int, queue: int, offset: int, most: int, commit: int | None
    ) -> Answer[BrokerAdminState]:
        """BQ-PULL-*: (response code's name, next offset, offsets of the messages found), or the error."""
        return self.pull(state, group, topic, queue, offset, commit, most)

    def commit(
        self, state: BrokerAdminState, group: int, topic: int, queue: int | None, offset: int | None
    ) -> Answer[BrokerAdminState]:
        """BQ-UPDATE-*, BQ-TOPIC-APART."""
        return _with_apart(state, super().commit(state, group, topic, queue, offset), topic, queue, group)

    def query(
        self, state: BrokerAdminState, group: int, topic: int, queue: int | None, set_zero: bool | None
    ) -> Answer[BrokerAdminState]:
        """BQ-QUERY-*, BQ-TOPIC-APART."""
        return _with_apart(state, super().query(state, group, topic, queue, set_zero), topic, queue, group)

    def max(self, state: BrokerAdminState, topic: int, queue: int) -> Answer[BrokerAdminState]:
        """BQ-STORE-MAX, BQ-TOPIC-APART."""
        return _with_apart(state, super().max(state, topic, queue), topic, queue)

    def min(self, state: BrokerAdminState, topic: int, queue: int) -> Answer[BrokerAdminState]:
        """BQ-STORE-MIN, BQ-TOPIC-APART."""
        return _with_apart(state, of_broker(state, self.broker.min(state.broker, topic, queue)), topic, queue)

    def search_end(self, state: BrokerAdminState, topic: int, queue: int, timestamp: int) -> Answer[BrokerAdminState]:
        """BQ-TIME-*, BQ-TOPIC-APART: the offset for a time before or after all messages."""
        answer = search(self.rules, state.broker, TOPICS[topic], queue, timestamp)
        return _with_apart(state, of_broker(state, answer), topic, queue)

    def reset_topic(self, state: BrokerAdminState, group: int, topic: int, timestamp: int) -> Answer[BrokerAdminState]:
        """BQ-RESET-QUEUES: all queues, by force, to a time before all messages or, by a negative one, to max."""
        return self.reset(state, ResetRequest(GROUPS[group], TOPICS[topic], timestamp))


def _with_apart(
    state: BrokerAdminState, answer: Answer[BrokerAdminState], topic: int, queue: int | None, group: int | None = None
) -> Answer[BrokerAdminState]:
    """The answer, with BQ-TOPIC-APART as a reason where a pull of the queue would be refused."""
    settings = state.broker.topics.get(TOPICS[topic])
    if settings is None or queue is None:
        return answer
    if group is not None and GROUPS[group] in state.broker.disabled:
        kind = "disabled group"
    elif not settings.perm & READ:
        kind = "no permission to read"
    elif settings.read_queues <= queue < settings.write_queues:
        kind = "queue not read"
    else:
        return answer
    return answer[0], answer[1], _apart(answer[2], kind)


@cache
def _inherited(why: Reason, inherited: Reason) -> Reason:
    """The same reason, and that of the topic that was made; one object for each."""
    return Reason((*why.rules, *inherited.rules), f"{why.kind}, {inherited.kind}")


@cache
def _apart(why: Reason, kind: str) -> Reason:
    """The same reason, and the one for which a pull is refused; one object for each."""
    return Reason((*why.rules, "BQ-TOPIC-APART"), f"{why.kind}, {kind}")
