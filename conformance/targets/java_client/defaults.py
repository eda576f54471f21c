"""Plays the suite ``defaults`` with new consumers of a release, and with the requests of its own API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.release import LITE_PULL, JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.client.defaults import (
    CONCURRENT,
    LITE,
    ON,
    ONE_WAY_COMMIT,
    ONE_WAY_UNLOCK,
    PULL,
    PUSH,
    UNSET,
)
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, TOPIC
from rocketmq_conformance.suites.defaults import AskPort, CountThreads, UnsetLite, UnsetPull, UnsetPush, WaitFor

_CONSUMERS = {PUSH: "DefaultMQPushConsumer", PULL: "DefaultMQPullConsumer", LITE: "DefaultLitePullConsumer"}
#: How old releases spell what was renamed.
_SPELT = {"PollNameServerInterval": "PollNameServerInteval", "sendHeartbeat": "sendHearbeat"}
#: The method of the client's API that sends each request.
_METHODS = {
    "QUERY_CONSUMER_OFFSET": "queryConsumerOffset",
    "UPDATE_CONSUMER_OFFSET": "updateConsumerOffset",
    ONE_WAY_COMMIT: "updateConsumerOffsetOneway",
    "GET_MAX_OFFSET": "getMaxOffset",
    "GET_MIN_OFFSET": "getMinOffset",
    "SEARCH_OFFSET_BY_TIMESTAMP": "searchOffset",
    "GET_CONSUMER_LIST_BY_GROUP": "getConsumerIdListByGroup",
    "LOCK_BATCH_MQ": "lockBatchMQ",
    "UNLOCK_BATCH_MQ": "unlockBatchMQ",
    ONE_WAY_UNLOCK: "unlockBatchMQ",
    "CONSUMER_SEND_MSG_BACK": "consumerSendMessageBack",
    "CHECK_CLIENT_CONFIG": "checkClientInBroker",
    "QUERY_ASSIGNMENT": "queryAssignment",
    "PULL_MESSAGE": "pullMessage",
    "HEART_BEAT": "sendHeartbeat",
    "UNREGISTER_CLIENT": "unregisterClient",
}
_HOST, _PORT = "127.0.0.1", 10911
#: The code of the answer to every request; what the client makes of it is no matter here.
_REFUSED = 1


class Requests(RemotingCalls):
    """Requests that are refused; the address of the last one is kept, and how long its answer is waited for (ms)."""

    address, millis = "", 0

    def invokeSync(self, address: Any, command: Any, millis: int) -> Any:  # noqa: N802 - Java's name
        """Refuse a request."""
        self.invokeOneway(address, command, millis)
        return self._command.createResponseCommand(_REFUSED, "")

    def invokeOneway(self, address: Any, command: Any, millis: int) -> None:  # noqa: N802
        """A one-way request."""
        self.address, self.millis = str(address), int(millis)


class JavaDefaults(Part):
    """New consumers of one release, with nothing but a group."""

    over_sockets = True  # it needs none

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        self.release = release
        self._listeners = {
            name: jpype.JProxy(release.load(f"client.consumer.listener.MessageListener{name}"), dict={})
            for name in ("Concurrently", "Orderly")
        }
        self._requests = Requests(release)
        lang = "java.lang."
        self._zeros = {
            primitive: jpype.JClass(lang + name)(0) for primitive, name in (("int", "Integer"), ("long", "Long"))
        }
        self._boolean = jpype.JClass(lang + "Boolean")
        #: The consumers of the case, by kind, and of all cases the client's API, by how the VIP channel is set.
        self._consumers: dict[str, Any] = {}
        self._apis: dict[str, Any] = {}
        self._asks = self._asking(self._client(UNSET))

    def begin(self, case: Case) -> None:
        """A case has consumers of its own."""
        self._consumers.clear()

    def _consumer(self, kind: str) -> Any:
        made = self._consumers.get(kind)
        if made is None:
            made = self._consumers[kind] = self.release.load(f"client.consumer.{_CONSUMERS[kind]}")(GROUP)
        return made

    def _setting(self, kind: str, setting: str) -> Result:
        """What a new consumer answers, None where there is no such setting."""
        consumer = self._consumer(kind)
        name = setting[0].upper() + setting[1:]
        for getter in (f"get{name}", f"is{name}", f"get{_SPELT.get(name, name)}"):
            if hasattr(consumer, getter):
                value = getattr(consumer, getter)()
                break
        else:
            return None
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return int(value)
        return str(value.getName() if hasattr(value, "getName") else value)

    def push(self, setting: str) -> Result:
        """A push consumer's setting."""
        return self._setting(PUSH, setting)

    def pull(self, setting: str) -> Result:
        """A pull consumer's setting."""
        return self._setting(PULL, setting)

    def lite(self, setting: str) -> Result:
        """A lite pull consumer's setting."""
        return self._setting(LITE, setting)

    def threads(self, listener: str) -> Result:
        """The threads of the service that calls a listener of a push consumer."""
        inside = self.release.get(self._consumer(PUSH), "defaultMQPushConsumerImpl")
        kind = "Concurrently" if listener == CONCURRENT else "Orderly"
        service = self.release.load(f"client.impl.consumer.ConsumeMessage{kind}Service")(inside, self._listeners[kind])
        pool = self.release.get(service, "consumeExecutor")
        return int(pool.getCorePoolSize()), int(pool.getMaximumPoolSize())

    def ask(self, request: str, channel: str, port: int) -> Result:
        """A request by the API of a client, whose address is looked at."""
        api = self._apis.get(channel) or self._api(channel)
        name = _METHODS[request]
        method = next((one for one in api.getClass().getMethods() if one.getName() in (name, _SPELT.get(name))), None)
        if method is None:
            return None
        with suppress(jpype.JException):  # what is refused is an exception of most requests
            method.invoke(api, self._arguments(method, f"{_HOST}:{port}", request == ONE_WAY_UNLOCK))
        return int(self._requests.address.rpartition(":")[2])

    def wait(self, request: str) -> Result:
        """How long a request that a client makes of its own is waited for."""
        with suppress(jpype.JException):
            self._asks[request]()
        return self._requests.millis

    def _asking(self, client: Any) -> dict[str, Callable[[], object]]:
        """What makes a client send each request; it knows the route of a topic."""
        load = self.release.load
        nodes, brokers = jpype.JClass("java.util.HashMap")(), jpype.JClass("java.util.ArrayList")()
        nodes.put(jpype.JClass("java.lang.Long")(0), f"{_HOST}:{_PORT}")
        broker, route = load("remoting.protocol.route.BrokerData")(), load("remoting.protocol.route.TopicRouteData")()
        broker.setBrokerName(BROKER)
        broker.setBrokerAddrs(nodes)
        brokers.add(broker)
        route.setBrokerDatas(brokers)
        self.release.get(client, "brokerAddrTable").put(BROKER, nodes)
        self.release.get(client, "topicRouteTable").put(TOPIC, route)
        queue = load("common.message.MessageQueue")(TOPIC, BROKER, 0)
        store = load("client.consumer.store.RemoteBrokerOffsetStore")(client, GROUP)
        stored = load("client.consumer.store.ReadOffsetType").READ_FROM_STORE
        inside = self.release.get(self._consumer(PUSH), "defaultMQPushConsumerImpl")
        rebalancing = self.release.get(inside, "rebalanceImpl")
        rebalancing.setmQClientFactory(client)
        rebalancing.setConsumerGroup(GROUP)
        admin = client.getMQAdminImpl()
        return {
            "QUERY_CONSUMER_OFFSET": lambda: store.readOffset(queue, stored),
            "UPDATE_CONSUMER_OFFSET": lambda: store.updateConsumeOffsetToBroker(queue, 1, False),
            ONE_WAY_COMMIT: lambda: store.updateConsumeOffsetToBroker(queue, 1, True),
            "GET_MAX_OFFSET": lambda: admin.maxOffset(queue),
            "GET_MIN_OFFSET": lambda: admin.minOffset(queue),
            "SEARCH_OFFSET_BY_TIMESTAMP": lambda: admin.searchOffset(queue, 0),
            "GET_CONSUMER_LIST_BY_GROUP": lambda: client.findConsumerIdList(TOPIC, GROUP),
            "LOCK_BATCH_MQ": lambda: rebalancing.lock(queue),
            "UNLOCK_BATCH_MQ": lambda: rebalancing.unlock(queue, False),
            ONE_WAY_UNLOCK: lambda: rebalancing.unlock(queue, True),
        }

    def _api(self, channel: str) -> Any:
        """The API of a client whose VIP channel is left as it is, on or off."""
        api = self._apis[channel] = self._client(channel).getMQClientAPIImpl()
        return api

    def _client(self, channel: str) -> Any:
        """A client instance whose requests are refused."""
        config = self._consumer(PUSH).cloneClientConfig()
        if channel != UNSET:
            config.setVipChannelEnabled(channel == ON)
        client = self.release.load("client.impl.factory.MQClientInstance")(config, 0, channel)
        self.release.put(client.getMQClientAPIImpl(), "remotingClient", self._requests.proxy)
        return client

    def _arguments(self, method: Any, address: str, one_way: bool) -> Any:
        """Arguments for a method of the API: the address, one-way or not, and of everything else an empty one."""
        made: list[Any] = []
        for kind in method.getParameterTypes():
            name = str(kind.getSimpleName())
            if name == "String":
                made.append("x" if made else address)
            elif name == "boolean":
                made.append(self._boolean(one_way))
            elif kind.isPrimitive():
                made.append(self._zeros[name])
            elif kind.isEnum():
                made.append(kind.getEnumConstants()[0])  # a pull that is waited for
            elif kind.isInterface():
                made.append(None)
            else:
                made.append(kind.getDeclaredConstructor().newInstance())
                if name == "PullMessageRequestHeader":
                    made[-1].setSysFlag(self._zeros["int"])
        return jpype.JArray(jpype.JObject)(made)

    def calls(self) -> Methods:
        """One callable per operation."""
        lite: Methods = {UnsetLite: self.lite} if self.release.release >= LITE_PULL else {}
        return {
            UnsetPush: self.push,
            UnsetPull: self.pull,
            CountThreads: self.threads,
            AskPort: self.ask,
            WaitFor: self.wait,
            **lite,
        }


PART = JavaDefaults
