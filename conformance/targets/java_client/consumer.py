"""A real client instance with an offset store: the base of the parts of ``remote-store`` and ``start-*``.

The instance is never started: no threads, no timers. Its requests are plain calls in this process, or go over sockets
by the release's own network code.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.remoting.codes import response_name
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

CLIENT_ID = "10.0.0.1@conformance"
_TYPES = {
    "memory": "READ_FROM_MEMORY",
    "store": "READ_FROM_STORE",
    "memory-then-store": "MEMORY_FIRST_THEN_STORE",
}
#: Exceptions of a client, and the code of each as an outcome: "" is that of the response.
_FAILURES = {
    "client.exception.MQBrokerException": "",
    "client.exception.MQClientException": "CLIENT",
    "remoting.exception.RemotingException": "REMOTING",
}
#: The code of any other one.
_OTHER = "RUNTIME"
#: Tries, and timeout of each (ms), of the request that settles a connection.
_TRIES, _ROUTE_MILLIS = 20, 1000

C = TypeVar("C", bound="JavaConsumer")
P = ParamSpec("P")


def returning_errors(call: Callable[Concatenate[C, P], Result]) -> Callable[Concatenate[C, P], Result]:
    """Make a method of a consumer return what Java raises in it, as an outcome."""

    @wraps(call)
    def guarded(self: C, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            result = call(self, *args, **kwargs)
        except jpype.JException as error:
            result = self.error_of(error)
        if isinstance(result, Err) or (isinstance(result, int) and result < 0):
            self.settle()  # the connection may have been cut
        return result

    return guarded


class JavaConsumer(Part):
    """One client instance, and a new offset store for every case."""

    over_sockets = True

    def __init__(self, release: JavaRelease, via: str = "call", topology: Topology = ORDINARY) -> None:
        self.release = release
        self.via = via
        self.topology = topology
        self.factory: Any = None
        self.store_class = release.load("client.consumer.store.RemoteBrokerOffsetStore")
        self.store: Any = None
        self._config = release.load("client.ClientConfig")
        self._remoting: RemotingCalls | None = None
        types = release.load("client.consumer.store.ReadOffsetType")
        self.types = {kind: getattr(types, name) for kind, name in _TYPES.items()}
        message_queue = release.load("common.message.MessageQueue")
        self.queues = {at: message_queue(*queue) for at, queue in enumerate(topology.queues)}
        self.queues[NO_QUEUE] = None
        #: What may be raised: refusals of the broker first.
        self.failures = [release.load(name) for name in _FAILURES]

    # --- a case -------------------------------------------------------------------------------------------

    def begin(self, case: Case) -> None:
        """A new store for a new case; the client instance is kept."""
        if self.factory is None:
            self._make_factory(case)
        if self._remoting is not None:
            self._remoting.exchange = case.exchange
        self.open_store(GROUP)

    def open_store(self, group: str) -> None:
        """An empty offset store of a group."""
        self.store = self.store_class(self.factory, group)

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

    def settle(self) -> None:
        """Wait until one-way requests have arrived: a request behind them on the same connection has its response.

        The request is for a route, which has no faults. It reconnects after a cut, before the
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

    def error_of(self, error: Any) -> Err:
        """An exception of Java as an outcome."""
        kind = next((at for at, failure in enumerate(self.failures) if isinstance(error, failure)), len(self.failures))
        return failed(kind, 0 if kind else int(error.getResponseCode()), str(error))


def failed(kind: int, code: int, detail: str) -> Err:
    """An exception of Java as an outcome: the first of ``failures`` that it is of, or their number, and its code."""
    name = (*_FAILURES.values(), _OTHER)[kind]
    return Err(name or response_name(code), detail=detail[:300])
