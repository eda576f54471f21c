"""Plays the suite ``defaults`` with new consumers of a release, and with the requests of its own API."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Answered, Case, Methods
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
from rocketmq_conformance.suites.declare.topologies import GROUP
from rocketmq_conformance.suites.defaults import AskPort, CountThreads, UnsetLite, UnsetPull, UnsetPush

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
_HOST = "127.0.0.1"
#: The answer to every request; what the client makes of it is no matter here.
_REFUSED: Answered = 1, "", {}, b""


class Requests(RemotingCalls):
    """Requests that are refused; the address of the last one is kept."""

    address = ""

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Refuse a request."""
        self.address = address
        return _REFUSED


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

    def _api(self, channel: str) -> Any:
        """The API of a client whose VIP channel is left as it is, on or off."""
        config = self._consumer(PUSH).cloneClientConfig()
        if channel != UNSET:
            config.setVipChannelEnabled(channel == ON)
        client = self.release.load("client.impl.factory.MQClientInstance")(config, 0, channel)
        api = self._apis[channel] = client.getMQClientAPIImpl()
        self.release.put(api, "remotingClient", self._requests.proxy)
        return api

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
            **lite,
        }


PART = JavaDefaults
