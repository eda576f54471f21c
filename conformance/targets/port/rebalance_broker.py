"""The port's rebalance when the broker says which queues a consumer has, to pull from and to pop from."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.compiled import mypyc_attr
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port.rebalance import (
    PULL_EXPIRY,
    Consumer,
    Rebalance,
    of_topic,
    place_of,
    routed,
)
from rocketmq_conformance.conformance.targets.port.start import FIRST, StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.client.fixtures import BROKER, GROUP, QUEUES
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as group
from rocketmq_conformance.suites import rebalance_broker as operations

#: Topic and queue id; -1 stands for all queues.
Popped = tuple[str, int]
#: Where a new group begins to pop.
FROM_FIRST, FROM_LAST = 0, 1
RETRY = "%RETRY%"

_ASK = int(Request.QUERY_ASSIGNMENT)
_SUCCESS = int(Response.SUCCESS)
_NO_FIELDS: dict[str, str] = {}


class Assignment(NamedTuple):
    """The queues of a topic, by their ids."""

    pull: tuple[int, ...]
    pop: tuple[int, ...]


class Begun(NamedTuple):
    """Requests that begin in a round: (queue, offset) and (topic, queue id, where to begin)."""

    pulls: list[tuple[int, int]]
    pops: list[tuple[str, int, int]]


@mypyc_attr(allow_interpreted_subclasses=True)
class PopQueue:
    """A queue that a consumer pops from, from gaining to dropping it."""

    __slots__ = ("dropped", "popped")

    def __init__(self, now: int) -> None:
        self.popped = now
        self.dropped = False


@mypyc_attr(allow_interpreted_subclasses=True)
class AssignedConsumer(Consumer):
    """One member of the group."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        super().__init__(positions, client, mode, where, strategy)
        self.pops: dict[Popped, PopQueue] = {}
        #: What the latest request to pop of each queue belongs to.
        self.pop_requests: dict[Popped, PopQueue] = {}


