"""A fake name server for brokers that the kit starts: accepts every registration, and has the routes of one suite.

The routes are those of ``broker-assignment``: queues of several brokers, of which only one exists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Listener, Peer
from rocketmq_conformance.conformance.targets.broker.broker_assignment import route_of
from rocketmq_conformance.models.broker.switches import ASSIGNS
from rocketmq_conformance.models.broker.wire import WireRules
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

_HOST = "127.0.0.1"
#: The cluster of every broker.
CLUSTER = "conformance"
#: Permissions of queues that may be read and written, and of others.
_READ_WRITE, _WRITE = 6, 2
#: The brokers of a route are never connected to.
_NOWHERE = "127.0.0.1:1"


def routed(release: Release) -> bool:
    """Do brokers of a release fetch routes to assign queues?"""
    return ASSIGNS.on(release)


class RouteServer:
    """A name server on a port of its own; ``registered`` are the fields by which it answers a registration."""

    def __init__(self, release: Release, registered: Mapping[str, str] = MappingProxyType({})) -> None:
        self._registered = registered
        wire = WireRules.of(Profile.of(broker=str(release)))
        self._listener = Listener(self, _HOST, 0, echo=wire.echoes_binary, version=wire.ordinal)
        self._started = False

    def start(self) -> str:
        """Listen, if need be; the result is host:port."""
        if not self._started:
            self._listener.start()
            self._started = True
        return self._listener.address

    def stop(self) -> None:
        """Close the port and all connections."""
        self._listener.stop()

    def handle(self, peer: Peer, request: Command) -> Command:
        """Answer one request of a broker."""
        if request.code == Request.GET_ROUTEINFO_BY_TOPIC:
            return _route(request.ext["topic"])
        if request.code in {Request.REGISTER_BROKER, Request.UNREGISTER_BROKER}:
            return Command(0, dict(self._registered))
        return Command(int(Response.REQUEST_CODE_NOT_SUPPORTED), remark=f"request {request.code} is not known here")

    def closed(self, peer: Peer) -> None:
        """Nothing to do: no state is kept per broker."""


def _route(topic: str) -> Command:
    found = route_of(topic)
    if found is None:
        return Command(int(Response.TOPIC_NOT_EXIST), remark=f"no route of {topic}")
    brokers = [{"brokerAddrs": {"0": _NOWHERE}, "brokerName": name, "cluster": CLUSTER} for name, _, _ in found]
    queues = [
        {
            "brokerName": name,
            "perm": _READ_WRITE if readable else _WRITE,
            "readQueueNums": count,
            "writeQueueNums": count,
            "topicSysFlag": 0,
            "topicSynFlag": 0,
        }
        for name, count, readable in found
    ]
    data = {"brokerDatas": brokers, "filterServerTable": {}, "queueDatas": queues}
    return Command(0, body=json.dumps(data).encode())
