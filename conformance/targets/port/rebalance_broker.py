"""The port's rebalance by the broker, which assigns queues to pull from and queues to pop from."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.rebalance import PULL_EXPIRY, Rebalance
from rocketmq_conformance.conformance.targets.port.routes import of_topic, place_of, routed
from rocketmq_conformance.conformance.targets.port.start import FIRST, StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as group
from rocketmq_conformance.suites import rebalance_broker as operations
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY

#: Topic and queue id; -1 stands for all queues.
Popped = tuple[str, int]
#: Where a new group starts to pop.
FROM_FIRST, FROM_LAST = 0, 1
RETRY = "%RETRY%"

_ASK = int(Request.QUERY_ASSIGNMENT)
_SUCCESS = int(Response.SUCCESS)
_NO_FIELDS: dict[str, str] = {}


class Assignment(NamedTuple):
    """The queues of a topic, by their ids."""

    pull: tuple[int, ...]
    pop: tuple[int, ...]


class NewRequests(NamedTuple):
    """Requests dispatched in a round: (queue, offset) and (topic, queue id, where to start)."""

    pulls: list[tuple[int, int]]
    pops: list[tuple[str, int, int]]


class PopQueue:
    """A queue that a consumer pops from, from gaining to dropping it."""

    __slots__ = ("dropped", "popped")

    def __init__(self, now: int) -> None:
        self.popped = now
        self.dropped = False


class AssignedConsumer(Consumer):
    """One member of the group."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        super().__init__(positions, client, mode, where, strategy)
        self.pops: dict[Popped, PopQueue] = {}
        #: The pop queue that the latest pop request of each queue belongs to.
        self.pop_requests: dict[Popped, PopQueue] = {}


class RebalanceBroker(Rebalance):
    """The members of the group, by number. Clustering members ask the broker; broadcasting members own every queue."""

    consumer = AssignedConsumer

    # --- a round ------------------------------------------------------------------------------------------

    def round(self, consumer: AssignedConsumer) -> Result:
        """One round: (pulled, popped, pulls that begin, pops that begin, is it balanced?)."""
        new_requests = NewRequests([], [])
        balanced = True
        for topic in self.topics_in_order(consumer):
            if topic in consumer.topics:  # now: a topic can come and go on the way
                balanced = self.is_round_balanced(balanced, self.rebalance_one(consumer, topic, new_requests))
        self.give_up_topics(consumer)
        self.give_up_pops(consumer)
        return (
            tuple(sorted(consumer.table)),
            tuple(sorted(consumer.pops)) if consumer.pops else (),
            tuple(sorted(new_requests.pulls)) if new_requests.pulls else (),
            tuple(sorted(new_requests.pops)) if new_requests.pops else (),
            balanced,
        )

    def topics_in_order(self, consumer: AssignedConsumer) -> tuple[str, ...]:
        """The topics of a round, in its order."""
        return in_order(tuple(consumer.topics))

    def rebalance_one(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        """Rebalance one topic; is it balanced?"""
        if consumer.broadcasts:
            return self.rebalance_topic(consumer, topic, new_requests.pulls)
        given = self.assignment(consumer, topic)
        if given is None:
            return self.unassigned(consumer, topic, new_requests)
        return self.take_over(consumer, topic, given, new_requests)

    # --- asking -------------------------------------------------------------------------------------------

    def assignment(self, consumer: AssignedConsumer, topic: str) -> Assignment | None:
        """The broker's assignment; None when it gives none."""
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
        """The request was refused, or timed out."""
        return None

    def read(self, body: bytes) -> Assignment | None:
        """The assignment in a response, None without one."""
        return decoded(body)

    def unassigned(self, consumer: AssignedConsumer, topic: str, new_requests: NewRequests) -> bool:
        """The assignment is unknown: keep the queues owned so far; is it balanced?"""
        return False

    # --- taking what is assigned --------------------------------------------------------------------------

    def take_over(self, consumer: AssignedConsumer, topic: str, given: Assignment, new_requests: NewRequests) -> bool:
        """Own exactly the assigned queues of a topic; did that succeed?"""
        if topic in RETRIES:
            self.try_again(consumer, RETRIES[topic], given)
        complete = self.own(consumer, topic, positions(topic, given.pull), new_requests.pulls)
        if given.pop or consumer.pops:
            self.own_pops(consumer, topic, given.pop, new_requests)
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

    def own_pops(
        self, consumer: AssignedConsumer, topic: str, wanted: tuple[int, ...], new_requests: NewRequests
    ) -> None:
        """Pop from these queues of a topic and no others."""
        for queue, owned in list(consumer.pops.items()):
            if queue[0] == topic and (queue[1] not in wanted or self.is_idle(owned)):
                self.lose_pop(consumer, queue)
        for number in wanted:
            if (topic, number) not in consumer.pops:
                self.gain_pop(consumer, (topic, number), new_requests)

    def is_idle(self, owned: PopQueue) -> bool:
        """Has the pop loop not asked for the queue for too long?"""
        return self.now - owned.popped > PULL_EXPIRY

    def lose_pop(self, consumer: AssignedConsumer, queue: Popped) -> None:
        """Drop a queue; there is no offset to hand over."""
        self.drop_pop(consumer.pops.pop(queue))

    def drop_pop(self, owned: PopQueue) -> None:
        """Mark a pop queue as dropped, for the pop loop."""
        owned.dropped = True

    def gain_pop(self, consumer: AssignedConsumer, queue: Popped, new_requests: NewRequests) -> None:
        """Start to pop from a queue."""
        consumer.pops[queue] = consumer.pop_requests[queue] = PopQueue(self.now)
        new_requests.pops.append((*queue, self.first_pop(consumer)))

    def first_pop(self, consumer: AssignedConsumer) -> int:
        """Where a new group starts to pop."""
        return FROM_FIRST if consumer.where == FIRST else FROM_LAST

    def give_up_pops(self, consumer: AssignedConsumer) -> None:
        """Drop the pop queues of unsubscribed topics."""
        if consumer.pops:
            for queue in [queue for queue in consumer.pops if queue[0] not in consumer.topics]:
                self.lose_pop(consumer, queue)

    # --- the rest -----------------------------------------------------------------------------------------

    def pop(self, consumer: AssignedConsumer, topic: str, queue: int) -> Result:
        """One turn of the pop loop: does it send a request?"""
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
            operations.Join: self.join,
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
    """The retry topic of messages that were popped and not acknowledged."""
    return f"{RETRY}{GROUP}_{topic}"


#: Such topics by the topics that have them: retry topics have none.
RETRIES = {queue.topic: retry_of(queue.topic) for queue in ORDINARY.queues if not queue.topic.startswith(RETRY)}


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
    """The assignment in a response body; entries without a queue are ignored, those without a mode are pulled."""
    listed = json.loads(body).get("messageQueueAssignments")
    if listed is None:
        return None
    known = [(one["messageQueue"]["queueId"], one.get("mode")) for one in listed if one.get("messageQueue")]
    return Assignment(
        tuple([number for number, mode in known if mode != "POP"]),
        tuple([number for number, mode in known if mode == "POP"]),
    )


PART = RebalanceBroker