@mypyc_attr(allow_interpreted_subclasses=True)
class RebalanceBroker(Rebalance):
    """The members of the group, by number; in a cluster they ask the broker, who broadcasts has everything."""

    consumer = AssignedConsumer

    # --- a round ------------------------------------------------------------------------------------------

    def round(self, consumer: AssignedConsumer) -> Result:
        """One round: (pulled, popped, pulls that begin, pops that begin, is it balanced?)."""
        begun = Begun([], [])
        balanced = True
        for topic in self.visited(consumer):
            if topic in consumer.topics:  # now: a topic can come and go on the way
                balanced = self.both(balanced, self.bring(consumer, topic, begun))
        self.give_up_topics(consumer)
        self.give_up_pops(consumer)
        return (
            tuple(sorted(consumer.table)),
            tuple(sorted(consumer.pops)) if consumer.pops else (),
            tuple(sorted(begun.pulls)) if begun.pulls else (),
            tuple(sorted(begun.pops)) if begun.pops else (),
            balanced,
        )

    def visited(self, consumer: AssignedConsumer) -> tuple[str, ...]:
        """Topics that a round may come to, in the order in which it does."""
        return in_order(tuple(consumer.topics))

    def bring(self, consumer: AssignedConsumer, topic: str, begun: Begun) -> bool:
        """One topic; is it balanced?"""
        if consumer.broadcasts:
            return self.rebalance_topic(consumer, topic, begun.pulls)
        given = self.assignment(consumer, topic)
        if given is None:
            return self.unassigned(consumer, topic, begun)
        return self.take_over(consumer, topic, given, begun)

    # --- asking -------------------------------------------------------------------------------------------

    def assignment(self, consumer: AssignedConsumer, topic: str) -> Assignment | None:
        """What the broker assigns; None when nobody says."""
        if topic not in consumer.routes and not self.learn(consumer, topic):
            return None
        asked = encoded(topic, consumer.client, consumer.strategy)
        try:
            code, _, _, body = self.transport.ask(topic, BROKER, _ASK, _NO_FIELDS, False, asked)
        except (NoRouteError, OSError):
            return self.not_assigned()
        return self.read(body) if code == _SUCCESS and body else self.not_assigned()

    def learn(self, consumer: AssignedConsumer, topic: str) -> bool:
        """Ask the name server for the route of a topic."""
        try:
            consumer.routes[topic] = routed(topic, self.transport.route(topic))
        except NoRouteError:
            return False
        return True

    def not_assigned(self) -> Assignment | None:
        """What a refusal and a lost answer mean."""
        return None

    def read(self, body: bytes) -> Assignment | None:
        """The assignment of an answer, None when it has none."""
        return decoded(body)

    def unassigned(self, consumer: AssignedConsumer, topic: str, begun: Begun) -> bool:
        """Nobody says what is assigned: keep what there is; is it balanced?"""
        return False

    # --- taking what is assigned --------------------------------------------------------------------------

    def take_over(self, consumer: AssignedConsumer, topic: str, given: Assignment, begun: Begun) -> bool:
        """Have these queues of a topic and no others; does the consumer then?"""
        if topic in RETRIES:
            self.try_again(consumer, RETRIES[topic], given)
        complete = self.own(consumer, topic, positions(topic, given.pull), begun.pulls)
        if given.pop or consumer.pops:
            self.own_pops(consumer, topic, given.pop, begun)
        return complete or self.has(consumer, topic) == {*given.pull, *given.pop}

    def has(self, consumer: AssignedConsumer, topic: str) -> set[int]:
        """The ids of a topic's queues that the consumer pulls or pops."""
        pulled = {number for number, queue in enumerate(of_topic(topic)) if queue in consumer.table}
        return pulled | {number for named, number in consumer.pops if named == topic}

    def try_again(self, consumer: AssignedConsumer, topic: str, given: Assignment) -> None:
        """Pull what was popped in vain, as long as nothing is popped."""
        if given.pull and not given.pop:
            self.subscribe(consumer, topic)
        elif given.pop and not given.pull:
            self.unsubscribe(consumer, topic)

    def own_pops(self, consumer: AssignedConsumer, topic: str, wanted: tuple[int, ...], begun: Begun) -> None:
        """Pop from these queues of a topic and no others."""
        for queue, owned in list(consumer.pops.items()):
            if queue[0] == topic and (queue[1] not in wanted or self.is_idle(owned)):
                self.lose_pop(consumer, queue)
        for number in wanted:
            if (topic, number) not in consumer.pops:
                self.gain_pop(consumer, (topic, number), begun)

    def is_idle(self, owned: PopQueue) -> bool:
        """Has the loop of pops forgotten a queue?"""
        return self.now - owned.popped > PULL_EXPIRY

    def lose_pop(self, consumer: AssignedConsumer, queue: Popped) -> None:
        """Drop a queue; there is no offset to leave to anybody."""
        self.drop_pop(consumer.pops.pop(queue))

    def drop_pop(self, owned: PopQueue) -> None:
        """Tell the loop of pops that a queue is lost."""
        owned.dropped = True

    def gain_pop(self, consumer: AssignedConsumer, queue: Popped, begun: Begun) -> None:
        """Begin to pop."""
        consumer.pops[queue] = consumer.pop_requests[queue] = PopQueue(self.now)
        begun.pops.append((*queue, self.first_pop(consumer)))

    def first_pop(self, consumer: AssignedConsumer) -> int:
        """Where a new group begins to pop."""
        return FROM_FIRST if consumer.where == FIRST else FROM_LAST

    def give_up_pops(self, consumer: AssignedConsumer) -> None:
        """Drop what is popped of topics that are not subscribed any more."""
        if consumer.pops:
            for queue in [queue for queue in consumer.pops if queue[0] not in consumer.topics]:
                self.lose_pop(consumer, queue)

    # --- the rest -----------------------------------------------------------------------------------------

    def pop(self, consumer: AssignedConsumer, topic: str, queue: int) -> Result:
        """One turn of the loop of pops: does it ask?"""
        request = consumer.pop_requests.get((topic, queue))
        if request is None or request.dropped:
            return False
        request.popped = self.now
        return topic in consumer.topics

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        none, one, two = self.of_none, self.of_one, self.of_two
        return {
            operations.Rebalance: none(self.round),
            operations.Subscribe: one(self.subscribe),
            operations.Unsubscribe: one(self.unsubscribe),
            operations.Pull: one(self.pull),
            operations.Pop: two(self.pop),
            operations.Consume: two(self.consume),
            operations.Update: two(self.update),
            operations.Tick: self.tick,
            group.Join: self.join,
            group.Leave: self.leave,
            group.Persist: none(self.persist),
            group.Refresh: none(self.refresh),
        }


@lru_cache(maxsize=256)
def positions(topic: str, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Queues of a topic by their ids."""
    queues = of_topic(topic)
    return tuple([queues[number] for number in numbers])


def retry_of(topic: str) -> str:
    """Where messages of a topic go that were popped in vain."""
    return f"{RETRY}{GROUP}_{topic}"


#: Such topics by the topics that have them: retry topics have none.
RETRIES = {queue.topic: retry_of(queue.topic) for queue in QUEUES if not queue.topic.startswith(RETRY)}


@lru_cache(maxsize=1024)
def in_order(topics: tuple[str, ...]) -> tuple[str, ...]:
    """Topics, and those that a round may subscribe to on its way, as Java's hash table of 16 bins has them."""
    found = {*topics, *(RETRIES[topic] for topic in topics if topic in RETRIES)}
    return tuple(sorted(found, key=place_of))


@lru_cache(maxsize=256)
def encoded(topic: str, client: str, strategy: str) -> bytes:
    """The body of a request."""
    asked = {
        "clientId": client,
        "consumerGroup": GROUP,
        "messageModel": "CLUSTERING",
        "strategyName": strategy,
        "topic": topic,
    }
    return json.dumps(asked).encode()


@lru_cache(maxsize=1024)
def decoded(body: bytes) -> Assignment | None:
    """The assignment of an answer; what has no queue is nothing, what has no mode is pulled."""
    listed = json.loads(body).get("messageQueueAssignments")
    if listed is None:
        return None
    known = [(one["messageQueue"]["queueId"], one.get("mode")) for one in listed if one.get("messageQueue")]
    return Assignment(
        tuple([number for number, mode in known if mode != "POP"]),
        tuple([number for number, mode in known if mode == "POP"]),
    )


PART = RebalanceBroker
