"""The port's rebalance: which queues a consumer owns, and what it does when it gains or loses one.

All members of the group live here, so that a plan can say whose turn it is. They share nothing but the transport.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.compiled import mypyc_attr
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port.allocation import Allocation, code_units
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.start import NoStartError, StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError, Transport
from rocketmq_conformance.models.client.fixtures import BROKER, CLIENTS, GROUP, QUEUES, TOPIC_OF
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as operations

LAST = "CONSUME_FROM_LAST_OFFSET"
BROADCASTING = "BROADCASTING"
RETRY_TOPIC = f"%RETRY%{GROUP}"
#: Ms without a pull after which a queue is begun anew.
PULL_EXPIRY = 120_000

_LIST = int(Request.GET_CONSUMER_LIST_BY_GROUP)
_GROUP = {"consumerGroup": GROUP}
_SUCCESS = int(Response.SUCCESS)
_POSITIONS = {queue: at for at, queue in enumerate(QUEUES)}


@mypyc_attr(allow_interpreted_subclasses=True)
class ProcessQueue:
    """A queue that a consumer owns, from gaining to dropping it."""

    __slots__ = ("dropped", "offset", "pulled")

    def __init__(self, offset: int, now: int) -> None:
        self.offset = offset
        self.pulled = now
        self.dropped = False


@mypyc_attr(allow_interpreted_subclasses=True)
class Consumer:
    """One member of the group. Queues are given by their position in the layout."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        self.positions = positions
        self.store = positions.store
        self.client = client
        self.broadcasts = mode == BROADCASTING
        self.where = where
        self.strategy = strategy
        self.topics = ["T", "U"] if self.broadcasts else ["T", "U", RETRY_TOPIC]
        #: Was a topic given up since the last round?
        self.gave_up = False
        #: Readable queues by topic, as far as the name server was asked.
        self.routes: dict[str, tuple[int, ...]] = {}
        self.table: dict[int, ProcessQueue] = {}
        #: The process queue that the latest pull request of each queue belongs to.
        self.requests: dict[int, ProcessQueue] = {}
        #: The process queues that listeners are busy with.
        self.taken: dict[int, ProcessQueue] = {}


