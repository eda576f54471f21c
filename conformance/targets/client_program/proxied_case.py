"""A case whose members go to a real broker through a proxy, which watches them and plays faults.

The proxy is both broker and name server to the members: routes name it. It forwards everything else as it is, but for
two things. A request that the plan lets fail does not reach the broker: the proxy answers it. And pulls that the broker
holds it answers in its place, as if their time was up, where it is to be seen what members do then. Locks are known by
what the broker answered to those that asked for them, everything else by what the broker says when it is asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.fakes.consumers import locked
from rocketmq_conformance.conformance.fakes.fault_script import faulty
from rocketmq_conformance.conformance.fakes.group_case import OUTSIDE
from rocketmq_conformance.conformance.fakes.responses import command
from rocketmq_conformance.conformance.fakes.traffic import PULLS, Traffic
from rocketmq_conformance.conformance.fakes.watched_case import STRANGER, Failing, WatchedCase
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.proxy import Address, Proxy
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.client_program.broker_in_use import BrokerInUse
from rocketmq_conformance.conformance.targets.client_program.case_broker import UnsupportedMoveError
from rocketmq_conformance.conformance.targets.client_program.real_broker import CasePlace, RealBroker
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_allocation import STORED, Crowded
from rocketmq_conformance.models.client.whole_moves import OTHER_QUEUES, SILENT
from rocketmq_conformance.models.client.whole_push import Setting
from rocketmq_conformance.models.outcome import Err, Value
from rocketmq_conformance.suites.declare.topologies import BROKER, ORDINARY

#: The addresses of a broker in a route or a cluster, by its id.
_ADDRESSES = re.compile(rb'("brokerAddrs":\{)([^}]*)(\})')
_ADDRESS = re.compile(rb':"[^"]*"')
#: Seconds between two heartbeats of a member that does not exist: brokers forget a client after two minutes.
_BEAT = 30.0
#: How often the locks are taken anew when a member was faster.
_TRIES = 50
RESETS = "a real broker resets all queues of a topic, and to a time"
NO_QUEUES = "a topic at a real broker keeps a queue at least"
TOGETHER = "messages arrive at a real broker one by one, and a pull that waits finds the first of them alone"
WAITS = "the proxy lets no pull of one queue wait that the broker has answered"
FORGETS = "a real broker forgets members whose heartbeats fail, two minutes later"
DELIVERS = "a real broker's delay levels cannot be made to pass"


class ProxiedCase(WatchedCase):
    """A case of its own topics and group at a real broker, which are made when they are used first."""

    def __init__(self, real: RealBroker, broadcasting: bool = False) -> None:
        super().__init__(broadcasting)
        self._real = real
        self._setting = Setting()
        self._place: CasePlace | None = None
        self._proxy: Proxy | None = None
        #: host:port of the proxy.
        self.address = ""
        self._queues = self._setting.queues
        #: How many queues the other topic has, 0 without one.
        self._other_queues = 0
        #: The client that was granted the lock of each queue, and whether that is the one outside the group now.
        self._holders: dict[int, str] = {}
        self._taken = False
        #: Connections of members that do not exist, by client id.
        self._others: dict[str, Connection] = {}
        #: When they sent their last heartbeats (s, monotonic).
        self._beaten = 0.0

    # --- life -------------------------------------------------------------------------------------------------

    def open(self) -> str:
        """Let clients connect; host:port of the proxy."""
        self._proxy = Proxy(self, self._behind)
        self._proxy.encrypt(self.guard.context)
        self.address = self._proxy.start()
        return self.address

    def close(self) -> None:
        """Close the proxy, and delete topics and group."""
        if self._proxy is not None:
            self._proxy.stop()
        self._forget()

    def settle(self) -> None:
        """Wait until everything is forwarded that clients have sent."""
        if self._proxy is not None:
            self._proxy.settle()

    @property
    def group(self) -> str:
        """The name of the group."""
        return self._take_place().group

    @property
    def topic(self) -> str:
        """The name of the topic."""
        return self._take_place().topic

    @property
    def other_topic(self) -> str:
        """The name of the other topic."""
        return self._take_place().other

    def _behind(self) -> tuple[Address, Address]:
        broker = self._take_place().broker
        return broker.address, broker.name_server

    def _take_place(self) -> CasePlace:
        """The topics and group; made at first use, by the thread that plays the case."""
        if self._place is None:
            self._place = self._real.take(self._setting, self._other_queues)
            self._queues = self._setting.queues
            self.traffic = Traffic(self._broadcasting, self._place.group, self._place.topic, self.owner)
            if self._other_queues:
                self.traffic.watch_other(self._place.other)
        return self._place

    def _forget(self) -> None:
        """Leave the topics and group, and everything that was done to them."""
        self._failing, self.loses_commits, self._taken = None, False, False
        self._holders.clear()
        for connection in self._others.values():
            connection.close()
        self._others.clear()
        if self._place is not None:
            self._real.give_back(self._place)
            self._place = None

    # --- the proxy, in its thread -----------------------------------------------------------------------------

    def request(self, peer: Peer, request: Command) -> Command | None:
        """A member sent a request: play the fault, if it fails."""
        traffic = self.traffic
        traffic.request(peer, request)
        failed = self._failure(request)
        if failed is not None:
            return failed
        if request.code in PULLS and traffic.watches(request):
            traffic.pull(peer, request)
        if request.code == Request.UNLOCK_BATCH_MQ:
            for queue, client in self._locked(request):
                if self._holders.get(queue) == client:
                    del self._holders[queue]
        return None

    def response(self, peer: Peer, request: Command, response: Command) -> None:
        """The broker answered: name the proxy in routes, and take down who was given what."""
        if request.code in (Request.GET_ROUTEINFO_BY_TOPIC, Request.GET_BROKER_CLUSTER_INFO):
            response.body = self._renamed(response.body)
        elif request.code in PULLS and self.traffic.watches(request):
            self.traffic.answer(peer, request, response)
            self.traffic.ended(peer, request, response)
        elif request.code == Request.LOCK_BATCH_MQ:
            granted = responses.locked(response)
            names = set() if isinstance(granted, Err) else {(topic, queue) for topic, _, queue in granted}
            for queue, client in self._locked(request):
                if (self._take_place().topic, queue) in names:
                    self._holders[queue] = client
                else:
                    self.traffic.refused.add((client, queue))

    def closed(self, peer: Peer) -> None:
        """A member's connection was closed."""
        self.traffic.closed(peer)

    def _renamed(self, body: bytes) -> bytes:
        """A route whose brokers have the address of the proxy."""
        ours = f':"{self.address}"'.encode()
        return _ADDRESSES.sub(lambda found: found[1] + _ADDRESS.sub(ours, found[2]) + found[3], body)

    def _locked(self, request: Command) -> list[tuple[int, str]]:
        """The queues of the topic that a request is about, and its client."""
        _, client, queues = locked(request.body)
        return [(queue, client or "") for topic, _, queue in queues if topic == self._take_place().topic]

    # --- moves ------------------------------------------------------------------------------------------------

    def prepare(self, queues: int, shape: str, stored: int, where: str) -> None:
        """Have a topic and group like this, as soon as they are used."""
        setting = Setting(queues, shape, stored, where)
        reason = self._real.unsupported(setting)
        if reason:
            raise UnsupportedMoveError(reason)
        self._forget()
        self._setting, self._queues, self._other_queues = setting, queues, 0

    def divide(self, queues: int) -> None:
        """Have a topic of so many queues that the group has consumed up to an offset."""
        self.prepare(queues, "young", STORED, LAST)

    def send(self, queue: int) -> None:
        """A message arrives in a queue."""
        self._ask().fill(*self._at(queue), 1)

    def resize(self, queues: int) -> None:
        """The topic has so many queues from now on, and its route names them."""
        if not queues:
            raise UnsupportedMoveError(NO_QUEUES)
        self._ask().create(self.topic, queues)
        self._queues = queues

    def fail(self, request: Request, fault: str) -> None:
        """Let the proxy answer every request of a kind by a fault, and others no more."""
        try:
            faulty(fault)
        except (TimeoutError, ConnectionError):
            pass  # the proxy keeps silent, or cuts the connection
        except KeyError:
            raise UnsupportedMoveError(f"the proxy does not play the fault {fault}") from None
        if request is Request.HEART_BEAT and self.traffic.clients:
            raise UnsupportedMoveError(FORGETS)
        self._take_place()
        self._play(Failing(request, fault))
        if request is not Request.PULL_MESSAGE:
            return
        if fault == SILENT:
            self._forget_held_pulls()
        else:
            self._answer_pulls(lambda _: command(faulty("SYSTEM_ERROR")))

    def fail_alone(self, request: Request, fault: str, queue: int | None, topic: str = "") -> None:
        """Let the proxy answer those about a queue of the topic, or about the topic or another one, by a fault, and
        others no more."""
        if request is Request.PULL_MESSAGE and fault == SILENT:
            raise UnsupportedMoveError(WAITS)
        failing = Failing(request, fault, topic or self.topic, queue)
        self._play(failing)
        if request is Request.PULL_MESSAGE:
            refused = command(faulty("SYSTEM_ERROR"))
            self._answer_pulls(lambda pull: refused if failing.is_about(pull) else None)

    def send_again(self, queue: int, how: str) -> None:
        """Not to be done."""
        raise UnsupportedMoveError(WAITS)

    def _end_held(self, queues: Collection[int], ends: Callable[[Command], bool]) -> None:
        """Let the proxy answer pulls that the broker holds: there is nothing."""
        bounds = {queue: self._bounds(queue) for queue in queues}

        def nothing(pull: Command) -> Command | None:
            if not ends(pull):
                return None
            low, high = bounds[self.traffic.number(pull)]
            if pull.ext["queueOffset"] != str(high):
                return None  # there is a message by now: the broker is about to answer
            offsets = {"nextBeginOffset": high, "minOffset": low, "maxOffset": high, "suggestWhichBrokerId": 0}
            ext = {name: str(value) for name, value in offsets.items()}
            return command((int(Response.PULL_NOT_FOUND), "nothing is there yet", ext, b""))

        self._answer_pulls(nothing)

    def _answer_pulls(self, answer: Callable[[Command], Command | None]) -> None:
        if self._proxy is not None:
            for code in PULLS:
                self._proxy.answer_open(code, answer)

    def _forget_held_pulls(self) -> None:
        """Drop what the broker will answer to the pulls that it holds."""
        if self._proxy is not None:
            for code in PULLS:
                self._proxy.forget_open(code)
        self.traffic.unanswered()

    def crowd(self, before: int, after: int, members: Iterable[str] = ()) -> None:
        """Have so many more members that do nothing, each with a connection of its own."""
        place, wanted = self._take_place(), Crowded(before, after).clients(members)
        for client in self._others.keys() - set(wanted):
            with self._others.pop(client) as connection:
                self._call(connection, requests.unregister(client, place.group))
        for client in wanted:
            if client not in self._others:
                self._others[client] = Connection(*place.broker.address)
        self._beat()

    def take_locks(self) -> None:
        """Release all locks in the names of those that have them, and let a client outside the group take them."""
        place = self._take_place()
        queues = [(place.topic, BROKER, queue) for queue in range(self._queues)]
        self.traffic.refused.clear()
        for _ in range(_TRIES):
            for client in set(self._holders.values()):
                place.broker.do(requests.unlock(place.group, client, queues))
            granted = responses.locked(place.broker.do(requests.lock(place.group, OUTSIDE, queues)))
            if not isinstance(granted, Err) and len(granted) == len(queues):
                self._taken = True
                self._holders.clear()
                return
        raise AdapterError("The broker did not grant locks that nobody has: replay the case.")

    def expire_locks(self) -> None:
        """Release the locks of clients that are gone, or outside the group, in their names."""
        place = self._take_place()
        queues = [(place.topic, BROKER, queue) for queue in range(self._queues)]
        gone = set(self._holders.values()) - set(self.traffic.clients.values())
        for client in (gone | {OUTSIDE}) if self._taken else gone:
            place.broker.do(requests.unlock(place.group, client, queues))
        self._taken = False
        self._holders = {queue: client for queue, client in self._holders.items() if client not in gone}

    def reset(self, offset: int) -> None:
        """Not to be done."""
        raise UnsupportedMoveError(RESETS)

    def send_as(self, form: str, queue: int) -> Collection[int]:
        """Not to be done."""
        raise UnsupportedMoveError(TOGETHER)

    def add_retry_topic(self) -> None:
        """Not to be done."""
        raise UnsupportedMoveError(DELIVERS)

    def add_other_topic(self) -> None:
        """Have another topic, too, as soon as the first one is used."""
        self._other_queues = len(ORDINARY.topic_queues[ORDINARY.other_topic])

    def deliver(self) -> None:
        """Not to be done."""
        raise UnsupportedMoveError(DELIVERS)

    def _beat(self) -> None:
        """Let the members that do not exist send a heartbeat."""
        place = self._take_place()
        topics = [place.topic, f"{RETRY}{place.group}"]
        self._beaten = time.monotonic()
        for client, connection in self._others.items():
            self._call(connection, requests.heartbeat(client, place.group, topics))

    def _ask(self) -> BrokerInUse:
        return self._take_place().broker

    @staticmethod
    def _call(connection: Connection, request: requests.Ask) -> None:
        try:
            connection.call(request.code, request.ext, request.body)
        except OSError as error:
            raise AdapterError(
                f"The broker that cases go through does not answer ({error}): start it again."
            ) from error

    # --- what is seen -----------------------------------------------------------------------------------------

    @property
    def queues(self) -> int:
        """How many queues the topic has."""
        return self._queues

    @property
    def seen(self) -> Sequence[int]:
        """The numbers of the queues that answers show."""
        return (*range(self._queues), *range(OTHER_QUEUES, OTHER_QUEUES + self._other_queues))

    def _at(self, number: int) -> tuple[str, int]:
        """The topic and id of a queue."""
        other = self._other_queues and number >= OTHER_QUEUES
        return (self.other_topic, number - OTHER_QUEUES) if other else (self.topic, number)

    def members(self) -> tuple[str, ...]:
        """The client ids that the broker knows as members of the group."""
        place = self._take_place()
        listed = responses.listed_members(place.broker.ask(requests.member_list(place.group)))
        # a broker that knows none refuses to say so
        return () if isinstance(listed, Err) else listed

    def stored(self) -> tuple[int, ...]:
        """The stored offset of each queue, -1 for none."""
        place = self._take_place()
        if self._others and time.monotonic() - self._beaten > _BEAT:
            self._beat()
        topics = filter(None, (place.topic, place.other))
        offsets = {topic: place.broker.stored(place.group, topic) for topic in topics}
        return tuple(offsets[topic].get(queue, -1) for topic, queue in map(self._at, self.seen))

    def max_offset(self, queue: int) -> int:
        """The offset after the last message of a queue."""
        return self._ask().number(requests.max_offset(*self._at(queue)))

    def offers(self, queue: int, offset: int) -> bool:
        """Is an offset between min and max of a queue, both included?"""
        low, high = self._bounds(queue)
        return low <= offset <= high

    def _bounds(self, queue: int) -> tuple[int, int]:
        """Min and max of a queue."""
        return self._ask().number(requests.min_offset(*self._at(queue))), self.max_offset(queue)

    def locks(self, members: Mapping[str, int]) -> tuple[int, ...]:
        """The member that has the lock of each queue: -1 for nobody, -2 for a client that is not among them."""
        if self._taken:
            return (STRANGER,) * self._queues
        owners = [self._holders.get(queue) for queue in range(self._queues)]
        return tuple(-1 if owner is None else members.get(owner, STRANGER) for owner in owners)

    def retry_queue(self, members: Mapping[str, int]) -> Value:
        """Not to be seen."""
        raise UnsupportedMoveError(DELIVERS)
