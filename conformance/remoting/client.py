"""A connection to a broker or name server: one thread, any number of requests in flight."""

from __future__ import annotations

import socket
import ssl
import time
from collections import deque
from types import TracebackType
from typing import Self

from rocketmq_conformance.conformance.remoting.access import OPEN, Access
from rocketmq_conformance.conformance.remoting.frame import (
    ONE_WAY,
    RESPONSE,
    VERSION,
    Command,
    MalformedFrame,
    decode,
    encode,
    frame_length,
)
from rocketmq_conformance.conformance.remoting.host_port import HostPort

_CHUNK = 256 * 1024
#: Requests of the server that are kept until ``requests`` is called; older ones are dropped.
_KEPT = 256


class Connection:
    """One TCP connection that speaks the remoting protocol.

    ``call`` sends one request and waits for its response. ``post`` only sends; ``collect`` returns the responses to
    posted requests in the order in which they arrive. Both may be mixed. Timeouts are in seconds; a request that is
    not answered in time raises TimeoutError, its late response is dropped, and the connection stays usable. A
    connection that breaks raises ConnectionError, and so does every later use.

    A connection belongs to one thread. Keep no more than a few thousand requests outstanding: the answers wait in
    the socket's buffers until they are collected.
    """

    def __init__(self, host: str, port: int, timeout: float = 5.0, binary: bool = False, access: Access = OPEN) -> None:
        """``access`` signs every request and encrypts the connection, where the server asks for that."""
        self.address = str(HostPort(host, port))
        self.access = access
        self.timeout = timeout
        #: Write headers in RocketMQ's binary form; answers are read in whichever form they come.
        self.binary = binary
        #: The client's release as servers see it (WIRE-VER-1).
        self.version = VERSION
        #: The language that requests say they come from.
        self.language = "PYTHON"
        self._opaque = 0
        self._buffer = bytearray()
        self._waiting: set[int] = set()
        self._arrived: deque[Command] = deque()
        self._requests: deque[Command] = deque(maxlen=_KEPT)
        self._closed = False
        try:
            plain = socket.create_connection((host, port), timeout)
        except TimeoutError:
            raise
        except OSError as error:
            raise ConnectionError(f"cannot connect to {self.address}: {error.strerror or error}") from error
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket: socket.socket = plain
        if access.tls:
            try:
                self._socket = access.tls.wrapped(plain, host)
            except BaseException:
                plain.close()
                raise
        self._patience = timeout
        #: Moment of the last request, or of the connection itself.
        self._used = time.monotonic()

    # --- requests ---------------------------------------------------------------------------------------------

    def call(
        self, code: int, ext: dict[str, str] | None = None, body: bytes = b"", timeout: float | None = None
    ) -> Command:
        """Send a request and wait for its response."""
        opaque = self._send(code, ext, body, 0)
        try:
            return self._receive(opaque, self.timeout if timeout is None else timeout)
        except TimeoutError:
            raise TimeoutError(f"{self.address} did not answer request {code} in time") from None

    def send(self, code: int, ext: dict[str, str] | None = None, body: bytes = b"") -> None:
        """Send a one-way request, which gets no response."""
        self._send(code, ext, body, ONE_WAY)

    def send_and_close(self, code: int, ext: dict[str, str], body: bytes, whole: bool) -> None:
        """Send a request, or the first half of it, and close the connection without waiting for a response."""
        frame = self._frame(code, ext, body, 1)
        self._wait_at_most(self.timeout)
        try:
            self._socket.sendall(frame if whole else frame[: len(frame) // 2])
        finally:
            self.close()

    def post(self, code: int, ext: dict[str, str] | None = None, body: bytes = b"") -> int:
        """Send a request whose response is collected later; the number is its opaque."""
        opaque = self._send(code, ext, body, 0)
        self._waiting.add(opaque)
        return opaque

    def collect(self, timeout: float | None = None) -> Command:
        """The next response to any posted request; LookupError when none is outstanding."""
        if self._arrived:
            return self._arrived.popleft()
        if not self._waiting:
            raise LookupError("no posted request is outstanding")
        return self._receive(None, self.timeout if timeout is None else timeout)

    def forget(self) -> None:
        """Give up all posted requests; their responses are dropped when they arrive."""
        self._waiting.clear()
        self._arrived.clear()

    @property
    def outstanding(self) -> int:
        """Posted requests that ``collect`` has not answered yet."""
        return len(self._waiting) + len(self._arrived)

    def fileno(self) -> int:
        """The number of its socket, by which the system says whether anything has arrived."""
        return self._socket.fileno()

    def requests(self, timeout: float = 0.0) -> list[Command]:
        """The requests that the server sent of its own accord (WIRE-FRAME-2), oldest first; each is returned once.

        Waits up to ``timeout`` seconds for the first one when nothing is there yet.
        """
        deadline = time.monotonic() + timeout
        while not self._requests:
            try:
                self._sort(self._read(max(deadline - time.monotonic(), 0.0)))
            except TimeoutError:
                break
        taken = list(self._requests)
        self._requests.clear()
        return taken

    def answer(self, request: Command, body: bytes) -> None:
        """Answer a request that the server sent of its own accord: SUCCESS, with this body."""
        self._socket.sendall(encode(Command(0, {}, body, request.opaque, RESPONSE, version=self.version)))

    def usable(self, silence: float) -> bool:
        """Can it be used again? It is asked whether the server closed it when the last request is ``silence`` seconds
        ago."""
        return not self._closed and (time.monotonic() - self._used <= silence or not self.lost())

    def lost(self) -> bool:
        """Has the server closed it, as far as is known by now? What has arrived is kept, or dropped when it is late."""
        try:
            while not self._closed:
                self._sort(self._read(0.0))
        except TimeoutError:
            return False
        except ConnectionError:
            pass
        return True

    # --- life -------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close; twice does no harm."""
        self._closed = True
        self._socket.close()

    @property
    def closed(self) -> bool:
        """Is the connection of no more use?"""
        return self._closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- bytes ------------------------------------------------------------------------------------------------

    def _send(self, code: int, ext: dict[str, str] | None, body: bytes, flag: int) -> int:
        if self._closed:
            raise ConnectionError(f"the connection to {self.address} is closed")
        opaque = self._opaque = (self._opaque + 1) & 0x7FFF_FFFF
        frame = self._frame(code, ext, body, opaque, flag)
        self._used = time.monotonic()
        self._wait_at_most(self.timeout)
        try:
            self._socket.sendall(frame)
        except OSError as error:  # a part of a frame may be out: nothing after it could be read
            self.close()
            if isinstance(error, TimeoutError):
                raise
            raise ConnectionError(f"{self.address} closed the connection") from error
        return opaque

    def _frame(self, code: int, ext: dict[str, str] | None, body: bytes, opaque: int, flag: int = 0) -> bytes:
        """The request, signed where the server asks for it."""
        credentials = self.access.credentials
        fields = credentials.signed(ext or {}, body) if credentials else ext or {}
        return encode(Command(code, fields, body, opaque, flag, self.language, self.version, binary=self.binary))

    def _receive(self, opaque: int | None, timeout: float) -> Command:
        """The response to one request, or to any posted one."""
        deadline = time.monotonic() + timeout
        while True:
            command = self._read(timeout)
            if command.opaque == opaque and command.flag & RESPONSE:
                return command
            self._sort(command)
            if opaque is None and self._arrived:
                return self._arrived.popleft()
            timeout = deadline - time.monotonic()
            if timeout <= 0:
                raise TimeoutError(f"{self.address} did not answer in time")

    def _sort(self, command: Command) -> None:
        """Put aside a frame that is not the response waited for."""
        if not command.flag & RESPONSE:
            self._requests.append(command)
        elif command.opaque in self._waiting:
            self._waiting.discard(command.opaque)
            self._arrived.append(command)

    def _read(self, timeout: float) -> Command:
        """The next frame of any kind."""
        if self._closed:
            raise ConnectionError(f"the connection to {self.address} is closed")
        buffer = self._buffer
        deadline = time.monotonic() + timeout
        try:
            if len(buffer) < 4:
                self._fill(4, timeout)
            end = 4 + frame_length(buffer)
            if len(buffer) < end:
                self._fill(end, max(deadline - time.monotonic(), 0.0))
            command = decode(buffer[4:end])
        except MalformedFrame as error:
            self.close()
            raise ConnectionError(f"{self.address} sent a malformed frame: {error}") from error
        del buffer[:end]
        if command.remark:
            command.remark = self.access.redacted(command.remark)
        return command

    def _fill(self, size: int, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        self._wait_at_most(timeout)
        while True:
            try:
                chunk = self._socket.recv(_CHUNK)
            except (TimeoutError, BlockingIOError, ssl.SSLWantReadError):
                raise TimeoutError(f"{self.address} sent nothing in time") from None
            except OSError as error:
                self.close()
                raise ConnectionError(f"{self.address} broke the connection: {error.strerror or error}") from error
            if not chunk:
                self.close()
                raise ConnectionError(f"{self.address} closed the connection")
            self._buffer += chunk
            if len(self._buffer) >= size:
                return
            self._wait_at_most(max(deadline - time.monotonic(), 0.0))

    def _wait_at_most(self, timeout: float) -> None:
        """Setting a socket's timeout costs a little: only when it changes."""
        if timeout != self._patience:
            self._socket.settimeout(timeout)
            self._patience = timeout
