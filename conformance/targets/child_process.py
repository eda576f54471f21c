"""A program that the kit starts and talks to by lines: limits on what it writes, and an end that leaves nothing."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rocketmq_conformance.conformance.process_group import ProcessGroup, how_it_ended
from rocketmq_conformance.conformance.targets.broker.access_settings import without_settings

#: The longest line that a program may write, in bytes.
LONGEST_LINE = 16 * 1024 * 1024
#: What of its standard error is kept in memory, and in a file, in bytes.
TAIL, MOST_LOGGED = 64 * 1024, 16 * 1024 * 1024
#: Seconds that a program has to end by itself: after the end of its input, and then after SIGTERM.
GRACE = 0.5
#: Characters of a line that are shown of it.
_LINE = 300
#: How the lines begin with which runtimes say that a program crashes.
_CRASH = re.compile(
    r"panic: |fatal error: |thread '.*' (\(\d+\) )?panicked|Exception in thread |Unhandled |Uncaught |terminate called|"
    r"Fatal Python error|Traceback \(|# A fatal error"
)
#: Seconds between two looks whether a program is still there, while a child of it may hold its output open.
_LOOK = 0.1
_CHUNK = 1 << 16


class EndedError(Exception):
    """The program ended; the text says how."""


class SilentError(Exception):
    """The program wrote no line, or read none, in time."""


class TooLongError(Exception):
    """The program wrote more than LONGEST_LINE bytes without a line break."""


class ErrorLog:
    """What programs wrote to standard error: its end in memory, and its beginning in a file, once one is named."""

    def __init__(self) -> None:
        self._tail = b""
        self._logged = 0
        self._path: Path | None = None
        self._lock = threading.Lock()

    def keep(self, path: Path) -> None:
        """Write everything to this file, too; what there was before begins it."""
        with self._lock:
            self._path, self._logged = path, len(self._tail)
            path.write_bytes(self._tail)

    def add(self, data: bytes) -> None:
        """Add what was written."""
        with self._lock:
            self._tail = (self._tail + data)[-TAIL:]
            if self._path and self._logged < MOST_LOGGED:
                kept = data[: MOST_LOGGED - self._logged]
                with contextlib.suppress(OSError), self._path.open("ab") as file:  # a full disk ends no case
                    file.write(kept)
                self._logged += len(kept)

    @property
    def tail(self) -> bytes:
        """The end of it."""
        with self._lock:
            return self._tail

    def last_lines(self) -> str:
        """What tells most of it (``telling_lines``), with the last three lines; "" when there is nothing."""
        return telling_lines(self.tail, 3)


def telling_lines(errors: bytes, last: int) -> str:
    """The line with which a crash begins, or else the first one, and the last ones, with " / " between them; "" when
    there are none. A stack frame alone, which is what ends a panic, tells nothing."""
    lines = [line.strip()[:_LINE] for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    if len(lines) <= last:
        return " / ".join(lines)
    first = next((line for line in reversed(lines) if _CRASH.match(line)), lines[0])
    ending = lines[-last:]
    return " / ".join(ending if first in ending else [first, "…", *ending])


class ChildProcess:
    """One started program. OSError when it cannot be started."""

    def __init__(self, command: Sequence[str], log: ErrorLog, environment: Mapping[str, str] | None = None) -> None:
        started = {**without_settings(), **(environment or {})}
        self._group = ProcessGroup(command, started, buffered=False, marked=True)
        process = self._process = self._group.process
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._received = bytearray()
        #: How much of ``_received`` is known to have no line break.
        self._searched = 0
        self._closed = False
        self._over = False
        self._log = log
        self._errors = threading.Thread(target=self._keep_errors, args=(process.stderr.fileno(),), daemon=True)
        self._errors.start()

    @property
    def pid(self) -> int:
        """The number of its process, and of its process group."""
        return self._process.pid

    def send(self, data: bytes, deadline: float) -> None:
        """Write to its standard input; what it writes meanwhile is kept. ``deadline`` is of ``time.monotonic``.

        EndedError, SilentError and TooLongError as of :meth:`line`.
        """
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._stdin, left) :]
            except BlockingIOError:
                self._wait(deadline, selectors.EVENT_WRITE)
            except OSError:
                self._drain()
                raise EndedError(self._how_it_ended()) from None

    def line(self, deadline: float) -> bytes:
        """The next line of its standard output, without the line break.

        EndedError when there is none because it ended, SilentError when none came in time, TooLongError when it has no
        end.
        """
        while True:
            at = self._received.find(b"\n", self._searched)
            if at >= 0:
                found = bytes(self._received[:at])
                del self._received[: at + 1]
                self._searched = 0
                return found
            self._searched = len(self._received)
            if self._searched > LONGEST_LINE:
                raise TooLongError
            if self._over:
                raise EndedError(self._how_it_ended())
            self._wait(deadline)

    def end(self) -> None:
        """End it: by the end of its input, by SIGTERM, by SIGKILL; with it all that it started. Twice does no harm."""
        if self._closed:
            return
        self._closed = True
        process = self._process
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._selector.close()
        process.stdin.close()
        process.stdout.close()
        if not self._group.ends_within(GRACE):
            self._group.signal(signal.SIGTERM)
            self._group.ends_within(GRACE)
        self._group.kill()
        self._errors.join(GRACE)
        if not self._errors.is_alive():
            process.stderr.close()

    def kill(self) -> None:
        """End it at once: it does not answer."""
        if not self._closed:
            self._group.signal(signal.SIGKILL)
            self.end()

    def _wait(self, deadline: float, also: int = 0) -> None:
        """Wait until there is something to read, or room to write, and read it."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise SilentError
        if also:
            self._selector.register(self._stdin, also)
        try:
            ready = self._selector.select(min(left, _LOOK))
        finally:
            if also:
                self._selector.unregister(self._stdin)
        if any(key.fd == self._stdout for key, _ in ready):
            self._read()
        elif not ready and self._process.poll() is not None:
            self._drain()
        if also and len(self._received) > 2 * LONGEST_LINE:
            raise TooLongError

    def _read(self) -> bool:
        """Read what there is; False when there is nothing at this moment, or no more at all."""
        try:
            data = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return False
        self._received += data
        self._over = self._over or not data
        return bool(data)

    def _drain(self) -> None:
        """Read the rest of what an ended program wrote."""
        while len(self._received) <= LONGEST_LINE and self._read():
            pass
        self._over = True

    def _how_it_ended(self) -> str:
        if not self._group.ends_within(GRACE):
            return "it closed its standard output, or stopped reading its standard input"
        code = self._process.returncode
        self._errors.join(_LOOK)
        return f"it {how_it_ended(code)}"

    def _keep_errors(self, source: int) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(source, _CHUNK):
                self._log.add(data)
