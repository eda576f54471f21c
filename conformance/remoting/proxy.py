"""A proxy of a broker and its name server, on one port: it forwards frames, and shows them to a watcher.

Every connection of a client has connections of its own behind the proxy, so that the broker knows each client by its
connection, as without the proxy. Opaques, languages, versions and the form of headers stay as they are. What the
watcher changes is forwarded as changed.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import (
    RESPONSE,
    VERSION,
    Command,
    MalformedFrame,
    decode,
    encode,
    frame_length,
)
from rocketmq_conformance.conformance.remoting.server import Listener, Peer

#: Requests that a name server answers, and not a broker: routes, clusters, GET_KV_CONFIG, GET_KVLIST_BY_NAMESPACE, and
#: the lists of all topics, of those of a cluster, and of the system's.
NAME_SERVER_REQUESTS = frozenset(
    {int(Request.GET_ROUTEINFO_BY_TOPIC), int(Request.GET_BROKER_CLUSTER_INFO), 101, 219, 206, 224, 304}
)

#: Host and port.
Address = tuple[str, int]


class Watcher(Protocol):
    """Is shown what goes through a proxy, in its thread; must not block."""

    def request(self, peer: Peer, request: Command) -> Command | None:
        """A client's request, which may be changed; a response when it is not to be forwarded.

        TimeoutError: nor is it answered. ConnectionError: the connection is cut.
        """
        ...

    def response(self, peer: Peer, request: Command, response: Command) -> None:
        """The response to a request that was forwarded; it may be changed."""
        ...

    def closed(self, peer: Peer) -> None:
        """A client's connection was closed."""
        ...


class _Behind(asyncio.Protocol):
    """A connection of one client behind the proxy: to the broker, or to the name server."""

    def __init__(self, proxy: Proxy, peer: Peer) -> None:
        self._proxy, self._peer = proxy, peer
        self._transport: asyncio.Transport | None = None
        #: What is to be sent as soon as it is open.
        self._unsent = bytearray()
        self._buffer = bytearray()
        self._closed = False
        #: Requests without a response, by opaque.
        self.open: dict[int, Command] = {}

    def send(self, command: Command) -> None:
        """Forward a frame of the client."""
        raw = encode(command)
        if self._transport is None:
            self._unsent += raw
        else:
            self._transport.write(raw)

    def close(self) -> None:
        """The client's connection was closed."""
        self._closed = True
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(bytes(self._unsent))
        self._unsent.clear()
        if self._closed:
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        buffer = self._buffer
        buffer += data
        try:
            while len(buffer) >= 4 and len(buffer) >= (end := 4 + frame_length(buffer[:4])):
                command = decode(buffer[4:end])
                del buffer[:end]
                self._proxy.arrived(self._peer, self, command)
        except MalformedFrame:
            self._peer.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        """It was closed at the other end: so is that of the client."""
        if self._peer.open:
            self._peer.cut()


@dataclass
class _Pair:
    """The connections of one client behind the proxy, as far as it has used them."""

    broker: _Behind | None = None
    name_server: _Behind | None = None
    #: Keeps the tasks that connect from being collected.
    connecting: list[asyncio.Task[None]] = field(default_factory=list)


class _ClientResponses:
    """Forwards what clients answer to requests of the broker's own."""

    def __init__(self, pairs: dict[int, _Pair]) -> None:
        self._pairs = pairs

    def received(self, peer: Peer, command: Command) -> None:
        """A client sent something."""
        pair = self._pairs.get(peer.number)
        if command.flag & RESPONSE and pair is not None and pair.broker is not None:
            pair.broker.send(command)

    def sent(self, peer: Peer, raw: bytes) -> None:
        """Nothing is to be done."""

    def closed(self, peer: Peer) -> None:
        """Nothing is to be done."""


class Proxy:
    """Listens on a port of its own for the clients of a broker and its name server.

    ``behind`` says where these are (host and port of each) when a client has sent its first request.
    """

    def __init__(
        self, watcher: Watcher, behind: Callable[[], tuple[Address, Address]], host: str = "127.0.0.1"
    ) -> None:
        self._watcher = watcher
        self._places = behind
        self._pairs: dict[int, _Pair] = {}
        self._listener = Listener(self, host, 0, echo=True, version=VERSION)
        self._listener.observer = _ClientResponses(self._pairs)

    def encrypt(self, context: ssl.SSLContext | None) -> None:
        """Take encrypted connections alone from the next start on; behind the proxy nothing is encrypted."""
        self._listener.tls = context

    def start(self) -> str:
        """Listen; ``host:port`` of the proxy, which is the name server and the broker to its clients."""
        self._listener.start()
        return self._listener.address

    def stop(self) -> None:
        """Close everything; twice does no harm."""
        self._listener.stop()

    def settle(self) -> None:
        """Wait until everything that clients have written is forwarded."""
        self._listener.settle()

    def answer_open(self, code: int, answer: Callable[[Command], Command | None]) -> None:
        """Answer the requests of a code that wait at the broker, but for those of which ``answer`` says None; what the
        broker answers later is dropped."""

        def act() -> None:
            for peer, behind, request in self._open(code):
                given = answer(request)
                if given is not None:
                    del behind.open[request.opaque]
                    self._watcher.response(peer, request, given)
                    peer.answer(request, given)

        self._listener.run(act)

    def forget_open(self, code: int) -> None:
        """Drop what the broker will answer to requests of a code that wait there."""

        def act() -> None:
            for _, behind, request in self._open(code):
                del behind.open[request.opaque]

        self._listener.run(act)

    def _open(self, code: int) -> list[tuple[Peer, _Behind, Command]]:
        """The requests of a code that wait at the broker, each with its client and the connection behind the proxy."""
        pairs = [(peer, self._pairs.get(peer.number)) for peer in self._listener.peers]
        return [
            (peer, pair.broker, request)
            for peer, pair in pairs
            if pair is not None and pair.broker is not None
            for request in pair.broker.open.values()
            if request.code == code
        ]

    # --- called by the listener, in its thread ----------------------------------------------------------------

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Forward a request, unless the watcher answers it."""
        answer = self._watcher.request(peer, request)
        if answer is not None:
            return answer
        behind = self._behind(peer, request.code in NAME_SERVER_REQUESTS)
        if not request.is_one_way:
            behind.open[request.opaque] = request
        behind.send(request)
        return None

    def closed(self, peer: Peer) -> None:
        """Close what the client had behind the proxy."""
        pair = self._pairs.pop(peer.number, None)
        for behind in (pair.broker, pair.name_server) if pair else ():
            if behind is not None:
                behind.close()
        self._watcher.closed(peer)

    def arrived(self, peer: Peer, behind: _Behind, command: Command) -> None:
        """A frame came from behind: the response to a request, or a request of the broker's own."""
        if command.flag & RESPONSE:
            request = behind.open.pop(command.opaque, None)
            if request is None:
                return  # it was answered already
            self._watcher.response(peer, request, command)
        peer.write(encode(command))

    def _behind(self, peer: Peer, names: bool) -> _Behind:
        pair = self._pairs.setdefault(peer.number, _Pair())
        found = pair.name_server if names else pair.broker
        if found is None:
            found = _Behind(self, peer)
            if names:
                pair.name_server = found
            else:
                pair.broker = found
            place = self._places()[names]
            pair.connecting.append(asyncio.get_running_loop().create_task(self._connect(peer, found, *place)))
        return found

    @staticmethod
    async def _connect(peer: Peer, behind: _Behind, host: str, port: int) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: behind, host, port)
        except OSError:
            peer.cut()
