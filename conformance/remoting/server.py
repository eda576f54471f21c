"""A server of the remoting protocol: sockets, frames and faults. A handler decides the responses.

One thread runs everything, so a handler needs no locks and its requests are handled in the order of arrival. A
malformed frame closes the connection that sent it and no other.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting import fault as faults
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.fault import Fault, Faults
from rocketmq_conformance.conformance.remoting.frame import (
    ONE_WAY,
    RESPONSE,
    Command,
    MalformedFrame,
    decode,
    encode,
    frame_length,
)

T = TypeVar("T")

_log = logging.getLogger(__name__)

#: Answers that a client does not read are kept up to this many bytes; then nothing more is read from it either.
_UNREAD = 1024 * 1024
#: What the fault ``garbage`` sends: a length that no frame has.
GARBAGE = b"\xff\xff\xff\xffthis is no frame"
_STOP_SECONDS = 10.0
#: Turns of the event loop without any news after which nothing is on its way: a new connection takes three.
_QUIET_TURNS = 8


class Handler(Protocol):
    """Answers requests. Called in the server's thread only; must not block."""

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """The response; None when it comes later (``Peer.answer``) or never.

        TimeoutError: no response. ConnectionError: the connection is cut. Any other exception is answered
        SYSTEM_ERROR with its text, as brokers do (WIRE-ERR-1).
        """
        ...

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        ...


class Observer(Protocol):
    """Is shown everything that goes over the connections of a server, in the server's thread; must not block."""

    def received(self, peer: Peer, command: Command) -> None:
        """A client sent a request, or a response to one of the server's own."""
        ...

    def sent(self, peer: Peer, raw: bytes) -> None:
        """Bytes were written: whole frames, or what is none."""
        ...

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        ...


class Peer(asyncio.Protocol):
    """One accepted connection."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        #: ``host:port`` of the other end.
        self.address = ""
        #: The same of this end: which of a server's ports it is.
        self.reached = ""
        #: No two connections of a server have the same number.
        self.number = 0
        #: Who hears the response to a request of the server's own, by its number.
        self._asked: dict[int, Callable[[Command | None], object]] = {}

    # --- for handlers -----------------------------------------------------------------------------------------

    def answer(self, request: Command, response: Command) -> None:
        """Send the response to a request; nothing happens when the client waits for none."""
        frame = self._listener.framed(request, response)
        if frame:
            self.write(frame)

    def send_request(self, command: Command) -> None:
        """Send a request of the server's own, one way (WIRE-FRAME-2)."""
        command.flag |= ONE_WAY
        command.opaque = self._listener.next_opaque()
        self.write(encode(command))

    def ask(self, command: Command, seconds: float, take: Callable[[Command | None], object]) -> None:
        """Send a request of the server's own; ``take`` is given the response, or None when there is none after so many
        seconds or the connection closes."""
        number = command.opaque = self._listener.next_opaque()
        self._asked[number] = take
        self._listener.later(seconds, lambda: self._responded(number, None))
        self.write(encode(command))

    def _responded(self, number: int, response: Command | None) -> None:
        take = self._asked.pop(number, None)
        if take is not None:
            take(response)

    def cut(self) -> None:
        """Cut the connection; what was not sent yet is lost."""
        self._transport.abort()

    @property
    def open(self) -> bool:
        """Is the connection still open?"""
        return not self._transport.is_closing()

    def write(self, raw: bytes) -> None:
        """Send bytes as they are; nothing happens when the connection is closed."""
        if self.open:
            observer = self._listener.observer
            if observer is not None:
                observer.sent(self, raw)
            self._transport.write(raw)

    # --- called by the event loop -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=_UNREAD)
        name = transport.get_extra_info("peername")
        self.address = f"{name[0]}:{name[1]}" if name else ""
        own = transport.get_extra_info("sockname")
        self.reached = f"{own[0]}:{own[1]}" if own else ""
        self._listener.joined(self)

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        listener = self._listener
        listener.received()
        buffer = self._buffer
        buffer += data
        at, size = 0, len(buffer)
        out: list[bytes] = []
        try:
            while size - at >= 4 and self.open:
                end = at + 4 + frame_length(buffer[at : at + 4])
                if end > size:
                    break
                request = decode(buffer[at + 4 : end])
                at = end
                if listener.observer is not None:
                    listener.observer.received(self, request)
                if request.flag & RESPONSE:
                    self._responded(request.opaque, request)
                else:
                    frame = listener.dispatch(self, request)
                    if frame:
                        out.append(frame)
        except MalformedFrame as error:
            _log.info("closing the connection of %s: %s", self.address, error)
            self.write(b"".join(out))
            self._transport.close()
            buffer.clear()
            return
        del buffer[:at]
        if out:
            self.write(b"".join(out))

    def pause_writing(self) -> None:
        """The client does not read: take no more requests from it."""
        if self.open:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The client reads again."""
        if self.open:
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection was closed."""
        for number in list(self._asked):
            self._responded(number, None)
        self._listener.left(self)


