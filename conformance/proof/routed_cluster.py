"""A name server, and brokers and slaves of any releases that it names: what proofs of predictions ask."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.cluster import ROUTE_LIMIT
from rocketmq_conformance.conformance.targets.broker.process import HOST
from rocketmq_conformance.conformance.targets.broker.servers import Broker, NameServer
from rocketmq_conformance.conformance.targets.scoped import Scoped
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.release import NEWEST, Release

#: The shapes of a topic's queues.
SHAPES = ("young", "empty", "expired", "gone")
#: Timeout of a request (s).
_PATIENCE = 20.0


class RoutedCluster(Scoped):
    """A name server of the newest release, and brokers with one topic; a context manager that ends them."""

    topic: str

    def __init__(self) -> None:
        self._open = ExitStack()

    def start(self) -> None:
        """Start the name server."""
        named_by = self._open.enter_context(NameServer(NEWEST))
        #: The name server's address, host:port.
        self.name_server = named_by.address
        self._names = named_by.port

    def close(self) -> None:
        """End the processes and connections."""
        self._open.close()

    def broker(
        self, release: Release, properties: Mapping[str, str], stored: Mapping[str, Mapping[int, int]]
    ) -> Broker:
        """A broker, started, with the topic and what groups stored of it."""

        def fill(home: Path) -> None:
            offsets = {(group, self.topic): each for group, each in stored.items()}
            write_store(home, {self.topic: [log_of_shape(shape) for shape in SHAPES]}, offsets)

        return self._open.enter_context(Broker(release, fill, self.name_server, properties=properties))

    def await_route(self, wanted: Mapping[str, set[str]]) -> None:
        """Wait until the name server names these addresses of brokers, by their numbers."""
        if not wait_until(lambda: self.route() == wanted, ROUTE_LIMIT, 0.1):
            raise CannotRunError(f"The route of {self.topic} is not complete after {ROUTE_LIMIT:.0f} s: try again.")

    def route(self) -> dict[str, set[str]]:
        """The numbers of the addresses that the name server has of each broker."""
        with Connection(HOST, self._names, _PATIENCE) as line:
            answer = line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": self.topic})
        found = java_json.loads(answer.body.decode())["brokerDatas"] if answer.code == 0 else []
        return {each["brokerName"]: set(each["brokerAddrs"]) for each in found}


def ask(broker: Broker, asked: requests.Ask) -> Command:
    """The answer of a broker to one request."""
    with Connection(HOST, broker.port, _PATIENCE) as line:
        return line.call(asked.code, asked.ext, asked.body)
