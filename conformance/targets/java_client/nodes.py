"""Plays the suite ``nodes``: a release's own client instance, offset store, admin part and rebalance.

The consumer is never started. A request is recorded where it would reach the network, and answered there with success;
the route is the one that the plan's step has.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Answered, Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.java_client.pull import JavaPull
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY
from rocketmq_conformance.suites.nodes import (
    Bound,
    Commit,
    Heartbeat,
    Learn,
    Lock,
    Members,
    ReadStored,
    Unregister,
)

_HOST = "10.0.2."
_TOPIC = ORDINARY.queues[0].topic
_BODIES: dict[Request, dict[str, list[str]]] = {
    Request.LOCK_BATCH_MQ: {"lockOKMQSet": []},
    Request.GET_CONSUMER_LIST_BY_GROUP: {"consumerIdList": []},
}
_FIELDS = {"offset": "0", "timestamp": "0", "version": "0"}

Route = tuple[int, ...]


class NodeRecorder(RemotingCalls):
    """A RemotingClient that records where requests go, and lets each succeed."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        #: The nodes that the name server has in its route; is it asked, and which nodes are?
        self.route: Route = ()
        self.route_asked = False
        self.nodes: list[int] = []

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Success, and for the route what the name server has."""
        if code == Request.GET_ROUTEINFO_BY_TOPIC:
            self.route_asked = True
            if not self.route:
                return int(Response.TOPIC_NOT_EXIST), "no route", {}, b""
            return 0, "", {}, _route_of(self.route)
        self.nodes.append(int(address.removeprefix(_HOST).partition(":")[0]))
        answer = _BODIES.get(Request(code))
        return 0, "", _FIELDS, b"" if answer is None else json.dumps(answer).encode()


def _route_of(nodes: Route) -> bytes:
    queues = {"brokerName": BROKER, "readQueueNums": 4, "writeQueueNums": 4, "perm": 6, "topicSysFlag": 0}
    addresses = {str(node): f"{_HOST}{node}:10911" for node in nodes}
    brokers = {"cluster": "C", "brokerName": BROKER, "brokerAddrs": addresses}
    return json.dumps({"queueDatas": [queues], "brokerDatas": [brokers], "filterServerTable": {}}).encode()


class JavaNodes(JavaPull):
    """The client instance of a push consumer."""

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release, via)
        self.nodes = NodeRecorder(release)
        release.put(self.factory.getMQClientAPIImpl(), "remotingClient", self.nodes.proxy)
        self._client_failure = release.load("client.exception.MQClientException")
        self._stored = release.load("client.consumer.store.ReadOffsetType").READ_FROM_STORE

    def begin(self, case: Case) -> None:
        """A consumer that has learned no route."""
        super().begin(case)
        for table in ("topicRouteTable", "brokerAddrTable"):
            self.release.get(self.factory, table).clear()

    def _sent(self, route: Route, call: Callable[[], Any]) -> Result:
        """Is the route asked for, and which node is asked?"""
        self.nodes.route, self.nodes.route_asked = route, False
        self.nodes.nodes.clear()
        try:
            call()
        except self._client_failure:
            assert not self.nodes.nodes
        (node,) = self.nodes.nodes or (None,)
        return self.nodes.route_asked, node

    def learn_route(self, route: Route) -> Result:
        """``updateTopicRouteInfoFromNameServer``."""
        self._sent(route, lambda: self.factory.updateTopicRouteInfoFromNameServer(_TOPIC))
        return None

    def read_stored(self, route: Route) -> Result:
        """``readOffset``."""
        return self._sent(route, lambda: self.store.readOffset(self.queues[0], self._stored))

    def commit(self, route: Route) -> Result:
        """``updateConsumeOffsetToBroker``."""
        return self._sent(route, lambda: self.store.updateConsumeOffsetToBroker(self.queues[0], 1, True))

    def bound(self, which: str, route: Route) -> Result:
        """The methods of ``MQAdminImpl``."""
        admin, queue = self.factory.getMQAdminImpl(), self.queues[0]
        calls = {
            "min": lambda: admin.minOffset(queue),
            "max": lambda: admin.maxOffset(queue),
            "search": lambda: admin.searchOffset(queue, jpype.JLong(0)),
            "earliest": lambda: admin.earliestMsgStoreTime(queue),
        }
        return self._sent(route, calls[which])

    def lock(self, route: Route) -> Result:
        """``lock``."""
        return self._sent(route, lambda: self.rebalancing.lock(self.queues[0]))

    def members(self, route: Route) -> Result:
        """``findConsumerIdList``."""
        return self._sent(route, lambda: self.factory.findConsumerIdList(_TOPIC, GROUP))

    def heartbeat(self) -> Result:
        """``sendHeartbeatToAllBrokerWithLock``."""
        self.nodes.nodes.clear()
        self.factory.sendHeartbeatToAllBrokerWithLock()
        return tuple(sorted(self.nodes.nodes))

    def unregister(self) -> Result:
        """``unregisterConsumer``."""
        self.nodes.nodes.clear()
        self.factory.unregisterConsumer(GROUP)
        self.factory.registerConsumer(GROUP, self.inside)
        return tuple(sorted(self.nodes.nodes))

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Learn: self.learn_route,
            ReadStored: self.read_stored,
            Commit: self.commit,
            Bound: self.bound,
            Lock: self.lock,
            Members: self.members,
            Heartbeat: self.heartbeat,
            Unregister: self.unregister,
        }


PART = JavaNodes
