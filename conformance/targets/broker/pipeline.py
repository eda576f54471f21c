"""A connection that sends posted requests together: one system call, and one wake-up of the broker, for many."""

from __future__ import annotations

import time

from rocketmq_conformance.conformance.remoting.access import OPEN, Access
from rocketmq_conformance.conformance.remoting.client import Connection


class Pipeline(Connection):
    """Posted requests are sent when the connection is about to wait for a response, or with the next ``call``."""

    def __init__(self, host: str, port: int, timeout: float = 5.0, access: Access = OPEN) -> None:
        super().__init__(host, port, timeout, access=access)
        self._outgoing = bytearray()

    def post(self, code: int, ext: dict[str, str] | None = None, body: bytes = b"") -> int:
        opaque = self._opaque = (self._opaque + 1) & 0x7FFF_FFFF
        self._outgoing += self._frame(code, ext, body, opaque)
        self._waiting.add(opaque)
        return opaque

    def _send(self, code: int, ext: dict[str, str] | None, body: bytes, flag: int) -> int:
        self._flush()
        return super()._send(code, ext, body, flag)

    def _fill(self, size: int, timeout: float) -> None:
        self._flush()
        super()._fill(size, timeout)

    def _flush(self) -> None:
        """Send the posted requests; ConnectionError when the broker closed the connection."""
        if not self._outgoing:
            return
        frames, self._outgoing = self._outgoing, bytearray()
        self._used = time.monotonic()
        self._wait_at_most(self.timeout)
        try:
            self._socket.sendall(frames)
        except OSError as error:  # a part of a frame may be sent: nothing after it could be read
            self.close()
            raise ConnectionError(f"{self.address} closed the connection") from error
