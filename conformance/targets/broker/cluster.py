"""Starts a name server and a broker of one release, for clients that fetch routes as in production."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.conformance.targets.broker.process import HOST
from rocketmq_conformance.conformance.targets.broker.servers import Broker, BrokerHost, NameServer
from rocketmq_conformance.conformance.targets.scoped import Scoped
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.release import Release

#: Timeout of a topic's registration at the name server (s): some brokers take ten seconds.
ROUTE_LIMIT = 60.0
#: Timeout of a request (s).
_PATIENCE = 20.0
_APART = (
    "A name server and its broker reach each other by this machine's loopback, which containers of this engine do not "
    "have: leave out via=container."
)


class Cluster(Scoped):
    """The two processes, and a connection to each; a context manager that starts and stops them.

    ``prepare`` fills the broker's folder before its start (aged_store.py); the name server may be of another release;
    ``lease`` is the lease of the broker's locks (s), a minute unless given; ``limit`` is for each start (s), that of
    the whole start that is under way unless given; ``host`` is where both run, this machine unless given.
    """

    def __init__(
        self,
        release: Release,
        prepare: Callable[[Path], None] = lambda home: None,
        name_server: Release | None = None,
        lease: float | None = None,
        limit: float | None = None,
        host: BrokerHost | None = None,
    ) -> None:
        if host and not host.shares_ports:
            raise CannotRunError(_APART)
        self._host = host
        self.release = release
        self._named_by = name_server or release
        self._prepare = prepare
        self._lease, self._limit = lease, limit
        self._open = ExitStack()

    def start(self) -> None:
        """Start the name server and the broker, and connect to both."""
        name_server = self._open.enter_context(NameServer(self._named_by, limit=self._limit, host=self._host))
        #: The name server's address, host:port.
        self.name_server = name_server.address
        #: The broker's process.
        self.broker = self._open.enter_context(
            Broker(
                self.release,
                self._prepare,
                name_server.address,
                lease=self._lease,
                host=self._host,
                limit=self._limit,
            )
        )
        self._names = self._open.enter_context(Connection(HOST, name_server.port, _PATIENCE))
        self._connection = self._open.enter_context(Connection(HOST, self.broker.port, _PATIENCE))

    def close(self) -> None:
        """End the processes and connections."""
        self._open.close()

    def ask(self, request: requests.Ask) -> Command:
        """Send a request; the broker's response, which may be an error code."""
        return self._connection.call(request.code, request.ext, request.body)

    def do(self, request: requests.Ask) -> Command:
        """Send a request that must succeed; CannotRunError when it does not."""
        answer = self.ask(request)
        error = responses.refused(answer)
        if error is not None:
            raise CannotRunError(
                f"Broker {self.release} refused request {int(request.code)} with {error.code} ({error.detail})."
            )
        return answer

    def send(self, topic: str, queue: int) -> int:
        """Send a message; its offset."""
        offset = responses.number(self.do(requests.send(topic, queue, int(time.time() * 1000))), "queueOffset")
        if isinstance(offset, Err):
            raise CannotRunError(f"Broker {self.release} stored a message without telling its offset.")
        return offset

    def await_route(self, topic: str) -> None:
        """Wait until the name server has the topic's route."""
        route = partial(self._names.call, Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
        if not wait_until(lambda: not route().code, ROUTE_LIMIT, 0.05):
            raise CannotRunError(f"The name server does not know {topic} after {ROUTE_LIMIT:.0f} s: try again.")
