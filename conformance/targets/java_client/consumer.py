"""The real consumer classes of one release: remote offset store and start positions of push, lite pull and pull."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.remoting.codes import response_name
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.client.fixtures import GROUP, NO_QUEUE, QUEUES, TOPIC
from rocketmq_conformance.models.outcome import Err, Result

CLIENT_ID = "10.0.0.1@conformance"
_TYPES = {
    "memory": "READ_FROM_MEMORY",
    "store": "READ_FROM_STORE",
    "memory-then-store": "MEMORY_FIRST_THEN_STORE",
}
#: Tries, and ms for each, of the request that settles a connection.
_TRIES, _ROUTE_MILLIS = 20, 1000
_TIMESTAMP = "CONSUME_FROM_TIMESTAMP"
#: Consumer class, field of its implementation, by suite.
_CONSUMERS = {
    "start-push": ("client.consumer.DefaultMQPushConsumer", "defaultMQPushConsumerImpl"),
    "start-lite-pull": ("client.consumer.DefaultLitePullConsumer", "defaultLitePullConsumerImpl"),
    "start-pull": ("client.consumer.DefaultMQPullConsumer", "defaultMQPullConsumerImpl"),
}


class JavaConsumer:
    """One client instance of a release that was never started: no threads, no timers; stores and rebalancers on it."""

    def __init__(self, release: JavaRelease, via: str) -> None:
        self.release = release
        self.via = via
        self._config = release.load("client.ClientConfig")
        self._remoting: RemotingCalls | None = None
        self.factory: Any = None
        self._store_class = release.load("client.consumer.store.RemoteBrokerOffsetStore")
        types = release.load("client.consumer.store.ReadOffsetType")
        self._types = {kind: getattr(types, name) for kind, name in _TYPES.items()}
        message_queue = release.load("common.message.MessageQueue")
        self._queues = {at: message_queue(*queue) for at, queue in enumerate(QUEUES)}
        self._queues[NO_QUEUE] = None
        self._positions = {queue: at for at, queue in enumerate(QUEUES)}
        self._hash_set = jpype.JClass("java.util.HashSet")
        self._throwable = jpype.JClass("java.lang.Throwable")
        self._broker_refused = release.load("client.exception.MQBrokerException")
        self._client_failed = release.load("client.exception.MQClientException")
        self._remoting_failed = release.load("remoting.exception.RemotingException")
        self._where = release.load("common.consumer.ConsumeFromWhere")
        self._time_zone = jpype.JClass("java.util.TimeZone")
        self._zone = "UTC"
        self.store: Any = None
        self._consumers: dict[str, tuple[Any, Any, Any]] = {}
        self._consumer: Any = None
        self._rebalance: Any = None

    # --- a case -------------------------------------------------------------------------------------------

    def begin(self, case: Case) -> None:
        """A new store for a new case; the client instance stays."""
        if self.factory is None:
            self._make_factory(case)
        if self._remoting is not None:
            self._remoting.exchange = case.exchange
        self.store = self._store_class(self.factory, GROUP)
        if case.suite.name in _CONSUMERS:
            self._begin_consumer(case.suite.name)

    def _make_factory(self, case: Case) -> None:
        config = self._config()
        config.setNamesrvAddr("127.0.0.1:1" if self.via == "call" else case.name_server())
        if self.via == "tcp" and hasattr(config, "setVipChannelEnabled"):
            config.setVipChannelEnabled(False)
        self.factory = self.release.load("client.impl.factory.MQClientInstance")(config, 0, CLIENT_ID)
        api = self.factory.getMQClientAPIImpl()
        if self.via == "call":
            self._remoting = RemotingCalls(self.release)
            self.release.put(api, "remotingClient", self._remoting.proxy)
        else:
            api.start()

    def _begin_consumer(self, suite: str) -> None:
        if suite not in self._consumers:
            name, field = _CONSUMERS[suite]
            consumer = self.release.load(name)(GROUP)
            inside = self.release.get(consumer, field)
            rebalance = self.release.get(inside, "rebalanceImpl")
            rebalance.setmQClientFactory(self.factory)
            rebalance.setConsumerGroup(GROUP)
            self.release.put(inside, "mQClientFactory", self.factory)
            self._consumers[suite] = consumer, inside, rebalance
        self._consumer, inside, self._rebalance = self._consumers[suite]
        self.release.put(inside, "offsetStore", self.store)

    def settle(self) -> None:
        """Wait until what was sent one way has arrived: a request behind it on the same connection is answered.

        The request is for a route, which no fault plays. A connection that was cut is made anew by it, before the
        next operation could be lost on it. In recent releases a one-way request takes a turn of the
        client's event loop more than a request that waits, which can overtake it: the second one cannot.
        """
        if self.via == "tcp":
            self._ask_route()
            self._ask_route()

    def _ask_route(self) -> None:
        api = self.factory.getMQClientAPIImpl()
        for left in reversed(range(_TRIES)):
            try:
                api.getTopicRouteInfoFromNameServer(TOPIC, _ROUTE_MILLIS)
                return
            except jpype.JException:
                if not left:
                    raise
                time.sleep(0.05)

    def close(self) -> None:
        """Close connections."""
        if self.factory is not None and self.via == "tcp":
            self.factory.getMQClientAPIImpl().shutdown()

    # --- operations ---------------------------------------------------------------------------------------

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation, by name; errors are returned."""
        found: dict[str, Callable[..., Result]] = {
            "update": self.update,
            "read": lambda queue, kind, fault="answer": self.read(queue, kind),
            "persist": self.persist,
            "persist_all": self.persist_all,
            "remove": self.remove,
            "clone": self.clone,
            "commit": lambda queue, offset, one_way, fault: self.commit(queue, offset, one_way),
            "start": lambda queue, where, *faults: self.start(queue, where, None, "UTC", False),
            "start_checked": lambda queue, where, *faults: self.start(queue, where, None, "UTC", True),
            "start_at_time": lambda queue, time, zone, *faults: self.start(queue, _TIMESTAMP, time, zone, False),
            "start_at_time_checked": lambda queue, time, zone, *faults: self.start(queue, _TIMESTAMP, time, zone, True),
        }
        if hasattr(self._store_class, "updateAndFreezeOffset"):
            found["freeze"] = self.freeze
        return {name: self._returning_errors(call) for name, call in found.items()}

    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        self.store.updateOffset(self._queues[queue], offset, increase_only)
        return None

    def freeze(self, queue: int, offset: int) -> Result:
        self.store.updateAndFreezeOffset(self._queues[queue], offset)
        return None

    def read(self, queue: int, kind: str) -> Result:
        return int(self.store.readOffset(self._queues[queue], self._types[kind]))

    def persist(self, queue: int) -> Result:
        self.store.persist(self._queues[queue])
        self.settle()
        return None

    def persist_all(self, queues: tuple[int, ...]) -> Result:
        self.store.persistAll(self._hash_set([self._queues[queue] for queue in queues]))
        self.settle()
        return None

    def remove(self, queue: int) -> Result:
        self.store.removeOffset(self._queues[queue])
        return None

    def clone(self, topic: str) -> Result:
        table = self.store.cloneOffsetTable(topic)
        return tuple(sorted((self._position(entry.getKey()), int(entry.getValue())) for entry in table.entrySet()))

    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        self.store.updateConsumeOffsetToBroker(self._queues[queue], offset, one_way)
        if one_way:
            self.settle()
        return None

    def start(self, queue: int, where: str, timestamp: str | None, zone: str, checked: bool) -> Result:
        """Where the consumer starts."""
        if hasattr(self._consumer, "setConsumeFromWhere"):
            self._consumer.setConsumeFromWhere(getattr(self._where, where))
            if where == _TIMESTAMP:
                self._consumer.setConsumeTimestamp(timestamp)
        if zone != self._zone:
            self._time_zone.setDefault(self._time_zone.getTimeZone(zone))
            self._zone = zone
        compute = self._rebalance.computePullFromWhereWithException if checked else self._rebalance.computePullFromWhere
        return int(compute(self._queues[queue]))

    # --- errors -------------------------------------------------------------------------------------------

    def _returning_errors(self, call: Callable[..., Result]) -> Callable[..., Result]:
        def guarded(*args: Any) -> Result:
            try:
                result = call(*args)
            except jpype.JException as error:
                result = self._error(error)
            if "cut" in args:
                self.settle()
            return result

        return guarded

    def _error(self, error: Any) -> Err:
        detail = str(error)[:300]
        if isinstance(error, self._broker_refused):
            return Err(response_name(int(error.getResponseCode())), detail=detail)
        if isinstance(error, self._client_failed):
            return Err("CLIENT", detail=detail)
        if isinstance(error, self._remoting_failed):
            return Err("REMOTING", detail=detail)
        return Err("RUNTIME", detail=detail)

    def _position(self, queue: Any) -> int:
        return self._positions[str(queue.getTopic()), str(queue.getBrokerName()), int(queue.getQueueId())]  # type: ignore[index]
