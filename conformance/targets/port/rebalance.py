"""The port's client-side rebalance: allocates queues to consumers, and starts and drops their pull loops.

All members of the group are in one object, so that a plan can choose whose turn it is. They share only the transport.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port.allocation import (
    Allocation,
    Ids,
    IllegalArgumentError,
    Queues,
    code_units,
)
from rocketmq_conformance.conformance.targets.port.file_store import MemberStore, Offsets
from rocketmq_conformance.conformance.targets.port.group_member import BROADCASTING, Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.routes import ids_of, of_topic, routed
from rocketmq_conformance.conformance.targets.port.start import NoStartError, StartPosition
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError, Transport
from rocketmq_conformance.models.client.member_settings import MEMBER_TIMESTAMP, VIRTUAL_NODES
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

LAST = "CONSUME_FROM_LAST_OFFSET"
CONFIG = "CONFIG"
#: Ms without a pull after which a queue expires and is started again.
PULL_EXPIRY = 120_000

_LIST = int(Request.GET_CONSUMER_LIST_BY_GROUP)
_GROUP = {"consumerGroup": GROUP}
_SUCCESS = int(Response.SUCCESS)


class Rebalance:
    """The members of the group, by number."""

    consumer: type[Consumer] = Consumer
    #: Did the round change the queues of the current topic?
    moved = False

    def __init__(self, transport: Transport, topology: Topology = ORDINARY) -> None:
        self.transport = transport
        self.topology, self.queues, self.topic_of = topology, topology.queues, topology.topic_of
        #: The readable queues of a topic by its route, and all of its queues.
        ordinary = topology is ORDINARY  # whose look-ups are not to hash it each time
        self.routed_queues: Callable[[str, bytes], tuple[int, ...]]
        self.routed_queues = routed if ordinary else partial(routed, topology=topology)
        self.of_topic: Callable[[str], tuple[int, ...]] = of_topic if ordinary else partial(of_topic, topology=topology)
        allocator = self.allocator = Allocation()
        configured = tuple([topology.queues[at] for at in topology.configured])
        self.strategies: dict[str, Callable[[str, Queues, Ids], Queues]] = {
            "AVG": self.allocator.averagely,
            "AVG_BY_CIRCLE": self.allocator.by_circle,
            CONFIG: lambda me, queues, ids: allocator.by_config(me, queues, ids, configured),
            "MACHINE_ROOM": lambda me, queues, ids: allocator.by_machine_room(me, queues, ids, topology.allowed_rooms),
            "CONSISTENT_HASH": lambda me, queues, ids: allocator.by_consistent_hash(me, queues, ids, VIRTUAL_NODES),
            "MACHINE_ROOM_NEARBY": self.nearby,
        }
        #: Shares that are cached: groups change rarely.
        self.shares: dict[tuple[str, str, tuple[int, ...], tuple[str, ...]], tuple[int, ...] | None] = {}
        #: What members are made of outlives them: making it takes longer than emptying it.
        self.places = [StartPosition(transport, topology) for _ in topology.clients]
        self.members: list[Consumer | None] = [None for _ in topology.clients]
        self.now = 0
        #: The offsets in the files of broadcasting members, by client id.
        self.files: dict[str, Offsets] = {}

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.forget()

    def forget(self) -> None:
        """Begin a case: three members, at time 0."""
        self.now = 0
        self.files.clear()
        for member in range(len(self.topology.clients)):
            self.join(member, False, "CLUSTERING", LAST, "AVG")

    # --- a round ------------------------------------------------------------------------------------------

    def rebalance(self, consumer: Consumer) -> Result:
        """One round: (owned queues, pull requests that begin, is it balanced?)."""
        new_pulls: list[tuple[int, int]] = []
        balanced = True
        for topic in consumer.topics:
            balanced = self.is_round_balanced(balanced, self.rebalance_topic(consumer, topic, new_pulls))
        self.give_up_topics(consumer)
        return tuple(sorted(consumer.table)), tuple(sorted(new_pulls)), balanced

    def is_round_balanced(self, balanced: bool, topic: bool) -> bool:
        """A round is balanced when every topic is."""
        return balanced and topic

    def rebalance_topic(self, consumer: Consumer, topic: str, new_pulls: list[tuple[int, int]]) -> bool:
        """Rebalance one topic; is it balanced?"""
        queues = consumer.routes.get(topic)
        if consumer.broadcasts:
            if queues is None:
                return self.without_route(consumer, topic)
            return self.own(consumer, topic, self.everything(queues), new_pulls)
        if not queues:
            return self.without_queues(consumer, topic)
        ids = self.listed(topic)
        if not ids:
            return self.without_list(consumer, topic)
        wanted = self.divided(consumer, topic, queues, ids)
        if wanted is None:
            return self.without_share(consumer, topic)
        complete = self.own(consumer, topic, wanted, new_pulls)
        return complete and (consumer.strategy != CONFIG or self.is_of(topic, wanted))

    def is_of(self, topic: str, wanted: tuple[int, ...]) -> bool:
        """Are all configured queues queues of the topic? Those of another one keep it from being balanced."""
        return all(self.topic_of[queue] == topic for queue in wanted)

    def divided(
        self, consumer: Consumer, topic: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        """The consumer's share of a topic, as its strategy says; None when that refuses."""
        key = consumer.strategy, consumer.client, queues, ids
        try:
            return self.shares[key]
        except KeyError:
            share = self.shares[key] = self.share(*key)
            return share

    def everything(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        """The queues of a broadcasting consumer."""
        return queues

    def without_route(self, consumer: Consumer, topic: str) -> bool:
        """A broadcasting consumer without a route: keep the queues owned so far."""
        return True

    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        """A topic without a route: keep the queues owned so far."""
        return True

    def without_list(self, consumer: Consumer, topic: str) -> bool:
        """The members are unknown: keep the queues owned so far."""
        return True

    def without_share(self, consumer: Consumer, topic: str) -> bool:
        """The strategy refused: keep the queues owned so far."""
        return False

    def listed(self, topic: str) -> tuple[str, ...] | None:
        """The group's members, as a broker of the topic lists them; None when it does not."""
        try:
            code, _, _, body = self.transport.ask(topic, self.topology.brokers[0], _LIST, _GROUP)
        except (NoRouteError, OSError):
            return self.not_listed()
        return ids_of(body) if code == _SUCCESS and body else self.refused()

    def not_listed(self) -> tuple[str, ...] | None:
        """The member list timed out."""
        return None

    def refused(self) -> tuple[str, ...] | None:
        """The broker refused to list the members."""
        return None

    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        """A client's share of a topic; None when the strategy refuses."""
        ordered = tuple([self.queues[at] for at in self.in_queue_order(queues)])
        try:
            mine = self.strategies[strategy](client, ordered, self.in_id_order(ids))
        except IllegalArgumentError:
            return None
        return tuple([self.queues.index(queue) for queue in mine])

    def nearby(self, me: str, queues: Queues, ids: Ids) -> Queues:
        """Strategy MACHINE_ROOM_NEARBY, to which a queue's room goes by its id."""
        housed = {
            (topic, f"{self.topology.queue_rooms[at % 2]}@{broker}", at): (topic, broker, at)
            for topic, broker, at in queues
        }
        return tuple([housed[queue] for queue in self.allocator.nearby(me, tuple(housed), ids, "AVG")])

    def in_queue_order(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        """The queues of a topic as every member sorts them; a route gives them by their brokers and ids."""
        return queues

    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        """Client ids as every member sorts them."""
        return tuple(sorted(ids, key=code_units))

    # --- gaining and losing queues ------------------------------------------------------------------------

    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        """Own exactly these queues of a topic; did that succeed?"""
        self.moved = False
        table = consumer.table
        for queue in self.of_topic(topic) if table else ():
            if queue not in table:
                continue
            if queue not in wanted:
                self.lose(consumer, queue)
            elif self.is_forgotten(table[queue]):
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
            self.gain_all(consumer, missing, new_pulls)
            complete = complete and all(map(table.__contains__, missing))
        return complete

    def is_forgotten(self, owned: OwnedQueue) -> bool:
        """Has the pull loop forgotten a queue?"""
        return self.now - owned.pulled > PULL_EXPIRY

    def renew(self, consumer: Consumer, queue: int) -> None:
        """Drop a queue that is no longer pulled, so that it is gained again."""
        self.lose(consumer, queue)

    def lose(self, consumer: Consumer, queue: int) -> None:
        """Drop a queue."""
        self.moved = True
        self.drop(consumer.table.pop(queue))
        self.hand_over(consumer, queue)

    def drop(self, owned: OwnedQueue) -> None:
        """Mark a process queue as dropped, for the loops and listeners that still use it."""
        owned.dropped = True

    def hand_over(self, consumer: Consumer, queue: int) -> None:
        """Leave the offset to the next owner."""
        consumer.store.persist(queue)
        consumer.store.remove(queue)

    def gain_all(self, consumer: Consumer, queues: list[int], new_pulls: list[tuple[int, int]]) -> None:
        """Start the missing queues of a topic."""
        for queue in queues:
            self.gain(consumer, queue, new_pulls)

    def gain(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        """Start a queue, unless its start offset is unknown."""
        self.clean(consumer, queue)
        try:
            offset = self.beginning(consumer, queue)
        except NoStartError:
            return self.without_start(consumer, queue, new_pulls)
        return self.begin(consumer, queue, offset, new_pulls)

    def clean(self, consumer: Consumer, queue: int) -> None:
        """Remove a queue's old offset from memory."""
        consumer.store.remove(queue)

    def beginning(self, consumer: Consumer, queue: int) -> int:
        """The start offset of a queue; NoStartError."""
        return consumer.positions.push(queue, consumer.where, MEMBER_TIMESTAMP, "UTC")

    def without_start(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        """A queue without a start offset is left for the next round."""

    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: list[tuple[int, int]]) -> None:
        """Own a queue, and dispatch a pull request from an offset on."""
        self.moved = True
        consumer.table[queue] = consumer.requests[queue] = self.new_queue(offset)
        new_pulls.append((queue, offset))

    def new_queue(self, offset: int) -> OwnedQueue:
        """A new process queue."""
        return OwnedQueue(offset, self.now)

    def give_up_topics(self, consumer: Consumer) -> None:
        """Drop the queues of unsubscribed topics; configured queues come back with every round."""
        if not consumer.gave_up and consumer.strategy != CONFIG:
            return
        consumer.gave_up = False
        for queue in [queue for queue in consumer.table if self.topic_of[queue] not in consumer.topics]:
            self.give_up(consumer, queue)

    def give_up(self, consumer: Consumer, queue: int) -> None:
        """Drop a queue of an unsubscribed topic, without handing over its offset."""
        self.drop(consumer.table.pop(queue))

    # --- the rest of a consumer's life --------------------------------------------------------------------

    def join(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """Start a member, replacing the previous one."""
        client = self.topology.clients[(member + twin) % len(self.topology.clients)]
        positions = self.places[member]
        self.open_store(positions, client, mode == BROADCASTING)
        consumer = self.members[member] = self.consumer(positions, client, mode, where, strategy)
        self.refresh(consumer)
        return None

    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        """The offset store of a new consumer, by its message model."""
        if broadcasts:
            positions.broadcast(MemberStore(self.files, client))
        else:
            positions.forget()

    def restart(self, member: int) -> Result:
        """A member's process ends, and begins again."""
        consumer = self.members[member]
        if consumer is None:
            return None
        mode = BROADCASTING if consumer.broadcasts else "CLUSTERING"
        return self.join(
            member, consumer.client != self.topology.clients[member], mode, consumer.where, consumer.strategy
        )

    def leave(self, member: int) -> Result:
        """Shut a member down."""
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
        """Subscribe to a topic, from the next round on, whose order is that of Java's hash table."""
        if topic not in consumer.topics:
            consumer.topics = [
                known for known in self.topology.topic_queues if known == topic or known in consumer.topics
            ]
        return None

    def unsubscribe(self, consumer: Consumer, topic: str) -> Result:
        """Unsubscribe from a topic; the next round drops its queues."""
        if topic in consumer.topics:
            consumer.topics.remove(topic)
            consumer.gave_up = True
        return None

    def refresh(self, consumer: Consumer) -> Result:
        """Ask the name server for the routes of all topics."""
        for topic in consumer.topics:
            try:
                consumer.routes[topic] = self.routed_queues(topic, self.transport.route(topic))
            except NoRouteError:
                self.lost_route(consumer, topic)
        return None

    def lost_route(self, consumer: Consumer, topic: str) -> None:
        """No route: keep the known one."""

    def pull(self, consumer: Consumer, queue: int) -> Result:
        """One turn of the pull loop: (offset that it asks for, offset to commit, is it to be committed?)."""
        request = consumer.requests.get(queue)
        if request is None or request.dropped:
            return None
        request.pulled = self.now
        return self.asked(consumer, queue, request.offset) if self.topic_of[queue] in consumer.topics else None

    def asked(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """A pull request: it also commits what is in memory, unless the offsets are in a file."""
        held = 0 if self.keeps_file(consumer) else self.remembered(consumer, queue)
        return offset, held, held > 0

    def keeps_file(self, consumer: Consumer) -> bool:
        """Are the consumer's offsets in a file?"""
        return consumer.broadcasts

    def take(self, consumer: Consumer, queue: int) -> Result:
        """A listener takes messages of a queue."""
        owned = consumer.table.get(queue)
        if owned is not None:
            consumer.taken[queue] = owned
        return owned is not None

    def finish(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """The listener finishes: the offset in memory afterwards."""
        taken = consumer.taken.pop(queue, None)
        if taken is not None:
            self.result(consumer, queue, taken, offset)
        return self.remembered(consumer, queue)

    def consume(self, consumer: Consumer, queue: int, offset: int) -> Result:
        """A listener consumes messages at once."""
        owned = consumer.table.get(queue)
        if owned is not None:
            self.result(consumer, queue, owned, offset)
        return self.remembered(consumer, queue)

    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        """Update the offset in memory, unless the queue was dropped in the meantime."""
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
            operations.JoinLaterStrategy: self.join,
            operations.Restart: self.restart,
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


PART = Rebalance
