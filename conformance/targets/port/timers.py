"""The port's timers: a client asks for routes, sends heartbeats and persists offsets, for all consumers of its id."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError, Transport
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import timers as operations
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY, OTHER_GROUP, TOPIC

CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
PUSH, ORDERLY, PULL, LITE = "push", "orderly", "pull", "lite pull"
ROUTE, BEAT, PERSIST, LOCK = "route", "heartbeat", "persist", "lock"
#: When each timer comes first, and then every so often (ms).
FIRST = {ROUTE: 10, BEAT: 1_000, PERSIST: 10_000, LOCK: 1_000}
EVERY = {ROUTE: 30_000, BEAT: 30_000, PERSIST: 5_000}
LOCK_EVERY = 20_000
NO_OFFSET = -1
GROUPS = (GROUP, OTHER_GROUP)
_CLIENT = ORDINARY.clients[1]

Event = tuple[str, tuple[Value, ...]]


class Timer:
    """Something that comes again and again, from a first time on (ms)."""

    def __init__(self, first: int, every: int) -> None:
        self.due = first
        self.every = every


class Consumer:
    """A consumer that runs."""

    def __init__(self, group: str, kind: str, mode: str) -> None:
        self.group = group
        self.kind = kind
        self.mode = mode
        #: The timers that lock its queues: also the service for popped messages has one.
        self.locks: list[Timer] = []
        #: Does it know its route, and does it own its queue?
        self.routed = False
        self.owns = False
        self.offset = NO_OFFSET

    def topics(self) -> list[str]:
        """What it has subscribed to."""
        if self.kind in (PUSH, ORDERLY) and self.mode == CLUSTERING:
            return [RETRY + self.group, TOPIC]
        return [TOPIC]

    def holds_locks(self) -> bool:
        """Does it lock its queues?"""
        return self.kind == ORDERLY and self.mode == CLUSTERING and self.owns


class Client:
    """What the consumers share: the timers, by name."""

    def __init__(self, timers: dict[str, Timer]) -> None:
        self.timers = timers
        self.knows_broker = False


class Timers:
    """A process with two consumers of one client id."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.forget()

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.forget()

    def forget(self) -> None:
        """No consumer runs, and nothing was written."""
        self.now = 0
        self.intervals = dict(EVERY)
        self.client: Client | None = None
        self.consumers: dict[int, Consumer] = {}
        #: The offsets of the files, by group.
        self.files: dict[str, int] = {}
        #: What was sent and written in this step.
        self.events: list[Event] = []

    def taken(self) -> tuple[Event, ...]:
        """What was sent and written since the last look."""
        events, self.events = tuple(self.events), []
        return events

    # --- starting and ending ------------------------------------------------------------------------------

    def configure(self, persist: int, heartbeat: int, route: int) -> Result:
        """The intervals of the next consumers."""
        self.intervals = {ROUTE: route, BEAT: heartbeat, PERSIST: persist}
        return None

    def start(self, number: int, kind: str, mode: str) -> Result:
        """Start a consumer."""
        if number in self.consumers:
            return ()
        consumer = Consumer(GROUPS[number], kind, mode)
        self.join(consumer)
        self.consumers[number] = consumer
        if kind == ORDERLY and mode == CLUSTERING:
            consumer.locks = self.lock_timers()
        self.announce(consumer)
        return self.taken()

    def start_lite(self, number: int, mode: str) -> Result:
        """Start a lite pull consumer."""
        return self.start(number, LITE, mode)

    def join(self, consumer: Consumer) -> None:
        """The client begins with its first consumer."""
        if self.client is None:
            self.client = self.begun_client()

    def begun_client(self) -> Client:
        """A client whose timers begin."""
        return Client({name: Timer(self.now + self.first(name), every) for name, every in self.intervals.items()})

    def first(self, name: str) -> int:
        """How long after its beginning a timer comes first (ms)."""
        return FIRST[name]

    def lock_timers(self) -> list[Timer]:
        """The timers that lock queues, of a consumer that starts."""
        return [Timer(self.now + FIRST[LOCK], LOCK_EVERY) for _ in range(2)]

    def announce(self, consumer: Consumer) -> None:
        """What a start sends at once."""
        if consumer.kind != PULL:
            self.ask_routes(consumer.topics())
        if consumer.kind in (PUSH, ORDERLY):
            self.beat()

    def shutdown(self, number: int) -> Result:
        """Shut a consumer down."""
        consumer = self.consumers.get(number)
        if consumer is None:
            return ()
        self.end(consumer)
        del self.consumers[number]
        if not self.consumers:
            self.end_client()
        return self.taken()

    def end(self, consumer: Consumer) -> None:
        """What an end sends, in order."""
        self.release(consumer)
        self.persist(consumer)
        self.leave(consumer)

    def end_client(self) -> None:
        """The timers end with the last consumer."""
        self.client = None

    # --- what is sent -------------------------------------------------------------------------------------

    def send(self, code: Request, ext: dict[str, str], body: Any = None, one_way: bool = False) -> tuple[int, Any]:
        """A request to the broker: its code and header fields."""
        text = b"" if body is None else json.dumps(body).encode()
        with suppress(NoRouteError, OSError):
            answered, _, fields, _ = self.transport.ask(TOPIC, BROKER, int(code), ext, one_way, text)
            return answered, fields
        return int(Response.SYSTEM_ERROR), {}

    def ask_routes(self, topics: list[str]) -> None:
        """Ask the name server for routes."""
        for topic in topics:
            with suppress(NoRouteError, OSError):
                self.transport.route(topic)
        self.events.append((ROUTE, tuple(sorted(topics))))
        if self.client is not None:
            self.client.knows_broker = True
        for consumer in self.consumers.values():
            consumer.routed = True

    def beat(self) -> None:
        """Send a heartbeat for all groups."""
        groups = sorted(consumer.group for consumer in self.consumers.values())
        self.send_beat(groups)

    def send_beat(self, groups: list[str]) -> None:
        """Send a heartbeat for these groups."""
        consumers = [{"groupName": group, "subscriptionDataSet": []} for group in groups]
        self.send(Request.HEART_BEAT, {}, {"clientID": _CLIENT, "consumerDataSet": consumers, "producerDataSet": []})
        self.events.append((BEAT, tuple(groups)))

    def persist(self, consumer: Consumer) -> None:
        """Persist a consumer's offsets."""
        if not consumer.owns:
            return
        if consumer.mode == BROADCASTING:
            self.write(consumer)
        elif consumer.offset != NO_OFFSET:
            self.commit(consumer, True)

    def write(self, consumer: Consumer) -> None:
        """Merge an offset into the consumer's file."""
        if consumer.offset != NO_OFFSET:
            self.files[consumer.group] = consumer.offset
        self.events.append(("file", (consumer.group, self.files.get(consumer.group, NO_OFFSET))))

    def commit(self, consumer: Consumer, one_way: bool) -> None:
        """Commit an offset."""
        ext = {**_header(consumer), "commitOffset": str(consumer.offset)}
        self.send(Request.UPDATE_CONSUMER_OFFSET, ext, one_way=one_way)
        self.events.append(("commit", (consumer.group, consumer.offset, one_way)))

    def lock(self, consumer: Consumer) -> None:
        """Lock the consumer's queues again."""
        self.send(Request.LOCK_BATCH_MQ, {}, _locked(consumer))
        self.events.append((LOCK, (consumer.group,)))

    def release(self, consumer: Consumer) -> None:
        """Unlock the consumer's queues."""
        if consumer.holds_locks():
            self.unlock(consumer, False)

    def unlock(self, consumer: Consumer, one_way: bool) -> None:
        """Send a request to unlock."""
        self.send(Request.UNLOCK_BATCH_MQ, {}, _locked(consumer), one_way)
        self.events.append(("unlock", (consumer.group, one_way)))

    def leave(self, consumer: Consumer) -> None:
        """Unregister at the broker, if it is known."""
        if self.client is not None and self.client.knows_broker:
            self.send(Request.UNREGISTER_CLIENT, {"clientID": _CLIENT, "consumerGroup": consumer.group})
            self.events.append(("unregister", (consumer.group,)))

    # --- queues and offsets -------------------------------------------------------------------------------

    def rebalance(self) -> Result:
        """Consumers that know their route take their queue."""
        for consumer in self.consumers.values():
            if consumer.routed and not consumer.owns:
                self.take(consumer)
        return None

    def take(self, consumer: Consumer) -> None:
        """Own the queue, and keep in memory the offset that it begins at, if it is looked for."""
        if consumer.kind == ORDERLY and consumer.mode == CLUSTERING:
            self.send(Request.LOCK_BATCH_MQ, {}, _locked(consumer))
        consumer.owns = True
        consumer.offset = NO_OFFSET if consumer.kind == PULL else self.stored(consumer)

    def stored(self, consumer: Consumer) -> int:
        """The offset at the broker, or in the file."""
        if consumer.mode == BROADCASTING:
            return self.files.get(consumer.group, NO_OFFSET)
        code, fields = self.send(Request.QUERY_CONSUMER_OFFSET, _header(consumer))
        return int(fields["offset"]) if code == Response.SUCCESS else NO_OFFSET

    def update(self, number: int, offset: int) -> Result:
        """The offset changes in memory."""
        consumer = self.consumers.get(number)
        if consumer is None or not consumer.owns:
            return False
        consumer.offset = offset
        return True

    # --- time ---------------------------------------------------------------------------------------------

    def elapse(self, elapses: int) -> Result:
        """The timers come."""
        began, until = self.now, self.now + elapses
        found: list[tuple[int, str, Any]] = []
        while (due := min(self.pending(), key=_due, default=None)) is not None and due[0].due <= until:
            timer, name, consumer = due
            self.now = timer.due
            self.run(name, consumer)
            timer.due = self.next(timer, name)
            found.extend((self.now - began, *event) for event in self.taken())
        self.now = until
        return tuple(sorted(found))

    def next(self, timer: Timer, name: str) -> int:
        """When a timer that came comes again."""
        return timer.due + timer.every

    def pending(self) -> list[tuple[Timer, str, Consumer | None]]:
        """All timers: with their name and, of a consumer's, the consumer."""
        found: list[tuple[Timer, str, Consumer | None]] = []
        if self.client is not None:
            found.extend((timer, name, None) for name, timer in self.client.timers.items())
        for consumer in self.consumers.values():
            found.extend((timer, LOCK, consumer) for timer in consumer.locks)
        return found

    def run(self, name: str, consumer: Consumer | None) -> None:
        """A timer comes."""
        if name == ROUTE:
            self.ask_routes(self.route_topics())
        elif name == BEAT:
            self.beat()
        elif name == PERSIST:
            self.persist_all()
        elif consumer is not None and consumer.holds_locks():
            self.lock(consumer)

    def route_topics(self) -> list[str]:
        """The topics whose routes are asked for."""
        return sorted({topic for consumer in self.consumers.values() for topic in consumer.topics()})

    def persist_all(self) -> None:
        """Persist the offsets of all consumers."""
        for consumer in self.consumers.values():
            self.persist(consumer)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Configure: self.configure,
            operations.Start: self.start,
            operations.StartLite: self.start_lite,
            operations.Rebalance: self.rebalance,
            operations.Update: self.update,
            operations.Elapse: self.elapse,
            operations.Shutdown: self.shutdown,
        }


def _due(pending: tuple[Timer, str, Consumer | None]) -> int:
    return pending[0].due


def _header(consumer: Consumer) -> dict[str, str]:
    return {"consumerGroup": consumer.group, "topic": TOPIC, "queueId": "0"}


def _locked(consumer: Consumer) -> dict[str, Any]:
    """The body of a request about locks."""
    queue = {"topic": TOPIC, "brokerName": BROKER, "queueId": 0}
    return {"consumerGroup": consumer.group, "clientId": _CLIENT, "mqSet": [queue]}


PART = Timers
