"""The port's reaction to a changed allocation: listener calls, heartbeats, and cache thresholds per queue."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port.group_member import RETRY_TOPIC, Consumer
from rocketmq_conformance.conformance.targets.port.rebalance import LAST, Rebalance
from rocketmq_conformance.conformance.targets.port.routes import place_of
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as group
from rocketmq_conformance.suites import rebalance_changed as operations
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP

#: The application has not limited a topic.
NO_LIMIT = -1

_HEARTBEAT = int(Request.HEART_BEAT)
_SUCCESS = int(Response.SUCCESS)
#: The header field of a broker that supports heartbeats without subscriptions.
_UNDERSTANDS = "IS_SUPPORT_HEART_BEAT_V2"


class ListenerError(Exception):
    """The listener of changed queues failed."""


class ReportedChange(NamedTuple):
    """A change of a topic's queues, as it was reported to brokers and the listener."""

    topic: str
    beat: bool
    #: The arguments of the listener: all queues, and those of the consumer.
    queues: tuple[tuple[int, ...], tuple[int, ...]] | None


class ChangedConsumer(Consumer):
    """One member of the group."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        super().__init__(positions, client, mode, where, strategy)
        #: Thresholds of a topic, in messages and in MiB.
        self.limits = (NO_LIMIT, NO_LIMIT)
        #: Thresholds of each queue.
        self.thresholds = (1000, 100)
        #: Versions of the subscriptions by topic, in ms.
        self.versions: dict[str, int] = {}
        #: May heartbeats be brief?
        self.brief = False
        #: The topics that the broker knows from a heartbeat, sorted, if it supports brief ones.
        self.known: tuple[str, ...] | None = None
        #: Topics whose latest version was not yet sent to the brokers.
        self.unsent_topics: set[str] = set()
        #: Changes of the round, by topic.
        self.changes: dict[str, ReportedChange] = {}


class RebalanceChanged(Rebalance):
    """The members of the group, by number."""

    consumer = ChangedConsumer
    #: Does the listener fail in the current round?
    fails = False
    #: The topic that the application unsubscribes from while its queues are allocated.
    given_up = ""

    # --- a round ------------------------------------------------------------------------------------------

    def round(self, consumer: ChangedConsumer, fails: bool, given_up: str) -> Result:
        """One round: (owned queues, is it balanced?, thresholds of a queue, changes)."""
        self.fails, self.given_up = fails, given_up
        consumer.changes.clear()
        balanced = True
        for topic in in_order(tuple(consumer.topics)):  # the order matters: thresholds depend on it
            balanced = self.is_round_balanced(balanced, self.rebalance_one(consumer, topic))
        self.give_up_topics(consumer)
        by_topic = consumer.changes
        changes = tuple([tuple(by_topic[topic]) for topic in sorted(by_topic)])
        return tuple(sorted(consumer.table)), balanced, consumer.thresholds, changes

    def rebalance_one(self, consumer: ChangedConsumer, topic: str) -> bool:
        """Rebalance one topic; is it balanced? An error of the listener is caught."""
        try:
            return self.rebalance_topic(consumer, topic, [])
        except ListenerError:
            return self.failed(topic)

    def failed(self, topic: str) -> bool:
        """Is a topic balanced whose listener failed?"""
        return topic == RETRY_TOPIC

    def without_route(self, consumer: Consumer, topic: str) -> bool:
        """A broadcasting consumer without a route reports it like every other."""
        return self.without_queues(consumer, topic)

    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        """A topic without a route."""
        assert isinstance(consumer, ChangedConsumer)
        return self.no_known_queues(consumer, topic)

    def no_known_queues(self, consumer: ChangedConsumer, topic: str) -> bool:
        """A topic has no known queues."""
        if topic != RETRY_TOPIC:
            self.changed(consumer, topic, ())
        return True

    def divided(
        self, consumer: Consumer, topic: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        """The consumer's share; the application may unsubscribe from the topic meanwhile."""
        if topic == self.given_up:
            self.unsubscribe(consumer, topic)
        return Rebalance.divided(self, consumer, topic, queues, ids)

    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        """Own exactly these queues of a topic, and report a change."""
        complete = Rebalance.own(self, consumer, topic, wanted, new_pulls)
        if not self.moved:
            return complete
        assert isinstance(consumer, ChangedConsumer)
        return self.changed(consumer, topic, wanted) and complete

    # --- reporting ----------------------------------------------------------------------------------------

    def changed(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> bool:
        """Handle a change of a topic's queues: is the topic balanced? ListenerError."""
        if topic not in consumer.topics:
            return self.not_subscribed(consumer, topic)
        self.renew_version(consumer, topic)
        self.divide(consumer, topic)
        self.send_full_heartbeat(consumer)
        self.call_listener(consumer, topic, mine)
        return True

    def not_subscribed(self, consumer: ChangedConsumer, topic: str) -> bool:
        """The queues of an unsubscribed topic changed."""
        return False

    def renew_version(self, consumer: ChangedConsumer, topic: str) -> None:
        """Renew the subscription's version: brokers keep the subscription with the highest one."""
        consumer.versions[topic] = self.now
        consumer.unsent_topics.add(topic)

    def send_full_heartbeat(self, consumer: ChangedConsumer) -> None:
        """Send a full heartbeat with the changed subscriptions."""
        consumer.known = None
        self.heartbeat(consumer)

    def call_listener(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> None:
        """Call the listener; ListenerError."""
        queues = consumer.routes.get(topic, ()), mine
        consumer.changes[topic] = ReportedChange(topic, topic not in consumer.unsent_topics, queues)
        consumer.unsent_topics.discard(topic)
        if self.fails:
            raise ListenerError(topic)

    # --- thresholds ---------------------------------------------------------------------------------------

    def divide(self, consumer: ChangedConsumer, topic: str) -> None:
        """Divide the thresholds of a topic among the queues."""
        count = self.counted(consumer, topic)
        if count:
            consumer.thresholds = (
                self.quotient(consumer.limits[0], count, consumer.thresholds[0]),
                self.quotient(consumer.limits[1], count, consumer.thresholds[1]),
            )

    def counted(self, consumer: ChangedConsumer, topic: str) -> int:
        """Queues that share the thresholds: those of all topics."""
        return len(consumer.table)

    def quotient(self, limit: int, count: int, before: int) -> int:
        """The threshold of each queue, when so many share one."""
        return before if limit == NO_LIMIT else max(1, limit // count)

    def limit(self, consumer: ChangedConsumer, messages: int, size: int) -> Result:
        """The application sets the thresholds of topics."""
        consumer.limits = messages, size
        return None

    # --- heartbeats ---------------------------------------------------------------------------------------

    def subscribe_with_heartbeat(self, consumer: ChangedConsumer, topic: str) -> Result:
        """Subscribe, and send a heartbeat at once."""
        self.subscribe(consumer, topic)
        return self.heartbeat(consumer)

    def beat(self, consumer: ChangedConsumer) -> Result:
        """The heartbeat timer."""
        return self.heartbeat(consumer)

    def heartbeat(self, consumer: ChangedConsumer) -> Result:
        """Send a heartbeat: (is it brief?, the topics sent), None when no broker is known."""
        if not consumer.routes:
            return None
        topics = tuple(sorted(consumer.topics))
        brief = self.is_known(consumer, topics)
        sent = () if brief else topics
        body = heartbeat_text(
            consumer.client, consumer.broadcasts, sent, tuple(map(consumer.versions.get, sent)), brief
        )
        if not brief:
            consumer.unsent_topics.clear()
        try:
            code, _, fields, _ = self.transport.ask(next(iter(consumer.routes)), BROKER, _HEARTBEAT, {}, body=body)
        except (NoRouteError, OSError):
            return brief, sent
        if code == _SUCCESS and consumer.brief and fields.get(_UNDERSTANDS) == "true":
            consumer.known = topics
        return brief, sent

    def is_known(self, consumer: ChangedConsumer, topics: tuple[str, ...]) -> bool:
        """Does the broker know these subscriptions?"""
        return consumer.known == topics

    # --- the rest -----------------------------------------------------------------------------------------

    def start_member(self, member: int, mode: str, brief: bool) -> Result:
        """A member begins."""
        self.join(member, False, mode, LAST, "AVG")
        consumer = self.members[member]
        assert isinstance(consumer, ChangedConsumer)
        consumer.brief = brief
        return None

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        none, one, two = self.of_none, self.of_one, self.of_two
        return {
            operations.Rebalance: two(self.round),
            operations.Join: self.start_member,
            operations.Limit: two(self.limit),
            operations.Beat: none(self.beat),
            operations.Subscribe: one(self.subscribe_with_heartbeat),
            operations.Tick: self.tick,
            group.Unsubscribe: one(self.unsubscribe),
            group.Refresh: none(self.refresh),
        }


@lru_cache(maxsize=256)
def in_order(topics: tuple[str, ...]) -> tuple[str, ...]:
    """Topics as Java's hash table of 16 bins has them."""
    return tuple(sorted(topics, key=place_of))


@lru_cache(maxsize=1024)
def heartbeat_text(
    client: str, broadcasts: bool, topics: tuple[str, ...], versions: tuple[int | None, ...], brief: bool
) -> bytes:
    """The body of a heartbeat."""
    subscriptions = [
        {"topic": topic, "subString": "*", "tagsSet": [], "codeSet": [], "subVersion": version or 0}
        for topic, version in zip(topics, versions, strict=True)
    ]
    consumer = {
        "groupName": GROUP,
        "consumeType": "CONSUME_PASSIVELY",
        "messageModel": "BROADCASTING" if broadcasts else "CLUSTERING",
        "consumeFromWhere": LAST,
        "subscriptionDataSet": subscriptions,
        "unitMode": False,
    }
    return json.dumps(
        {"clientID": client, "producerDataSet": [], "consumerDataSet": [consumer], "withoutSub": brief}
    ).encode()


PART = RebalanceChanged
