"""What the port's consumers do when a round changed their queues: whom they tell, and how much they cache of each."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.compiled import mypyc_attr
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port.rebalance import LAST, RETRY_TOPIC, Consumer, Rebalance, place_of
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.client.fixtures import BROKER, GROUP
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as group
from rocketmq_conformance.suites import rebalance_changed as operations

#: The application has not limited a topic.
NO_LIMIT = -1

_HEARTBEAT = int(Request.HEART_BEAT)
_SUCCESS = int(Response.SUCCESS)
#: What a broker says that understands heartbeats without subscriptions.
_UNDERSTANDS = "IS_SUPPORT_HEART_BEAT_V2"


class ListenerError(Exception):
    """The listener of changed queues failed."""


class Told(NamedTuple):
    """A change of a topic, as it was told."""

    topic: str
    beat: bool
    #: What the listener heard: all queues and those of the consumer.
    heard: tuple[tuple[int, ...], tuple[int, ...]] | None


@mypyc_attr(allow_interpreted_subclasses=True)
class ChangedConsumer(Consumer):
    """One member of the group."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        super().__init__(positions, client, mode, where, strategy)
        #: Thresholds of a topic, in messages and in MiB.
        self.limits = (NO_LIMIT, NO_LIMIT)
        #: The same of each queue.
        self.thresholds = (1000, 100)
        #: Versions of the subscriptions by topic, in ms.
        self.versions: dict[str, int] = {}
        #: May heartbeats be brief?
        self.brief = False
        #: The topics that the broker has heard of, sorted, if it understands brief heartbeats.
        self.known: tuple[str, ...] | None = None
        #: Topics whose latest version has not gone to the brokers.
        self.news: set[str] = set()
        #: Changes of the round, by topic.
        self.told: dict[str, Told] = {}


@mypyc_attr(allow_interpreted_subclasses=True)
class RebalanceChanged(Rebalance):
    """The members of the group, by number."""

    consumer = ChangedConsumer
    #: Does the listener fail in the round that is under way?
    fails = False
    #: The topic that the application gives up while its queues are divided.
    given_up = ""

    # --- a round ------------------------------------------------------------------------------------------

    def round(self, consumer: ChangedConsumer, fails: bool, given_up: str) -> Result:
        """One round: (owned queues, is it balanced?, thresholds of a queue, changes)."""
        self.fails, self.given_up = fails, given_up
        consumer.told.clear()
        balanced = True
        for topic in in_order(tuple(consumer.topics)):  # the order tells, as thresholds depend on it
            balanced = self.both(balanced, self.bring(consumer, topic))
        self.give_up_topics(consumer)
        told = consumer.told
        changes = tuple([tuple(told[topic]) for topic in sorted(told)])
        return tuple(sorted(consumer.table)), balanced, consumer.thresholds, changes

    def bring(self, consumer: ChangedConsumer, topic: str) -> bool:
        """One topic; is it balanced? A failure of the listener is its own."""
        try:
            return self.rebalance_topic(consumer, topic, [])
        except ListenerError:
            return self.failed(topic)

    def failed(self, topic: str) -> bool:
        """Is a topic balanced whose listener failed?"""
        return topic == RETRY_TOPIC

    def without_route(self, consumer: Consumer, topic: str) -> bool:
        """A broadcasting consumer hears of unknown queues like every other."""
        return self.without_queues(consumer, topic)

    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        """Nothing is known of a topic."""
        assert isinstance(consumer, ChangedConsumer)
        return self.nothing_known(consumer, topic)

    def nothing_known(self, consumer: ChangedConsumer, topic: str) -> bool:
        """There are no queues of a topic that anybody knows of."""
        if topic != RETRY_TOPIC:
            self.changed(consumer, topic, ())
        return True

    def divided(self, consumer: Consumer, topic: str, queues: tuple[int, ...], ids: tuple[str, ...]) -> tuple[int, ...]:
        """The share; the application may give the topic up meanwhile."""
        if topic == self.given_up:
            self.unsubscribe(consumer, topic)
        return Rebalance.divided(self, consumer, topic, queues, ids)

    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], begun: list[tuple[int, int]]) -> bool:
        """Own these queues of a topic and no others, and tell when that changed anything."""
        complete = Rebalance.own(self, consumer, topic, wanted, begun)
        if not self.moved:
            return complete
        assert isinstance(consumer, ChangedConsumer)
        return self.changed(consumer, topic, wanted) and complete

    # --- telling ------------------------------------------------------------------------------------------

    def changed(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> bool:
        """The queues of a topic changed: is that in order? ListenerError."""
        if topic not in consumer.topics:
            return self.gone(consumer, topic)
        self.renew_version(consumer, topic)
        self.divide(consumer, topic)
        self.greet(consumer)
        self.tell(consumer, topic, mine)
        return True

    def gone(self, consumer: ChangedConsumer, topic: str) -> bool:
        """The queues of a topic changed that is not subscribed any more."""
        return False

    def renew_version(self, consumer: ChangedConsumer, topic: str) -> None:
        """Brokers take the subscription with the highest version."""
        consumer.versions[topic] = self.now
        consumer.news.add(topic)

    def greet(self, consumer: ChangedConsumer) -> None:
        """Tell the brokers of changed subscriptions."""
        consumer.known = None
        self.heartbeat(consumer)

    def tell(self, consumer: ChangedConsumer, topic: str, mine: tuple[int, ...]) -> None:
        """Tell the listener; ListenerError."""
        heard = consumer.routes.get(topic, ()), mine
        consumer.told[topic] = Told(topic, topic not in consumer.news, heard)
        consumer.news.discard(topic)
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
        """What each of so many queues has of a threshold."""
        return before if limit == NO_LIMIT else max(1, limit // count)

    def limit(self, consumer: ChangedConsumer, messages: int, size: int) -> Result:
        """The application limits topics."""
        consumer.limits = messages, size
        return None

    # --- heartbeats ---------------------------------------------------------------------------------------

    def subscribe_and_tell(self, consumer: ChangedConsumer, topic: str) -> Result:
        """Subscribe, and tell the brokers at once."""
        self.subscribe(consumer, topic)
        return self.heartbeat(consumer)

    def beat(self, consumer: ChangedConsumer) -> Result:
        """The timer."""
        return self.heartbeat(consumer)

    def heartbeat(self, consumer: ChangedConsumer) -> Result:
        """Tell the brokers of the subscriptions: (is it brief?, the topics told), None when no broker is known."""
        if not consumer.routes:
            return None
        topics = tuple(sorted(consumer.topics))
        brief = self.is_known(consumer, topics)
        told = () if brief else topics
        body = heartbeat_text(
            consumer.client, consumer.broadcasts, told, tuple(map(consumer.versions.get, told)), brief
        )
        if not brief:
            consumer.news.clear()
        try:
            code, _, said, _ = self.transport.ask(next(iter(consumer.routes)), BROKER, _HEARTBEAT, {}, body=body)
        except (NoRouteError, OSError):
            return brief, told
        if code == _SUCCESS and consumer.brief and said.get(_UNDERSTANDS) == "true":
            consumer.known = topics
        return brief, told

    def is_known(self, consumer: ChangedConsumer, topics: tuple[str, ...]) -> bool:
        """Has the broker heard of these subscriptions?"""
        return consumer.known == topics

    # --- the rest -----------------------------------------------------------------------------------------

    def begin_anew(self, member: int, mode: str, brief: bool) -> Result:
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
            operations.Join: self.begin_anew,
            operations.Limit: two(self.limit),
            operations.Beat: none(self.beat),
            operations.Subscribe: one(self.subscribe_and_tell),
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
