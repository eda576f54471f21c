"""The log of ``serve``: each request and response as a line of JSON, flushed at once.

A line has ``time`` (ISO 8601, UTC), ``connection`` (``host:port`` of the client), ``from`` (``client`` or ``broker``)
and ``opaque``, which pairs a response with its request. A request has ``request`` (its name or number), ``oneWay``
where it is true, and ``client`` when the connection has sent a heartbeat; a response has ``response`` and ``to``, the
request that it answers. Both have ``fields``, ``remark`` where there is one, and ``body`` (text) or ``bodyBytes``
(how many bytes that are no text). Bytes that are no frame are ``garbage``, and ``closed`` is the end of a connection.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple, TextIO

from rocketmq_conformance.conformance.remoting import heartbeat
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import (
    ONE_WAY,
    RESPONSE,
    Command,
    MalformedFrame,
    decode,
    frame_length,
)
from rocketmq_conformance.conformance.remoting.server import Peer

#: Messages that are remembered for the live view.
_LATEST = 200


class LoggedMessage(NamedTuple):
    """A request or response, for the live view; ``text`` is its kind, ``detail`` its fields in short."""

    time: str
    client: str
    by_client: bool
    text: str
    detail: str


class WireLog:
    """Observes the connections of a server; writes to ``file`` when there is one, and remembers the latest messages."""

    def __init__(self, file: TextIO | None = None, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = file
        self._now = now
        self._clients: dict[int, str] = {}
        self._open: dict[tuple[int, int, bool], int] = {}
        self.latest: deque[LoggedMessage] = deque(maxlen=_LATEST)

    def received(self, peer: Peer, command: Command) -> None:
        """A client sent a request, or answered one."""
        if command.code == Request.HEART_BEAT and not command.flag & RESPONSE:
            with suppress(ValueError, KeyError, TypeError, AttributeError):  # its answer says what is wrong with it
                self._clients[peer.number] = heartbeat.read(command.body)[0]
        self._message(peer, command, True)

    def sent(self, peer: Peer, raw: bytes) -> None:
        """The server sent frames, or what is none."""
        at = 0
        while at < len(raw):
            try:
                end = at + 4 + frame_length(raw[at : at + 4])
                command = decode(raw[at + 4 : end])
            except MalformedFrame:
                self._line(peer, {"from": "broker", "garbage": len(raw) - at})
                self._remember(peer, False, "garbage", f"{len(raw) - at} bytes")
                return
            self._message(peer, command, False)
            at = end

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self._line(peer, {"closed": True})
        self._remember(peer, True, "closed", "")
        self._clients.pop(peer.number, None)
        self._open = {key: code for key, code in self._open.items() if key[0] != peer.number}

    def _message(self, peer: Peer, command: Command, by_client: bool) -> None:
        entry: dict[str, Any] = {"from": "client" if by_client else "broker", "opaque": command.opaque}
        if command.flag & RESPONSE:
            answered = self._open.pop((peer.number, command.opaque, not by_client), None)
            entry["response"] = text = _name(Response, command.code)
            if answered is not None:
                entry["to"] = _name(Request, answered)
                text = f"{text} to {entry['to']}"
        else:
            entry["request"] = text = _name(Request, command.code)
            if command.flag & ONE_WAY:
                entry["oneWay"] = True
            else:
                self._open[peer.number, command.opaque, by_client] = command.code
        if peer.number in self._clients:
            entry["client"] = self._clients[peer.number]
        if command.remark:
            entry["remark"] = command.remark
        entry["fields"] = command.ext
        if command.body:
            try:
                entry["body"] = command.body.decode()
            except UnicodeDecodeError:
                entry["bodyBytes"] = len(command.body)
        self._line(peer, entry)
        detail = " ".join(f"{name}={value}" for name, value in command.ext.items())
        self._remember(peer, by_client, text, command.remark or detail)

    def _line(self, peer: Peer, entry: dict[str, Any]) -> None:
        if self._file is not None:
            head = {"time": self._now().isoformat(timespec="milliseconds"), "connection": peer.address}
            self._file.write(json.dumps(head | entry) + "\n")
            self._file.flush()

    def _remember(self, peer: Peer, by_client: bool, text: str, detail: str) -> None:
        time = self._now().strftime("%H:%M:%S.%f")[:-3]
        self.latest.append(LoggedMessage(time, self._clients.get(peer.number, peer.address), by_client, text, detail))


def _name(codes: type[Request] | type[Response], code: int) -> str:
    return codes(code).name if code in set(codes) else str(code)
