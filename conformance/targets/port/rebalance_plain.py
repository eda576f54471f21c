"""The port's plain pull consumers: they own queues, and leave pulling and offsets to their applications."""

from __future__ import annotations

from contextlib import suppress

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.compiled import mypyc_attr
from rocketmq_conformance.conformance.targets.port.rebalance import LAST, Consumer, ProcessQueue, Rebalance, routed
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as group
from rocketmq_conformance.suites import rebalance_plain as operations

#: The topics that the application registers.
REGISTERED = ("T", "U")
Heard = tuple[str, tuple[int, ...], tuple[int, ...]]


class ListenerError(Exception):
    """The listener of changed queues failed."""


@mypyc_attr(allow_interpreted_subclasses=True)
class PlainConsumer(Consumer):
    """One member of the group."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        super().__init__(positions, client, mode, where, strategy)
        self.topics = [*REGISTERED]
        #: Readable queues by topic, as its client last heard of them, whoever was subscribed.
        self.client_routes: dict[str, tuple[int, ...]] = {}
        #: What the listener heard in the round.
        self.heard: list[Heard] = []


@mypyc_attr(allow_interpreted_subclasses=True)
class RebalancePlain(Rebalance):
    """The members of the group, by number."""

    consumer = PlainConsumer
    #: Does the listener fail in the round that is under way?
    fails = False

    def round(self, consumer: PlainConsumer, fails: bool) -> Result:
        """One round: (owned queues, is it balanced?, what the listener heard)."""
        self.fails = fails
        consumer.heard.clear()
        said = super().rebalance(consumer)
        assert isinstance(said, tuple)
        return said[0], said[2], tuple(sorted(consumer.heard))

    def rebalance_topic(self, consumer: Consumer, topic: str, begun: list[tuple[int, int]]) -> bool:
        """One topic; is it balanced?"""
        if topic not in consumer.routes and consumer.broadcasts:
            return self.without_queues(consumer, topic)
        return super().rebalance_topic(consumer, topic, begun)

    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        """Nothing is known of a topic: the listener hears so."""
        self.tell(consumer, topic, (), ())
        return True

    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], begun: list[tuple[int, int]]) -> bool:
        """Own these queues of a topic and no others, and tell when that changed anything."""
        complete = super().own(consumer, topic, wanted, begun)
        if self.moved:
            self.tell(consumer, topic, consumer.routes[topic], wanted)
        return complete

    def begin(self, consumer: Consumer, queue: int, offset: int, begun: list[tuple[int, int]]) -> None:
        """Own a queue."""
        self.moved = True
        consumer.table[queue] = self.new_queue(offset)

    def tell(self, consumer: Consumer, topic: str, every: tuple[int, ...], mine: tuple[int, ...]) -> None:
        """Tell the listener; its failures are its own."""
        with suppress(ListenerError):
            self.call(consumer, topic, every, mine)

    def call(self, consumer: Consumer, topic: str, every: tuple[int, ...], mine: tuple[int, ...]) -> None:
        """Call the listener; ListenerError."""
        assert isinstance(consumer, PlainConsumer)
        consumer.heard.append((topic, tuple(sorted(every)), tuple(sorted(mine))))
        if self.fails:
            raise ListenerError(topic)

    def refresh(self, consumer: Consumer) -> Result:
        """The client asks for the routes of all registered topics, and tells the consumer what is news."""
        assert isinstance(consumer, PlainConsumer)
        for topic in dict.fromkeys((*REGISTERED, *consumer.topics)):
            try:
                route = routed(topic, self.transport.route(topic))
            except NoRouteError:
                continue
            subscribed = topic in consumer.topics
            if consumer.client_routes.get(topic) != route or (subscribed and topic not in consumer.routes):
                consumer.client_routes[topic] = route
                if subscribed:
                    consumer.routes[topic] = route
        return None

    def beginning(self, consumer: Consumer, queue: int) -> int:
        """Where a queue begins is the application's business."""
        return 0

    def is_forgotten(self, owned: ProcessQueue) -> bool:
        """Nobody has to pull a queue."""
        return False

    def begin_plain(self, member: int, twin: bool, mode: str) -> Result:
        """A member begins."""
        return self.join(member, twin, mode, LAST, "AVG")

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        none, one, two = self.of_none, self.of_one, self.of_two
        return {
            operations.Rebalance: one(self.round),
            operations.Join: self.begin_plain,
            operations.Subscribe: one(self.subscribe),
            operations.Unsubscribe: one(self.unsubscribe),
            operations.Refresh: none(self.refresh),
            operations.Update: two(self.update),
            operations.Tick: self.tick,
            group.Leave: self.leave,
            group.Persist: none(self.persist),
        }


PART = RebalancePlain
