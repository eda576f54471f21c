"""Hands every request to the handler of its code: the two doors of the fake broker meet here.

In process a request is its code, header fields and body, and its response is returned. Over TCP it is a command on a
connection, whose response may also come later. Handlers that need no connection serve both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.fault_script import FaultScript
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import (
    CODES,
    ConnectionHandler,
    PlainHandler,
    command,
)
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer

_NOT_SUPPORTED, _SYSTEM_ERROR = CODES["REQUEST_CODE_NOT_SUPPORTED"], CODES["SYSTEM_ERROR"]


class Dispatcher:
    """The handlers by request code, and a fault script over them (``record`` is the script's).

    A request that no handler knows is answered as the release does, or not at all (WIRE-ERR-2).
    """

    def __init__(self, record: Record, unknown_answered: bool) -> None:
        self._unknown_answered = unknown_answered
        self._record = record
        self._honest: dict[int, PlainHandler] = {}
        self._connected: dict[int, ConnectionHandler] = {}
        self._leaving: list[Callable[[Peer], None]] = []
        #: Called before every request over a connection.
        self.before: Callable[[], object] = lambda: None
        #: Faults by kind of request.
        self.script = FaultScript(self._honest, record)
        self._handlers = self.script.handlers
        self._otherwise: PlainHandler = self._unknown

    def add(self, handlers: Mapping[int, PlainHandler]) -> None:
        """Answer requests by these handlers at both doors."""
        self._honest.update(handlers)
        self.script.add(handlers)

    def add_connected(self, handlers: Mapping[int, ConnectionHandler]) -> None:
        """Answer requests by these handlers instead when they come over a connection."""
        self._connected.update(handlers)

    def on_leave(self, action: Callable[[Peer], None]) -> None:
        """Call this for each connection that was closed."""
        self._leaving.append(action)

    def exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """The door in process: the response to one request. TimeoutError: no response; ConnectionError: cut.

        As over TCP, a handler that fails makes a SYSTEM_ERROR (WIRE-ERR-1).
        """
        self._record.one_way = one_way
        try:
            return (self._handlers.get(code) or self._otherwise)(code, ext, body)
        except (TimeoutError, ConnectionError):
            raise
        except Exception as error:
            return _SYSTEM_ERROR, f"{type(error).__name__}: {error}", {}, b""

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """The door over TCP: the response, or None when it comes later or never."""
        self.before()
        self._record.one_way = request.is_one_way
        code = request.code
        connected = self._connected.get(code)
        if connected is not None and not self.script.plays(code):
            return connected(peer, request)
        return command(self._handlers.get(code, self._otherwise)(code, request.ext, request.body))

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        for action in self._leaving:
            action(peer)

    def _unknown(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        if not self._unknown_answered:
            raise TimeoutError(f"this release does not answer request type {code}, which it does not know")
        return _NOT_SUPPORTED, f" request type {code} not supported", {}, b""
