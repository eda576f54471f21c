"""The port's plain pull consumers: they rebalance and call a listener, and leave pulls and offsets to applications."""

from __future__ import annotations

from contextlib import suppress

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance import LAST, Rebalance
from rocketmq_conformance.conformance.targets.port.routes import routed
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as group
from rocketmq_conformance.suites import rebalance_plain as operations

#: The topics that the application registers.
REGISTERED = ("T", "U")
ListenerCall = tuple[str, tuple[int, ...], tuple[int, ...]]


class ListenerError(Exception):
    """The listener of changed queues failed."""


class PlainConsumer(Consumer):
    """One member of the group."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        super().__init__(positions, client, mode, where, strategy)
        self.topics = [*REGISTERED]
        #: Readable queues by topic, as of the client's last route, subscribed to or not.
        self.client_routes: dict[str, tuple[int, ...]] = {}
        #: The listener calls of the round.
        self.listener_calls: list[ListenerCall] = []


class RebalancePlain(Rebalance):
    """The members of the group, by number."""

    consumer = PlainConsumer
    #: Does the listener fail in the current round?
    fails = False

    def round(self, consumer: PlainConsumer, fails: bool) -> Result:
        """One round: (owned queues, is it balanced?, listener calls)."""
        self.fails = fails
        consumer.listener_calls.clear()
        result = super().rebalance(consumer)
        assert isinstance(result, tuple)
        return result[0], result[2], tuple(sorted(consumer.listener_calls))

    def rebalance_topic(self, consumer: Consumer, topic: str, new_pulls: list[tuple[int, int]]) -> bool:
        """Rebalance one topic; is it balanced?"""
        if topic not in consumer.routes and consumer.broadcasts:
            return self.without_queues(consumer, topic)
        return super().rebalance_topic(consumer, topic, new_pulls)

    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        """A topic without a route: the listener is called with no queues."""
        self.notify_listener(consumer, topic, (), ())
        return True

    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        """Own exactly these queues of a topic, and call the listener on a change."""
        complete = super().own(consumer, topic, wanted, new_pulls)
        if self.moved:
            self.notify_listener(consumer, topic, consumer.routes[topic], wanted)
        return complete

    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: list[tuple[int, int]]) -> None:
        """Own a queue."""
        self.moved = True
        consumer.table[queue] = self.new_queue(offset)

    def notify_listener(self, consumer: Consumer, topic: str, every: tuple[int, ...], mine: tuple[int, ...]) -> None:
        """Call the listener; its errors are caught."""
        with suppress(ListenerError):
            self.call_listener(consumer, topic, every, mine)

    def call_listener(self, consumer: Consumer, topic: str, every: tuple[int, ...], mine: tuple[int, ...]) -> None:
        """Call the listener; ListenerError."""
        assert isinstance(consumer, PlainConsumer)
        consumer.listener_calls.append((topic, tuple(sorted(every)), tuple(sorted(mine))))
        if self.fails:
            raise ListenerError(topic)

    def refresh(self, consumer: Consumer) -> Result:
        """The client fetches the routes of all registered topics, and passes changes on to the consumer."""
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
        """The application decides where a queue starts."""
        return 0

    def is_forgotten(self, owned: OwnedQueue) -> bool:
        """Queues do not expire: the application need not pull."""
        return False

    def start_member(self, member: int, twin: bool, mode: str) -> Result:
        """Start a member."""
        return self.join(member, twin, mode, LAST, "AVG")

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        none, one, two = self.of_none, self.of_one, self.of_two
        return {
            operations.Rebalance: one(self.round),
            operations.Join: self.start_member,
            operations.Subscribe: one(self.subscribe),
            operations.Unsubscribe: one(self.unsubscribe),
            operations.Refresh: none(self.refresh),
            operations.Update: two(self.update),
            operations.Tick: self.tick,
            group.Leave: self.leave,
            group.Persist: none(self.persist),
        }


PART = RebalancePlain
