"""The fake broker: a RocketMQ broker and name server for tests, whose answers are the models'.

    with FakeBroker(Profile.of(broker="5.5.0")) as broker:
        producer.setNamesrvAddr(broker.address)

It lives in memory and in this process, and answers as a broker of the profile's release does. It has two doors, with
the same handlers and the same state behind them: ``exchange`` in process, and after ``start`` a TCP port for clients
of any language. A fault script plays kinds of requests by faults at both of them. It can be stopped, killed, frozen
and started again; its disk is in memory, too. It may be the slave of another one. It has no transactions.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar

from rocketmq_conformance.conformance.fakes.administration import Administration
from rocketmq_conformance.conformance.fakes.assignments import Assignments, Routes
from rocketmq_conformance.conformance.fakes.consumers import Consumers, Queues
from rocketmq_conformance.conformance.fakes.delayed_unlock import Unlocks
from rocketmq_conformance.conformance.fakes.dispatch import Dispatcher
from rocketmq_conformance.conformance.fakes.fault_script import FaultScript
from rocketmq_conformance.conformance.fakes.lifecycle import Lifecycle
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.own_topics import own_groups, own_topics
from rocketmq_conformance.conformance.fakes.page_residency import PageResidency
from rocketmq_conformance.conformance.fakes.pops import Pops
from rocketmq_conformance.conformance.fakes.pulls import HeldPull, Pulls
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.replication import Replication
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.fakes.retries import Retries
from rocketmq_conformance.conformance.fakes.sends import Sends
from rocketmq_conformance.conformance.fakes.settings import Settings
from rocketmq_conformance.conformance.fakes.statistics import Statistics
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.fakes.stored_properties import StoredProperties
from rocketmq_conformance.conformance.remoting.fault import Faults
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import Message, format_properties
from rocketmq_conformance.conformance.remoting.server import Handler, Listener, Observer
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.configuration import CREATES_GROUPS, MEMORY_RATIO
from rocketmq_conformance.models.broker.delay_level import DEFAULT_LEVELS, parse_levels
from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME, NO_LOCKS
from rocketmq_conformance.models.broker.own_names import OwnNames
from rocketmq_conformance.models.broker.slave import slave_rules
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Stored, Topic
from rocketmq_conformance.models.broker.timer import SECOND
from rocketmq_conformance.models.broker.wire import WireRules
from rocketmq_conformance.models.client.switches import BRIEF_HEARTBEATS
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.declare.topologies import BROKER

T = TypeVar("T")
CLUSTER = "DefaultCluster"
#: What a broker is called unless it is told otherwise.
NAME = BROKER
#: The property that makes topics when messages are sent to them.
AUTO_CREATE = "autoCreateTopicEnable"
#: The property that says what a broker is to others, and its value for one that has a master.
ROLE, SLAVE = "brokerRole", "SLAVE"
#: The port that routes name before the system has chosen one.
_UNCHOSEN = 10911
#: Since when answers have flags of topics and groups, and the ids of clients' messages.
_FLAGGED = Release.parse("5.0.0")
#: The parts of the broker, by the names under which they can be replaced.
PARTS: dict[str, Any] = {
    "storage": Storage,
    "lifetime": Lifecycle,
    "memory": PageResidency,
    "consumers": Consumers,
    "unlocks": Unlocks,
    "offsets": Offsets,
    "pulls": Pulls,
    "pops": Pops,
    "retries": Retries,
    "resets": Resets,
    "statistics": Statistics,
    "assignments": Assignments,
    "administration": Administration,
    "sends": Sends,
    "replication": Replication,
}


def now() -> int:
    """The time in ms since the epoch."""
    return time.time_ns() // 1_000_000


class FakeBroker:
    """A broker and its name server on one port of one host; the system chooses a free port unless one is given.

    ``clock`` gives store times and the age of locks, in ms since the epoch; locks live ``lease`` ms. With
    ``auto_create`` topics and groups are created when they are first used, as in a broker with default settings.
    ``parts`` replaces classes of ``PARTS``, ``faults`` plays request codes by faults; ``routes`` gives the readable
    queues of a topic, of all brokers, where they are not just its own; ``delay_levels`` are the times of its delay
    levels (messageDelayLevel, in ms), and a second of messages with a time of their own lasts ``timer_second`` ms.
    Held pulls are checked every ``hold_check`` seconds, or are answered exactly when their time is up. It behaves by
    the profile's configuration; ``properties`` it only reports. A ``slave`` has a master (``follow``).
    Everything may be called from any thread while the broker runs. ``exchange`` is the door in process: address (of no
    importance), code, header fields, body, one way?; the response, TimeoutError when there is none, ConnectionError
    when the connection is cut.
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
        delay_levels: Sequence[int] = parse_levels(DEFAULT_LEVELS),
        properties: Mapping[str, str] = MappingProxyType({}),
        hold_check: float | None = None,
        timer_second: int = SECOND,
        slave: bool = False,
    ) -> None:
        self.profile = profile or Profile()
        if not auto_create:
            self.profile = self.profile.configured({**dict(self.profile.configuration), CREATES_GROUPS: "false"})
            properties = {AUTO_CREATE: "false", **properties}
        self._rules_of = slave_rules if slave else BrokerRules.of
        if slave:
            properties = {"brokerId": "1", **properties, ROLE: SLAVE}
        wire = WireRules.of(self.profile)
        #: Takes down what no response shows, for those parts that are given it.
        self.record = Record()
        self.dispatcher = Dispatcher(self.record, wire.unknown_answered)
        #: Faults by kind of request, at both doors.
        self.script: FaultScript = self.dispatcher.script
        self.exchange = self.dispatcher.exchange
        self._listener = Listener(self.dispatcher, host, port, echo=wire.echoes_binary, version=wire.ordinal)
        #: ``host:port``, for clients' name server address.
        self.address = f"{host}:{port or _UNCHOSEN}"
        made = {**PARTS, **(parts or {})}
        self.storage: Storage = made["storage"](
            self._rules_of(self.profile),
            clock,
            own_topics(self.profile.broker, name, cluster, creates=auto_create),
            own_groups(self.profile.broker),
        )
        self.storage.names = OwnNames(name, cluster)
        self.consumers: Consumers = made["consumers"](self.storage, clock, lease)
        consumers, later = self.consumers, self._listener.later
        # a release understands what its own clients send
        consumers.brief_heartbeats = BRIEF_HEARTBEATS.on(self.profile.broker)
        self._lifetime: Lifecycle = made["lifetime"](self.storage)
        self._memory: PageResidency = made["memory"](self.storage)
        self.unlocks: Unlocks = made["unlocks"](consumers, later)
        self._pulls: Pulls = made["pulls"](
            self.storage,
            consumers.codes,
            consumers.pulled,
            self._memory.read,
            later,
            wire.lite_pulls,
            clock,
            hold_check,
        )
        self._pulls.pulled_from = consumers.pulled_from
        if self.profile.broker >= _FLAGGED:
            self._pulls.flags = {"groupSysFlag": "0", "topicSysFlag": "0"}
        self._pops: Pops = made["pops"](self.storage, clock, self._memory.read, self._stored, name)
        self.retries: Retries = made["retries"](self.storage, clock, delay_levels, self._while_running, self._stored)
        self.retries.second = timer_second
        self.retries.locked = lambda group: any(held[0] == group for held in consumers.held_locks())
        kept = StoredProperties(self.profile.broker, cluster)
        self.sends: Sends = made["sends"](self.storage, self.retries, self._where, self._stored, kept)
        self.sends.tells_ids = self.sends.copies_come_alone = self.profile.broker >= _FLAGGED
        self.administration: Administration = made["administration"](
            self.profile, self.storage, name, cluster, self.address, clock()
        )
        self.assignments: Assignments = made["assignments"](self.storage, consumers, name, routes)
        self.offsets: Offsets = made["offsets"](self.storage, self._memory)
        self._replication: Replication = made["replication"](self.storage)
        self._master: FakeBroker | None = None
        self._slaves: list[FakeBroker] = []
        #: Would a name server name it? A master whose slave may act stays offline until it can read its offsets.
        self.online = True
        consumers.granted = self._granted
        resets: Resets = made["resets"](self.storage, consumers, name)
        statistics: Statistics = made["statistics"](self.storage, consumers, name, clock)
        self._settings = Settings(self.profile, properties, self._configure, {MEMORY_RATIO: self._memory.set_ratio})
        for part in (self.unlocks, self.assignments, statistics, self._settings, self._pops):
            self.dispatcher.add(part.handlers())
        for both in (consumers, resets, self._pulls, self.retries, self.sends, self.administration, self.offsets):
            self.dispatcher.add(both.handlers())
            self.dispatcher.add_connected(both.connection_handlers())
        self.dispatcher.before = self._before
        self._configure(self.profile)
        self.dispatcher.on_leave(self._pulls.closed)
        self.dispatcher.on_leave(consumers.closed)

    # --- life -------------------------------------------------------------------------------------------------

    def start(self) -> str:
        """Listen, and say where; raises CannotRunError when the port is taken.

        A broker that was stopped starts again on the same port with its topics, messages and stored offsets, and
        without its locks.
        """
        if not self._listener.running:
            self._settings.restore()
            self._lifetime.started()
            self.consumers.restarted()
            for slave in self._slaves:
                if self.storage.rules.slave_acts and slave.running:
                    self.online = self._replication.take_back(slave.state, slave.storage.gone_on)
        return self.open()

    def open(self) -> str:
        """Open the TCP door of a broker that was running already, without one, and say where; raises CannotRunError."""
        self._listener.start()
        self.address = self.administration.address = self._listener.address
        self._listener.run(self.retries.resume)
        return self.address

    def encrypt(self, context: ssl.SSLContext | None) -> None:
        """Take encrypted connections alone when the TCP door is opened the next time; None: plain ones."""
        self._listener.tls = context

    def open_another(self) -> str:
        """Listen on one more port until the broker stops, such as one for the name server alone; its address. Clients
        have a connection to each then."""
        return self._listener.open_another()

    @property
    def running(self) -> bool:
        """Is the TCP door open?"""
        return self._listener.running

    def answer_by(self, handler: Handler | None) -> None:
        """Let another handler answer at the TCP door, such as one that records the messages; None: the broker."""
        self._listener.answer_by(handler or self.dispatcher)

    def advertise(self, host: str) -> None:
        """Name this host in routes, and not the one that it listens on; until it starts again."""
        self.address = self.administration.address = f"{host}:{self.address.rpartition(':')[2]}"

    def observe(self, observer: Observer | None) -> None:
        """Show an observer, such as a log, everything that goes over TCP from now on; None: nobody."""
        self._listener.observer = observer

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
        """Freeze it: clients still connect, and get no response."""
        self._listener.run(self._lifetime.paused)
        self._listener.pause()

    def resume(self) -> None:
        """Let it go on, and wait until the requests that arrived meanwhile are handled."""
        if self._listener.frozen:
            self._listener.resume()
            self._listener.settle()
            self._listener.run(self._lifetime.resumed)

    def save(self) -> None:
        """Write stored offsets to disk, as brokers do every few seconds: a kill loses those that were not."""
        self._listener.run(self._lifetime.save)

    def watch(self) -> str:
        """Let time pass until stored offsets are written by the timer: which write it was (``models``)."""
        return self._listener.run(self._lifetime.watched)

    def damage(self, table: str, copy: str, how: str) -> None:
        """While it is down: damage a file of its tables, or the backup of one."""
        self._lifetime.damage(table, copy, how)

    @property
    def end(self) -> str:
        """Had the timer written stored offsets when it was stopped or killed last?"""
        return self._lifetime.end

    def loads(self) -> bool:
        """Would it start on its files? One that would not writes to them as a broker that ends does."""
        return self._lifetime.load()

    def restore(self) -> None:
        """While it is down: undo all damages, and what followed from them."""
        self._lifetime.restore()

    @property
    def faults(self) -> Faults:
        """Faults by request code, at the TCP door."""
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
        self.storage.load(topic, queues, offsets)
        self._lifetime.settle()

    def put_elsewhere(self, stored: Stored) -> None:
        """Before the first start: stored offsets in the file of brokers that differ from it in ``enableLmq``."""
        self._lifetime.put_elsewhere(stored)

    def take_over(self, other: FakeBroker) -> None:
        """Before the first start: the store that a broker left behind, perhaps one of another release."""
        self.storage.take_over(other.storage)
        self._lifetime.take_over(other._lifetime)

    def follow(self, master: FakeBroker) -> None:
        """Be its slave: have every message that it stores from now on."""
        self._master = master
        master._slaves.append(self)

    def synchronise(self) -> None:
        """Ask the master, which may be down, for topics, offsets and groups, as slaves do every 10 or 60 s."""
        if self._master is not None and self._master.running:
            held, gone_on = self._master.state, self._master.storage.gone_on
            self._between_requests(lambda: self._replication.take(held, gone_on))
        else:
            self._between_requests(self._replication.alone)

    def _granted(self, own: Queues, asked: Callable[[Consumers], Queues]) -> Queues:
        """The queues of which a lock is granted, by those that it would grant itself and what others are asked for."""
        others = [each for each in (self._master, *self._slaves) if each is not None and each.running]
        return self._replication.granted(own, (lambda: asked(others[0].consumers)) if others else None)

    # --- for tests --------------------------------------------------------------------------------------------

    def create_topic(self, topic: str, queues: int | Topic = 4) -> None:
        """Create a topic, or change its queues; ``Topic`` has other numbers to read and to write, or a permission."""
        settings = Topic.of(queues) if isinstance(queues, int) else queues
        self._listener.run(lambda: self.storage.create_topic(topic, settings))

    def create_group(self, group: str, enabled: bool = True) -> None:
        """Create a consumer group; one that is not ``enabled`` may not pull."""
        self._listener.run(lambda: self.storage.create_group(group, enabled))

    def send(self, topic: str, body: bytes, queue: int = 0, tag: str = "") -> int:
        """Store a message, and give its offset; LookupError when topic or queue are unknown."""
        properties = format_properties({"TAGS": tag}) if tag else ""
        draft = Message(
            topic=topic, queue=queue, offset=0, physical=0, body=body, properties=properties, born_time=now()
        )
        store = partial(self.sends.store, [draft])
        code, remark, ext, _ = self._between_requests(store)
        if code:
            raise LookupError(remark)
        return int(ext["queueOffset"])

    def send_together(self, drafts: Sequence[Message | None]) -> None:
        """Store messages of a queue as they are, each with one more offset for every None behind it; pulls that wait
        find all of them."""
        first = drafts[0]
        assert first is not None

        def store() -> None:
            for draft in drafts:
                if draft is None:
                    self.storage.cover(first.topic, first.queue)
                else:
                    self.storage.append(draft)
            self._pulls.arrived(first.topic, first.queue)

        self._between_requests(store)

    def messages(self, topic: str, queue: int = 0) -> list[Message]:
        """The retained messages of a queue."""
        return self._listener.run(lambda: self.storage.retained(topic, queue))

    def deliver(self) -> None:
        """Give back the delayed messages whose time has come by the broker's clock."""
        self._between_requests(self.retries.deliver)

    def expire(self, topic: str, queue: int, first: int) -> None:
        """Lose the messages before offset ``first``, as a broker does that deletes its oldest files."""
        self._listener.run(lambda: self.storage.expire(topic, queue, first))

    def evict(self) -> None:
        """Put all messages out of memory: brokers of 5.1.0 and later on Java 8 to 13 answer other queries then."""
        self._listener.run(self._memory.evict)

    def in_memory(self, topic: str, queue: int) -> bool | None:
        """Is message 0 of a queue in memory? None when there is no such message."""
        return self._listener.run(lambda: self._memory.holds(topic, queue))

    @property
    def state(self) -> BrokerState:
        """Topics, groups, queues and stored offsets at this moment; it never changes afterwards."""
        return self.storage.state

    def members(self, group: str) -> list[str]:
        """Client ids of a group, one per connection."""
        entry = self.consumers.groups.get(group)
        return list(entry.members.values()) if entry else []

    def send_to_members(self, group: str, request: Command, cpp_body: bytes | None = None) -> None:
        """Send every member of a group a request of the broker's own, such as RESET_CONSUMER_CLIENT_OFFSET; those in
        C++ with another body, if one is given."""
        self._between_requests(lambda: self.consumers.send_to_members(group, request, cpp_body))

    def locks(self) -> dict[tuple[str, str, int], str]:
        """The client ids that hold a queue's lock now, by group, topic and queue; "" for a lock without owner."""
        return self._between_requests(self.consumers.held_locks)

    def take_locks(self, group: str, client: str, queues: Sequence[Queue]) -> None:
        """Lose all locks, as at a restart, and have a client lock these queues before any other."""

        def take() -> None:
            self.consumers.locks = NO_LOCKS
            self.consumers.lock(group, client, queues)

        self._between_requests(take)

    def fail_held_pulls(self, topic: str | None = None, queue: int | None = None) -> None:
        """Answer every pull that waits for a message, or each of one topic or queue, by an error."""
        self._between_requests(lambda: self._pulls.fail_held(topic, queue))

    def suggest(self, node: int) -> None:
        """Have answers to pulls suggest this node of the broker from now on, a slave perhaps."""
        self._pulls.suggested = node

    def end_held_pulls(self, ends: Callable[[Command], bool]) -> None:
        """Answer pulls that wait for a message before their time is up: those that are to end."""
        self._between_requests(lambda: self._pulls.end_held(ends))

    def forget_held_pulls(self, topic: str | None = None, queue: int | None = None) -> list[HeldPull]:
        """Do not answer any of the pulls that wait for a message, or those of one topic or queue; which they were."""
        return self._between_requests(lambda: self._pulls.forget_held(topic, queue))

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Do something between two requests after a while, unless the TCP door is closed by then."""
        self._while_running(seconds, action)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._listener.peers)

    @property
    def requests(self) -> int:
        """How many requests arrived so far."""
        return self._listener.arrived.total()

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

    def _between_requests(self, action: Callable[[], T]) -> T:
        """Do something between two requests: at once without a TCP door, as those in process come one by one."""
        return self._listener.run(action) if self.running else action()

    def _where(self) -> str:
        return self.address

    def _before(self) -> None:
        """Before a request: do what is due."""
        self.retries.deliver()
        self._pops.revive()
        self._pulls.check()

    def _while_running(self, seconds: float, action: Callable[[], object]) -> None:
        """Do something after a while, unless the broker is down, or has no TCP door, by then."""
        if self._listener.running:
            self._listener.later(seconds, action)

    def _configure(self, profile: Profile) -> None:
        """Behave by the configuration of a profile of the same release."""
        self.storage.rules = self._rules_of(profile)
        self.unlocks.strict = self.storage.rules.strict_locks

    def _stored(self, message: Message) -> None:
        for slave in self._slaves:
            slave._between_requests(partial(slave._replication.message, message))
        self._pulls.arrived(message.topic, message.queue)
