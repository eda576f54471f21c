"""Starts the slave of the kit's own broker, a Java program on this machine, and has it ask its master when it is to.

A slave asks by a timer of its own. The kit stands between the two: to the slave it is the master, and it answers by
what the master answers only while a case waits for that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.fakes.broker import ROLE, SLAVE
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Listener, Peer
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.fake_name_server import RouteServer
from rocketmq_conformance.conformance.targets.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.targets.broker.ports import BrokerPorts, ports_of
from rocketmq_conformance.conformance.targets.broker.process import HOST
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.wire import WireRules
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

#: What a slave begins and ends with when it asks its master, and what it asks for in between that counts here.
_FIRST, _LAST = Request.GET_ALL_TOPIC_CONFIG, Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
_ASKED = frozenset({_FIRST, Request.GET_ALL_CONSUMER_OFFSET, _LAST})
#: What a slave that may act as master asks before it comes online: where messages come from.
_REPLICATION = Request.EXCHANGE_BROKER_HA_INFO
#: For how long a slave is waited for that asks every minute (s), and for how long until it has taken the last answer.
_ASKS, _TAKES = 200.0, 20.0
#: Timeout of a request to the master (s): the slave itself waits for 3 s.
_PATIENCE = 3.0


class Gate:
    """The master as its slave sees it, on ports of its own: topics are asked for at the one two below the main port.
    ``port`` is the master's."""

    def __init__(self, release: Release, port: Callable[[], int]) -> None:
        wire = WireRules.of(Profile.of(broker=str(release)))
        self._ports = BrokerPorts()
        self._listeners = [
            Listener(self, HOST, each, echo=wire.echoes_binary, version=wire.ordinal)
            for each in ports_of(self._ports.main)[:2]
        ]
        self._port = port
        #: Is a case waiting for the slave to ask, and has it begun to?
        self._wanted = self._begun = False
        #: Has it asked for everything?
        self._asked = threading.Event()

    def start(self) -> str:
        """Listen; the result is host:port."""
        for each in self._listeners:
            each.start()
        return f"{HOST}:{self._ports.main}"

    def stop(self) -> None:
        """Close the ports."""
        for each in self._listeners:
            each.stop()
        self._ports.close()

    def let_through(self, taken: Callable[[], bool]) -> bool:
        """Wait until the slave has asked for everything once, from the first to the last, and has ``taken`` the
        answers; False when it does not ask."""
        self._asked.clear()
        self._wanted = True
        try:
            return self._asked.wait(_ASKS) and wait_until(taken, _TAKES, 0.02)
        finally:
            self._wanted = self._begun = False

    def handle(self, peer: Peer, request: Command) -> Command:
        """Answer one request of the slave."""
        self._begun = self._begun or (self._wanted and request.code == _FIRST)
        if request.code != _REPLICATION and (not self._begun or request.code not in _ASKED):
            return _refused("the master answers nothing now")
        try:
            with Connection(HOST, self._port(), _PATIENCE) as master:
                answer = master.call(request.code, request.ext, request.body)
        except OSError as error:
            answer = _refused(f"the master does not answer: {error}")
        if request.code == _LAST:
            self._asked.set()
        return Command(answer.code, answer.ext, answer.body, remark=answer.remark)

    def closed(self, peer: Peer) -> None:
        """Nothing to do: no state is kept per connection."""


def _refused(remark: str) -> Command:
    return Command(int(Response.SYSTEM_ERROR), remark=remark)


class StartedSlave:
    """The slave of ``master``; ``make`` makes its process, of these properties, with this name server."""

    #: A slave that lost its master looks for it every 5 s or so.
    arrives = 40.0

    def __init__(self, master: Broker, make: Callable[[Mapping[str, str], str], Broker]) -> None:
        self._master = master
        self._gate = Gate(master.release, lambda: master.port)
        # a broker listens for its slaves on the port after its own
        self._names = self._named(self._gate.start(), f"{HOST}:{master.port + 1}")
        self._broker = make({ROLE: SLAVE, "brokerId": "1"}, self._names.start())
        self._broker.start()

    def _named(self, master: str, replication: str) -> RouteServer:
        """Its name server, by which it learns the addresses of its master."""
        return RouteServer(self._master.release, {"masterAddr": master, "haServerAddr": replication})

    def left(self) -> None:
        """Nothing that it does depends on its master's end."""

    def online(self) -> bool:
        """A master comes online at once when it is started again."""
        return True

    def open(self) -> Connection:
        """Connect."""
        try:
            return Pipeline(HOST, self._broker.port)
        except OSError as error:
            raise AdapterError(f"The slave cannot be reached any more: {error}.") from error

    def synchronise(self) -> None:
        """Wait until it has asked its master; AdapterError when it does not."""
        if not self._gate.let_through(self._has_groups):
            raise AdapterError(f"The slave did not ask its master in {_ASKS:.0f} s: see its log for the reason.")

    def _has_groups(self) -> bool:
        """Does it have the groups of its master, which it asks for last, or is that one down?"""
        try:
            wanted = _groups(self._master.port)
        except OSError:
            return True
        return _groups(self._broker.port) == wanted

    def close(self) -> None:
        """Kill it, and remove its folder."""
        self._broker.close()
        self._names.stop()
        self._gate.stop()


def _groups(port: int) -> frozenset[str]:
    with Connection(HOST, port, _PATIENCE) as connection:
        ask = requests.groups()
        answer = connection.call(ask.code, ask.ext, ask.body)
    return frozenset(java_json.loads(answer.body.decode())["subscriptionGroupTable"])
