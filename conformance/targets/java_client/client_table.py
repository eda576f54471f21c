"""The clients that the consumers of a process share, without threads and sockets: the table of ``MQClientManager``.

A consumer's own ``start`` makes its client, or finds one by the id that it has chosen. The table is where a client
becomes known; there each new one is told that it runs already, so that its own start does nothing, and gets a
transport that calls the fake broker in this process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import AdapterError, Answered
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.suites.declare.topologies import TOPIC

#: (client id, consumer groups) as a heartbeat has them.
Heartbeat = tuple[str, tuple[str, ...]]


class HeartbeatCalls(RemotingCalls):
    """A RemotingClient that records heartbeats on their way."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.heartbeats: list[Heartbeat] = []

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Record a heartbeat."""
        if code == Request.HEART_BEAT:
            beat = json.loads(body)
            groups = sorted(str(consumer["groupName"]) for consumer in beat["consumerDataSet"])
            self.heartbeats.append((str(beat["clientID"]), tuple(groups)))
        return super().respond(address, code, ext, body, one_way)


class ClientTable:
    """The table of one release's ``MQClientManager``; the class behind a Java proxy of its map."""

    def __init__(self, release: JavaRelease) -> None:
        self.release = release
        self.remoting = HeartbeatCalls(release)
        self._runs = release.load("common.ServiceState").RUNNING
        self._clients: dict[str, Any] = {}
        self.manager = release.load("client.impl.MQClientManager").getInstance()
        self.install()

    def install(self) -> None:
        """Take the place of the manager's map."""
        proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.ConcurrentMap"), inst=self)
        self.release.put(self.manager, "factoryTable", proxy)

    def start(self, consumer: Any) -> None:
        """Start a consumer; raises what Java raises."""
        consumer.start()

    def clients(self) -> Iterable[Any]:
        """The clients of this moment."""
        return list(self._clients.values())

    def heartbeats(self) -> list[Heartbeat]:
        """The heartbeat of each client."""
        self.remoting.heartbeats.clear()
        for client in self.clients():
            client.updateTopicRouteInfoFromNameServer(TOPIC)  # it knows the broker then
            client.sendHeartbeatToAllBrokerWithLock()
        return list(self.remoting.heartbeats)

    def prepare(self, client: Any) -> None:
        """Keep a client's threads and sockets from being started."""
        self.release.put(client, "serviceState", self._runs)
        api = client.getMQClientAPIImpl()
        unused = self.release.get(api, "remotingClient")
        self.release.put(api, "remotingClient", self.remoting.proxy)
        unused.shutdown()

    # --- java.util.concurrent.ConcurrentMap, as far as the manager uses it ----------------------------------

    def get(self, name: str) -> Any:
        """The client of an id, or null."""
        return self._clients.get(str(name))

    def putIfAbsent(self, name: str, client: Any) -> Any:  # noqa: N802 - Java's name
        """Add a client; the one that was there before, or null."""
        before = self._clients.get(str(name))
        if before is None:
            self.prepare(client)
            self._clients[str(name)] = client
        return before

    def remove(self, name: str) -> Any:
        """Take a client out."""
        return self._clients.pop(str(name), None)


class EarlyClientTable(ClientTable):
    """The table of 4.0.0, a field of a class that cannot be replaced: a client is made before its consumer starts.

    Its id is that of a copy of the configuration, which is renamed as a start does it. A start that chose another
    one would be noticed.
    """

    def install(self) -> None:
        """The map is left alone."""
        self._map = self.release.get(self.manager, "factoryTable")

    def start(self, consumer: Any) -> None:
        """Start a consumer; raises what Java raises."""
        config = consumer.cloneClientConfig()
        if str(consumer.getMessageModel()) == "CLUSTERING":
            config.changeInstanceNameToPID()
        name = str(config.buildMQClientId())
        if self._map.get(name) is None:
            self.prepare(self.manager.getAndCreateMQClientInstance(config, None))
        known = set(self._names())
        try:
            consumer.start()
        finally:
            if set(self._names()) - known:
                raise AdapterError(f"Client {self.release.version} started with another id than {name}: report this.")
            client = self._map.get(name)
            if client is not None and self.release.get(client, "consumerTable").isEmpty():
                client.shutdown()

    def clients(self) -> Iterable[Any]:
        """The clients of this moment."""
        return list(self._map.values())

    def _names(self) -> Iterable[str]:
        return [str(name) for name in self._map.keySet()]


def client_table(release: JavaRelease) -> ClientTable:
    """The table of a release, in place."""
    manager = release.load("client.impl.MQClientManager").class_
    field = manager.getDeclaredField("factoryTable")
    return (ClientTable if field.getType().isInterface() else EarlyClientTable)(release)
