"""The port's transport to its broker: over sockets, as every client does, or by plain calls, which are faster."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Protocol

from rocketmq_conformance.conformance.adapter import AdapterError, Answered, Case, Exchange
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.host_port import host_port

#: Timeout of a request to the fake broker, which is on this machine (s).
TIMEOUT = 0.5
_ROUTE = int(Request.GET_ROUTEINFO_BY_TOPIC)


class NoRouteError(Exception):
    """The name server has no route of a topic."""


class Transport(Protocol):
    """Asks the broker that serves a queue."""

    def begin(self, case: Case) -> None:
        """Send requests to the broker of this case from now on."""
        ...

    def ask(
        self, topic: str, broker: str, code: int, ext: dict[str, str], one_way: bool = False, body: bytes = b""
    ) -> Answered:
        """One request; TimeoutError, ConnectionError, or NoRouteError when there is no such broker."""
        ...

    def route(self, topic: str) -> bytes:
        """The body of a topic's route; NoRouteError when there is none."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


@lru_cache(maxsize=256)
def masters(route: bytes) -> dict[str, str]:
    """Of every broker of a route, by name, the address of the master, else of any slave."""
    found: dict[str, str] = {}
    for data in json.loads(route)["brokerDatas"]:
        addresses: dict[str, str] = data["brokerAddrs"]
        if addresses:
            found[data["brokerName"]] = addresses.get("0") or next(iter(addresses.values()))
    return found


def _no_broker(address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
    raise AdapterError("The port has no broker to ask before its first case begins.")


class Calls:
    """Requests as plain calls."""

    def __init__(self) -> None:
        self._exchange: Exchange = _no_broker
        self._addresses: dict[tuple[str, str], str] = {}
        #: The latest route of each topic: mostly it is the same again.
        self._routes: dict[str, bytes] = {}

    def begin(self, case: Case) -> None:
        """Send requests to the broker of this case from now on."""
        if case.exchange != self._exchange:
            self._exchange = case.exchange
            self._addresses.clear()
            self._routes.clear()

    def ask(
        self, topic: str, broker: str, code: int, ext: dict[str, str], one_way: bool = False, body: bytes = b""
    ) -> Answered:
        """One request."""
        address = self._addresses.get((topic, broker)) or self._look_up(topic, broker)
        return self._exchange(address, code, ext, body, one_way)

    def route(self, topic: str) -> bytes:
        """The body of a topic's route; its brokers are known from then on."""
        code, _, _, route = self._exchange("", _ROUTE, {"topic": topic}, b"", False)
        if code != 0:
            raise NoRouteError(topic)
        if self._routes.get(topic) != route:
            self._routes[topic] = route
            for broker, address in masters(route).items():
                self._addresses[topic, broker] = address
        return route

    def _look_up(self, topic: str, broker: str) -> str:
        self.route(topic)
        address = self._addresses.get((topic, broker))
        if address is None:
            raise NoRouteError(topic)
        return address

    def close(self) -> None:
        """There is nothing to close."""


class Sockets:
    """Requests over the remoting protocol."""

    def __init__(self) -> None:
        self._name_server = ""
        self._connections: dict[str, Connection] = {}
        self._addresses: dict[tuple[str, str], str] = {}

    def begin(self, case: Case) -> None:
        """Ask the broker of this case from now on; connections stay."""
        name_server = case.name_server()
        if name_server != self._name_server:
            self.close()
            self._addresses.clear()
            self._name_server = name_server

    def ask(
        self, topic: str, broker: str, code: int, ext: dict[str, str], one_way: bool = False, body: bytes = b""
    ) -> Answered:
        """One request."""
        answer = self._asked(self._address(topic, broker), code, ext, one_way, body)
        return answer.code, answer.remark or "", answer.ext, answer.body

    def route(self, topic: str) -> bytes:
        """The body of a topic's route; its brokers are known from then on."""
        answer = self._asked(self._name_server, _ROUTE, {"topic": topic})
        if answer.code != 0:
            raise NoRouteError(topic)
        for broker, address in masters(answer.body).items():
            self._addresses[topic, broker] = address
        return answer.body

    def close(self) -> None:
        """Close every connection."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _address(self, topic: str, broker: str) -> str:
        place = topic, broker
        if place not in self._addresses:
            self.route(topic)
            if place not in self._addresses:
                raise NoRouteError(topic)
        return self._addresses[place]

    def _asked(self, address: str, code: int, ext: dict[str, str], one_way: bool = False, body: bytes = b"") -> Command:
        """One request; the next one has a new connection when this one breaks. A late answer is dropped."""
        connection = self._connections.get(address)
        if connection is None or connection.closed:
            connection = self._connections[address] = Connection(*host_port(address))
        if one_way:
            connection.send(code, ext, body)
            return Command(0)
        return connection.call(code, ext, body, timeout=TIMEOUT)