class Listener:
    """Listens on a port of one host and hands requests to a handler.

    ``echo`` answers binary requests in binary (WIRE-FRAME-1); otherwise every answer is JSON. ``version`` is what
    the server calls itself (WIRE-VER-1). Port 0 lets the system choose.
    """

    def __init__(self, handler: Handler, host: str, port: int, *, echo: bool, version: int) -> None:
        self._handler = handler
        self._host, self._port = host, port
        self._echo, self._version = echo, version
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: asyncio.Server | None = None
        #: Those of other ports.
        self._others: list[asyncio.Server] = []
        self._thread: threading.Thread | None = None
        #: Lets a frozen server go on; None for one that is not frozen.
        self._frozen: threading.Event | None = None
        self._ended = False
        self._opaque = 0
        #: Grows with everything that comes in.
        self._activity = 0
        self._accepted = 0
        self.faults = Faults()
        #: How connections are encrypted that are accepted from the next start on; None: not at all.
        self.tls: ssl.SSLContext | None = None
        #: Is shown what goes over the connections.
        self.observer: Observer | None = None
        #: Connections that are open.
        self.peers: set[Peer] = set()
        #: How many requests of each code arrived.
        self.arrived: Counter[int] = Counter()

    def answer_by(self, handler: Handler) -> None:
        """Hand requests to another handler from now on."""
        self._handler = handler

    # --- life -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Listen; raises CannotRunError when the port is taken."""
        if self._thread is not None:
            raise RuntimeError("the server is running already")
        self._ended = False
        ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="remoting", daemon=True)
        self._thread.start()
        try:
            ready.result()
        except OSError as error:
            self._thread.join()
            self._thread = None
            raise CannotRunError(
                f"cannot listen on {self._host}:{self._port} ({error.strerror or error}); choose another port, or 0"
            ) from error

    def stop(self) -> None:
        """Close the port and all connections; twice does no harm. What a frozen server did not read is lost."""
        thread, loop = self._thread, self._loop
        if thread is None or loop is None:
            return
        self._ended = True
        if self._frozen is None:
            loop.call_soon_threadsafe(loop.stop)
        self.resume()
        thread.join(_STOP_SECONDS)
        self._thread = self._loop = None

    def pause(self) -> None:
        """Freeze: nothing is read or answered until ``resume``, though the system goes on to accept connections."""
        if self._loop is None:
            raise RuntimeError("the server is not running")
        if self._frozen is None:
            self._frozen = threading.Event()
            asleep = threading.Event()
            self._loop.call_soon_threadsafe(self._sleep, self._loop, asleep, self._frozen)
            asleep.wait(_STOP_SECONDS)

    def resume(self) -> None:
        """Go on with the requests that arrived meanwhile; nothing happens to a server that is not frozen."""
        if self._frozen is not None:
            self._frozen.set()
            self._frozen = None

    @property
    def running(self) -> bool:
        """Does it listen?"""
        return self._loop is not None

    @property
    def frozen(self) -> bool:
        """Was it frozen?"""
        return self._frozen is not None

    def _sleep(self, loop: asyncio.AbstractEventLoop, asleep: threading.Event, until: threading.Event) -> None:
        asleep.set()
        until.wait()
        if self._ended:  # before anything that was sent meanwhile is read
            loop.stop()

    @property
    def address(self) -> str:
        """``host:port``."""
        return f"{self._host}:{self._port}"

    def _run(self, ready: Future[None]) -> None:
        loop = asyncio.new_event_loop()
        try:
            begun = loop.create_server(lambda: Peer(self), self._host, self._port, ssl=self.tls)
            self._server = loop.run_until_complete(begun)
            self._port = self._server.sockets[0].getsockname()[1]
        except OSError as error:
            loop.close()
            ready.set_exception(error)
            return
        self._loop = loop
        ready.set_result(None)
        try:
            loop.run_forever()
        finally:
            for server in (self._server, *self._others):
                server.close()
            self._others.clear()
            for peer in list(self.peers):
                peer.cut()
            loop.run_until_complete(asyncio.sleep(0))
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()

    # --- other threads ----------------------------------------------------------------------------------------

    def run(self, action: Callable[[], T]) -> T:
        """Do something in the server's thread, between two requests, and give its result."""
        loop = self._loop
        if loop is None:
            raise RuntimeError("the server is not running")
        if threading.current_thread() is self._thread:
            return action()
        if self._frozen is not None:
            raise RuntimeError("the server is frozen: let it go on first")
        result: Future[T] = Future()

        def act() -> None:
            try:
                result.set_result(action())
            except BaseException as error:
                result.set_exception(error)

        loop.call_soon_threadsafe(act)
        return result.result(_STOP_SECONDS)

    def open_another(self) -> str:
        """Listen on one more port until the end, one that the system chooses; its address."""
        loop = self._loop
        assert loop is not None

        async def listen() -> int:
            server = await loop.create_server(lambda: Peer(self), self._host, 0, ssl=self.tls)
            self._others.append(server)
            return int(server.sockets[0].getsockname()[1])

        port = asyncio.run_coroutine_threadsafe(listen(), loop).result(_STOP_SECONDS)
        return f"{self._host}:{port}"

    def settle(self) -> None:
        """Wait until every request that was in the sockets' buffers before the call is handled.

        One-way requests are not answered: after this, those that a client has written are done.
        """
        loop = self._loop
        if loop is None:
            raise RuntimeError("the server is not running")
        settled: Future[None] = Future()

        def look(quiet: int, seen: int) -> None:
            if seen != self._activity:
                quiet, seen = _QUIET_TURNS, self._activity
            if quiet:
                loop.call_soon(look, quiet - 1, seen)
            else:
                settled.set_result(None)

        loop.call_soon_threadsafe(look, _QUIET_TURNS, self._activity)
        settled.result(_STOP_SECONDS)

    # --- for connections --------------------------------------------------------------------------------------

    def later(self, seconds: float, action: Callable[[], object]) -> asyncio.TimerHandle:
        """Do something in the server's thread after a while; the handle's ``cancel`` prevents it."""
        assert self._loop is not None
        return self._loop.call_later(seconds, action)

    def next_opaque(self) -> int:
        """A number for a request of the server's own."""
        self._opaque = (self._opaque + 1) & 0x7FFF_FFFF
        return self._opaque

    def joined(self, peer: Peer) -> None:
        """A connection was accepted."""
        self._activity += 1
        self._accepted += 1
        peer.number = self._accepted
        self.peers.add(peer)

    def received(self) -> None:
        """Note that bytes arrived."""
        self._activity += 1

    def left(self, peer: Peer) -> None:
        """A connection was closed."""
        self.peers.discard(peer)
        if self.observer is not None:
            self.observer.closed(peer)
        self._handler.closed(peer)

    def dispatch(self, peer: Peer, request: Command) -> bytes | None:
        """Handle one request as the armed fault wants it; the bytes of the response, if there is one at once."""
        self.arrived[request.code] += 1
        fault = self.faults.take(request.code)
        if fault is None:
            return self._handled(peer, request, None)
        match fault.kind:
            case faults.SILENT:
                return None
            case faults.CUT:
                peer.cut()
                return None
            case faults.GARBAGE:
                return GARBAGE
            case faults.CODE:
                return self.framed(request, Command(fault.value, remark="scripted"))
            case faults.SLOW:
                self.later(fault.value / 1000, lambda: peer.write(self._handled(peer, request, None) or b""))
                return None
            case _:
                return self._handled(peer, request, fault)

    def _handled(self, peer: Peer, request: Command, fault: Fault | None) -> bytes | None:
        try:
            response = self._handler.handle(peer, request)
        except TimeoutError:
            return None
        except ConnectionError:
            peer.cut()
            return None
        except Exception as error:
            _log.debug("request %d of %s failed", request.code, peer.address, exc_info=True)
            response = Command(int(Response.SYSTEM_ERROR), remark=f"{type(error).__name__}: {error}")
        if response is None:
            return None
        if fault is not None:
            kept = {name: value for name, value in response.ext.items() if fault.name and name != fault.name}
            response = Command(response.code, kept, response.body, remark=response.remark)
        return self.framed(request, response)

    def framed(self, request: Command, response: Command) -> bytes | None:
        """The bytes of a response; None when the request was sent one way."""
        if request.flag & ONE_WAY:
            return None
        response.opaque = request.opaque
        response.flag = RESPONSE
        response.language = "JAVA"
        response.version = self._version
        response.binary = self._echo and request.binary
        return encode(response)
