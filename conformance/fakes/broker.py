"""An embedded RocketMQ broker and name server for tests: real topics and messages, answered by the model.

    with EmbeddedBroker(Profile.of(broker="5.5.0")) as broker:
        producer.setNamesrvAddr(broker.address)

It lives in memory and in this process, starts in milliseconds, and answers as a broker of the profile's release
does. It can be stopped, killed, frozen and started again; its disk is in memory, too. It has no replicas, no delayed
messages and no transactions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from rocketmq_conformance.conformance.fakes.administration import Administration
from rocketmq_conformance.conformance.fakes.assignments import Assignments, Routes
from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.delayed_unlock import Unlocks
from rocketmq_conformance.conformance.fakes.lifecycle import Lifetime
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.page_residency import Memory
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.fakes.responses import Answering
from rocketmq_conformance.conformance.fakes.sends import Sends
from rocketmq_conformance.conformance.fakes.settings import MEMORY_RATIO, STRICT_LOCKS, Settings
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.fault import Faults
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import Message, format_properties
from rocketmq_conformance.conformance.remoting.server import Listener, Peer
from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME, NO_LOCKS
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog
from rocketmq_conformance.models.broker.switches import LOCKS_STRICTLY, BrokerRules
from rocketmq_conformance.models.broker.wire import WireRules
from rocketmq_conformance.models.client.fixtures import BROKER
from rocketmq_conformance.models.profile import Profile

CLUSTER = "conformance"
#: What the broker is made of, by the names under which it can be replaced.
PARTS: dict[str, Any] = {
    "storage": Storage,
    "lifetime": Lifetime,
    "memory": Memory,
    "consumers": Consumers,
    "unlocks": Unlocks,
    "offsets": Offsets,
    "pulls": Pulls,
    "resets": Resets,
    "assignments": Assignments,
}


def now() -> int:
    """The time in ms since the epoch."""
    return time.time_ns() // 1_000_000


class _Desk:
    """Hands every request to whoever answers its code; one that nobody knows as the release does (WIRE-ERR-2)."""

    def __init__(self, unknown_answered: bool) -> None:
        self._unknown_answered = unknown_answered
        self._handlers: dict[int, Answering] = {}
        self._leaving: list[Callable[[Peer], None]] = []

    def add(self, handlers: Mapping[int, Answering]) -> None:
        self._handlers.update(handlers)

    def on_leave(self, action: Callable[[Peer], None]) -> None:
        self._leaving.append(action)

    def handle(self, peer: Peer, request: Command) -> Command | None:
        handler = self._handlers.get(request.code)
        if handler is not None:
            return handler(peer, request)
        if not self._unknown_answered:
            return None
        code = int(Response.REQUEST_CODE_NOT_SUPPORTED)
        return Command(code, remark=f" request type {request.code} not supported")

    def closed(self, peer: Peer) -> None:
        for action in self._leaving:
            action(peer)


class EmbeddedBroker:
    """A broker and its name server on one port of one host; the system chooses a free port unless one is given.

    ``clock`` gives store times and the age of locks, in ms since the epoch; locks live ``lease`` ms. With
    ``auto_create`` topics and groups come into being when they are first used, as in a broker with default settings.
    ``parts`` replaces classes of ``PARTS``, ``faults`` plays request codes by faults; ``routes``
    gives the readable queues of a topic, of all brokers, where they are not just its own; ``strict_locks`` is its
    property lockInStrictMode. Everything may be called
    from any thread while the broker runs.
    """

    def __init__(
        self,
        profile: Profile | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        name: str = BROKER,
        cluster: str = CLUSTER,
        auto_create: bool = True,
        clock: Callable[[], int] = now,
        lease: int = MAX_LIVE_TIME,
        parts: Mapping[str, type] | None = None,
        routes: Routes | None = None,
        strict_locks: bool = False,
    ) -> None:
        self.profile = profile or Profile()
        self._rules = BrokerRules.of(self.profile)
        wire = WireRules.of(self.profile)
        desk = _Desk(wire.unknown_answered)
        self._listener = Listener(desk, host, port, echo=wire.echoes_binary, version=wire.ordinal)
        made = {**PARTS, **(parts or {})}
        self._storage: Storage = made["storage"](self._rules, clock, auto_create)
        self._consumers: Consumers = made["consumers"](self._storage, clock, lease)
        consumers, later = self._consumers, self._listener.later
        self._lifetime: Lifetime = made["lifetime"](self._storage)
        self._memory: Memory = made["memory"](self._storage)
        self._unlocks: Unlocks = made["unlocks"](consumers, later)
        self._pulls: Pulls = made["pulls"](
            self._storage, consumers.subscription, consumers.pulled, self._memory.read, later, wire.lite_pulls
        )
        self._sends = Sends(self._storage, self._where, self._stored)
        administration = Administration(self.profile, self._storage, name, cluster, self._where, clock())
        resets = made["resets"](self._storage, consumers, name)
        assignments = made["assignments"](self._storage, consumers, name, routes)
        offsets = made["offsets"](self._storage, self._memory)
        settings = Settings({MEMORY_RATIO: self._memory.set_ratio, STRICT_LOCKS: self._set_strict})
        for part in (consumers, self._unlocks, self._sends, offsets, administration, settings, resets, self._pulls):
            desk.add(part.handlers())
        desk.add(assignments.handlers())
        self._set_strict(str(strict_locks).lower())
        desk.on_leave(self._pulls.closed)
        desk.on_leave(self._consumers.closed)

    # --- life -------------------------------------------------------------------------------------------------

    def start(self) -> str:
        """Listen, and say where; raises CannotRunError when the port is taken.

        A broker that was stopped starts again on the same port with its topics, messages and stored offsets, and
        without its locks.
        """
        if not self._listener.running:
            self._lifetime.started()
            self._consumers.locks = NO_LOCKS
        self._listener.start()
        return self.address

    def stop(self) -> None:
        """Close the port and all connections; twice does no harm. One that is frozen goes on first."""
        if self._listener.running:
            frozen = self._listener.frozen
            self.resume()
            self._listener.stop()
            self._lifetime.stopped(frozen)

    def kill(self) -> None:
        """The same at once, as a power failure would: offsets that were not saved since they were stored are lost, and
        what a frozen broker was sent. ``start`` may follow."""
        if self._listener.running:
            self._listener.stop()
            self._lifetime.killed()

    def pause(self) -> None:
        """Freeze it: clients still connect, and nobody answers them."""
        self._listener.run(self._lifetime.paused)
        self._listener.pause()

    def resume(self) -> None:
        """Let it go on, and wait until it has done what it was asked meanwhile."""
        if self._listener.frozen:
            self._listener.resume()
            self._listener.settle()
            self._listener.run(self._lifetime.resumed)

    def save(self) -> None:
        """Write stored offsets to disk, as brokers do every few seconds: a kill loses those that were not."""
        self._listener.run(self._lifetime.save)

    @property
    def address(self) -> str:
        """``host:port``, for clients' name server address."""
        return self._listener.address

    @property
    def faults(self) -> Faults:
        """Faults by request code."""
        return self._listener.faults

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def load(self, topic: str, queues: Sequence[QueueLog], stored: Mapping[tuple[str, int], int]) -> None:
        """Before the first start: a topic with these messages, as of a store that is opened, and offsets by group and
        queue."""
        offsets = {(group, topic, queue): offset for (group, queue), offset in stored.items()}
        self._storage.load(topic, queues, offsets)
        self._lifetime.save()

    # --- for tests --------------------------------------------------------------------------------------------

    def create_topic(self, topic: str, queues: int = 4) -> None:
        """Create a topic, or change the number of its queues."""
        self._listener.run(lambda: self._storage.create_topic(topic, queues))

    def create_group(self, group: str) -> None:
        """Create a consumer group."""
        self._listener.run(lambda: self._storage.create_group(group))

    def send(self, topic: str, body: bytes, queue: int = 0, tag: str = "") -> int:
        """Store a message, and give its offset; LookupError when topic or queue are unknown."""
        properties = format_properties({"TAGS": tag}) if tag else ""
        draft = Message(topic, queue, 0, 0, body, properties, born_time=now())
        response = self._listener.run(lambda: self._sends.store([draft]))
        if response.code:
            raise LookupError(response.remark)
        return int(response.ext["queueOffset"])

    def messages(self, topic: str, queue: int = 0) -> list[Message]:
        """The retained messages of a queue."""
        return self._listener.run(lambda: self._storage.retained(topic, queue))

    def expire(self, topic: str, queue: int, first: int) -> None:
        """Lose the messages before offset ``first``, as a broker does that deletes its oldest files."""
        self._listener.run(lambda: self._storage.expire(topic, queue, first))

    def evict(self) -> None:
        """Put all messages out of memory: brokers of 5.1.0 and later on Java 8 to 13 answer other queries then."""
        self._listener.run(self._memory.evict)

    def in_memory(self, topic: str, queue: int) -> bool | None:
        """Is message 0 of a queue in memory? None when there is no such message."""
        return self._listener.run(lambda: self._memory.holds(topic, queue))

    @property
    def state(self) -> BrokerState:
        """Topics, groups, queues and stored offsets at this moment; it never changes afterwards."""
        return self._storage.state

    def members(self, group: str) -> list[str]:
        """Client ids of a group, one per connection."""
        entry = self._consumers.groups.get(group)
        return list(entry.members.values()) if entry else []

    def tell(self, group: str, request: Command) -> None:
        """Send every member of a group a request of the broker's own, such as RESET_CONSUMER_CLIENT_OFFSET."""
        self._listener.run(lambda: self._consumers.tell(group, request))

    @property
    def held_pulls(self) -> int:
        """How many pulls wait for a message."""
        return self._listener.run(lambda: self._pulls.held)

    def arrived(self, request: int) -> int:
        """How many requests of a code arrived so far."""
        return self._listener.arrived[request]

    def settle(self) -> None:
        """Wait until everything that clients have written is handled."""
        self._listener.settle()

    # --- inside -----------------------------------------------------------------------------------------------

    def _where(self) -> str:
        return self._listener.address

    def _set_strict(self, value: str) -> None:
        self._unlocks.strict = value == "true" and LOCKS_STRICTLY.on(self.profile.broker)

    def _stored(self, message: Message) -> None:
        self._pulls.arrived(message.topic, message.queue, message.tag)