@mypyc_attr(allow_interpreted_subclasses=True)
class Rebalance:
    """The members of the group, by number."""

    consumer: type[Consumer] = Consumer
    #: Did queues of the topic come or go that the round is at?
    moved = False

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.allocator = Allocation()
        self.strategies = {"AVG": self.allocator.averagely, "AVG_BY_CIRCLE": self.allocator.by_circle}
        #: Shares that are remembered: groups change rarely.
        self.shares: dict[tuple[str, str, tuple[int, ...], tuple[str, ...]], tuple[int, ...]] = {}
        #: What members are made of outlives them: making it takes longer than emptying it.
        self.places = [StartPosition(transport) for _ in CLIENTS]
        self.members: list[Consumer | None] = [None for _ in CLIENTS]
        self.now = 0

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.forget()

    def forget(self) -> None:
        """Begin a case: three members, at time 0."""
        self.now = 0
        for member in range(len(CLIENTS)):
            self.join(member, False, "CLUSTERING", LAST, "AVG")

    # --- a round ------------------------------------------------------------------------------------------

    def rebalance(self, consumer: Consumer) -> Result:
        """One round: (owned queues, pull requests that begin, is it balanced?)."""
        begun: list[tuple[int, int]] = []
        balanced = True
        for topic in consumer.topics:
            balanced = self.both(balanced, self.rebalance_topic(consumer, topic, begun))
        self.give_up_topics(consumer)
        return tuple(sorted(consumer.table)), tuple(sorted(begun)), balanced

    def both(self, balanced: bool, topic: bool) -> bool:
        """A round is balanced when every topic is."""
        return balanced and topic

    def rebalance_topic(self, consumer: Consumer, topic: str, begun: list[tuple[int, int]]) -> bool:
        """One topic; is it balanced?"""
        queues = consumer.routes.get(topic)
        if consumer.broadcasts:
            if queues is None:
                return self.without_route(consumer, topic)
            return self.own(consumer, topic, self.everything(queues), begun)
        if not queues:
            return self.without_queues(consumer, topic)
        ids = self.listed(topic)
        if not ids:
            return self.without_list(consumer, topic)
        return self.own(consumer, topic, self.divided(consumer, topic, queues, ids), begun)

    def divided(self, consumer: Consumer, topic: str, queues: tuple[int, ...], ids: tuple[str, ...]) -> tuple[int, ...]:
        """The consumer's share of a topic, as its strategy says."""
        key = consumer.strategy, consumer.client, queues, ids
        mine = self.shares.get(key)
        if mine is None:
            mine = self.shares[key] = self.share(*key)
        return mine

    def everything(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        """The queues of a broadcasting consumer."""
        return queues

    def without_route(self, consumer: Consumer, topic: str) -> bool:
        """A broadcasting consumer knows nothing of a topic: keep what there is."""
        return True

    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        """Nothing is known of a topic: keep what there is."""
        return True

    def without_list(self, consumer: Consumer, topic: str) -> bool:
        """Nobody says who the members are: keep what there is."""
        return True

    def listed(self, topic: str) -> tuple[str, ...] | None:
        """The group's members, as a broker of the topic lists them; None when it does not."""
        try:
            code, _, _, body = self.transport.ask(topic, BROKER, _LIST, _GROUP)
        except (NoRouteError, OSError):
            return self.not_listed()
        return ids_of(body) if code == _SUCCESS and body else self.refused()

    def not_listed(self) -> tuple[str, ...] | None:
        """What a lost answer means."""
        return None

    def refused(self) -> tuple[str, ...] | None:
        """What it means when the broker answers no list."""
        return None

    def share(self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]) -> tuple[int, ...]:
        """The share that a client has of a topic."""
        divide = self.strategies[strategy]
        ordered = tuple([QUEUES[at] for at in self.in_queue_order(queues)])
        return tuple([_POSITIONS[queue] for queue in divide(client, ordered, self.in_id_order(ids))])  # type: ignore[index]

    def in_queue_order(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        """The queues of a topic as every member sorts them; a route gives them by their ids."""
        return queues

    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        """Client ids as every member sorts them."""
        return tuple(sorted(ids, key=code_units))

    # --- gaining and losing queues ------------------------------------------------------------------------

    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], begun: list[tuple[int, int]]) -> bool:
        """Own these queues of a topic and no others; does the consumer then?"""
        self.moved = False
        table = consumer.table
        for queue in of_topic(topic) if table else ():
            owned = table.get(queue)
            if owned is None:
                continue
            if queue not in wanted:
                self.lose(consumer, queue)
            elif self.is_forgotten(owned):
                self.renew(consumer, queue)
        complete = True
        missing: list[int] = []
        for queue in wanted:
            owned = table.get(queue)
            if owned is None:
                missing.append(queue)
            elif owned.dropped:
                complete = False
        if missing:
            self.gain_all(consumer, missing, begun)
            complete = complete and all(map(table.__contains__, missing))
        return complete

    def is_forgotten(self, owned: ProcessQueue) -> bool:
        """Has the pull loop forgotten a queue?"""
        return self.now - owned.pulled > PULL_EXPIRY

    def renew(self, consumer: Consumer, queue: int) -> None:
        """A queue that nobody pulls is lost, to be gained again."""
        self.lose(consumer, queue)

    def lose(self, consumer: Consumer, queue: int) -> None:
        """Drop a queue."""
        self.moved = True
        self.drop(consumer.table.pop(queue))
        self.hand_over(consumer, queue)

    def drop(self, owned: ProcessQueue) -> None:
        """Tell whoever still works on a queue that it is lost."""
        owned.dropped = True

    def hand_over(self, consumer: Consumer, queue: int) -> None:
        """Leave the offset to the next owner."""
        consumer.store.persist(queue)
        consumer.store.remove(queue)

    def gain_all(self, consumer: Consumer, queues: list[int], begun: list[tuple[int, int]]) -> None:
        """Begin the queues of a topic that are missing."""
        for queue in queues:
            self.gain(consumer, queue, begun)

    def gain(self, consumer: Consumer, queue: int, begun: list[tuple[int, int]]) -> None:
        """Begin a queue, unless nobody knows where."""
        self.clean(consumer, queue)
        try:
            offset = self.beginning(consumer, queue)
        except NoStartError:
            return self.not_begun(consumer, queue, begun)
        return self.begin(consumer, queue, offset, begun)

    def clean(self, consumer: Consumer, queue: int) -> None:
        """Forget what memory holds of a queue from an earlier time."""
        consumer.store.remove(queue)

    def beginning(self, consumer: Consumer, queue: int) -> int:
        """Where a queue begins; NoStartError."""
        return consumer.positions.push(queue, consumer.where, None, "")

    def not_begun(self, consumer: Consumer, queue: int, begun: list[tuple[int, int]]) -> None:
        """A queue without a beginning is left for the next round."""

    def begin(self, consumer: Consumer, queue: int, offset: int, begun: list[tuple[int, int]]) -> None:
        """Own a queue and pull from an offset on."""
        self.moved = True
        consumer.table[queue] = consumer.requests[queue] = self.new_queue(offset)
        begun.append((queue, offset))

    def new_queue(self, offset: int) -> ProcessQueue:
        """What is kept of a queue that is owned from now on."""
        return ProcessQueue(offset, self.now)

    def give_up_topics(self, consumer: Consumer) -> None:
        """Drop the queues of topics that are not subscribed any more."""
        if not consumer.gave_up:
            return
        consumer.gave_up = False
        for queue in [queue for queue in consumer.table if TOPIC_OF[queue] not in consumer.topics]:
            self.give_up(consumer, queue)

    def give_up(self, consumer: Consumer, queue: int) -> None:
        """Drop a queue of such a topic; its offset is nobody's business."""
        self.drop(consumer.table.pop(queue))

    # --- the rest of a consumer's life --------------------------------------------------------------------

    def join(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """A member begins; whatever it was before is gone."""
        positions = self.places[member]
        positions.forget()
        client = CLIENTS[(member + twin) % len(CLIENTS)]
        consumer = self.members[member] = self.consumer(positions, client, mode, where, strategy)
        self.refresh(consumer)
        return None

    def leave(self, member: int) -> Result:
        """A member shuts down."""
        consumer = self.members[member]
        if consumer is not None:
            self.persist(consumer)
            self.members[member] = None
        return None

    def persist(self, consumer: Consumer) -> Result:
        """Send the offsets of the owned queues."""
        return consumer.store.persist_all(self.persisted(consumer))

    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        """The queues whose offsets a timer sends."""
        return tuple(consumer.table)

    def subscribe(self, consumer: Consumer, topic: str) -> Result:
        """Consume a topic from the next round on."""
        if topic not in consumer.topics:
            consumer.topics.append(topic)
        return None

    def unsubscribe(self, consumer: Consumer, topic: str) -> Result:
        """Give a topic up in the next round."""
        if topic in consumer.topics:
            consumer.topics.remove(topic)
            consumer.gave_up = True
        return None

    def refresh(self, consumer: Consumer) -> Result:
        """Ask the name server for the routes of all topics."""
        for topic in consumer.topics:
            try:
                consumer.routes[topic] = routed(topic, self.transport.route(topic))
            except NoRouteError:
                self.lost_route(consumer, topic)
        return None

    def lost_route(self, consumer: Consumer, topic: str) -> None:
        """What is known stays known without a route."""

    def pull(self, consumer: Consumer, queue: int) -> Result:
        """One turn of the pull loop: the offset that it asks for."""
        request = consumer.requests.get(queue)
        if request is None or request.dropped:
            return None
        request.pulled = self.now
        return request.offset if QUEUES[queue].topic in consumer.topics else None

    def take(self, consumer: Consumer, queue: int) -> Result:
        """A listener takes messages of a queue."""
        owned = consumer.table.get(queue)
        if owned is not None:
            consumer.taken[queue] = owned
        return owned is not None

    def finish(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """The listener is done; what memory holds then."""
        taken = consumer.taken.pop(queue, None)
        if taken is not None:
            self.result(consumer, queue, taken, offset)
        return self.remembered(consumer, queue)

    def consume(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """A listener takes messages and is done at once."""
        owned = consumer.table.get(queue)
        if owned is not None:
            self.result(consumer, queue, owned, offset)
        return self.remembered(consumer, queue)

    def result(self, consumer: Consumer, queue: int, owned: ProcessQueue, offset: int) -> None:
        """Remember where to go on, unless the queue was lost in the meantime."""
        if not owned.dropped:
            consumer.store.update(queue, offset, True)

    def remembered(self, consumer: Consumer, queue: int) -> int:
        """The offset in memory."""
        entry = consumer.store.table.get(queue)
        return NO_OFFSET if entry is None else entry.offset

    def update(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """The application sets an offset."""
        return consumer.store.update(queue, offset, False)

    def tick(self, millis: int) -> Result:
        """Time passes."""
        self.now += millis
        return None

    # --- operations ---------------------------------------------------------------------------------------

    def of_none(self, do: Callable[..., Result]) -> Callable[..., Result]:
        """An operation of a member without arguments."""

        def call(member: int) -> Result:
            consumer = self.members[member]
            return None if consumer is None else do(consumer)

        return call

    def of_one(self, do: Callable[..., Result]) -> Callable[..., Result]:
        """An operation of a member with one argument."""

        def call(member: int, one: object) -> Result:
            consumer = self.members[member]
            return None if consumer is None else do(consumer, one)

        return call

    def of_two(self, do: Callable[..., Result]) -> Callable[..., Result]:
        """An operation of a member with two arguments."""

        def call(member: int, one: object, other: object) -> Result:
            consumer = self.members[member]
            return None if consumer is None else do(consumer, one, other)

        return call

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        none, one, two = self.of_none, self.of_one, self.of_two
        return {
            operations.Rebalance: none(self.rebalance),
            operations.Join: self.join,
            operations.Leave: self.leave,
            operations.Persist: none(self.persist),
            operations.Subscribe: one(self.subscribe),
            operations.Unsubscribe: one(self.unsubscribe),
            operations.Refresh: none(self.refresh),
            operations.Pull: one(self.pull),
            operations.Consume: two(self.consume),
            operations.Take: one(self.take),
            operations.Finish: two(self.finish),
            operations.Update: two(self.update),
            operations.Tick: self.tick,
        }


@lru_cache(maxsize=256)
def ids_of(body: bytes) -> tuple[str, ...]:
    """The client ids of a member list."""
    return tuple(json.loads(body)["consumerIdList"])


@lru_cache(maxsize=256)
def readable(route: bytes) -> int:
    """How many queues a route has to read from."""
    return sum(data["readQueueNums"] for data in json.loads(route)["queueDatas"] if data["perm"] & 4)


@lru_cache(maxsize=256)
def routed(topic: str, route: bytes) -> tuple[int, ...]:
    """The queues of a topic that its route has to read from."""
    return of_topic(topic)[: readable(route)]


@lru_cache(maxsize=256)
def of_topic(topic: str) -> tuple[int, ...]:
    """The queues of a topic, by their ids."""
    return tuple(at for at, queue in enumerate(QUEUES) if queue.topic == topic)


def place_of(topic: str) -> int:
    """Where Java's hash table of 16 bins has a topic."""
    value = 0
    for letter in topic.encode("latin-1"):
        value = 31 * value + letter & 0xFFFF_FFFF
    return (value ^ value >> 16) & 15


PART = Rebalance
