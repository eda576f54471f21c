"""A started program and all that it starts: a process group of its own, which is signalled and ended as one.

It gets a session of its own: Ctrl-C on the kit's terminal does not reach it, and its children end with it. Those that
leave the group are found by a mark in their environment, where there is a ``/proc``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from rocketmq_conformance.conformance.alarm import undisturbed

#: Marks the processes that a program started, in their environment.
MARK = "ROCKETMQ_CONFORMANCE_PROGRAM"
#: A file, or one of the constants of ``subprocess``.
Pipe = int | IO[Any] | None


class ProcessGroup:
    """A program that was started."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        stdin: Pipe = subprocess.PIPE,
        stdout: Pipe = subprocess.PIPE,
        stderr: Pipe = subprocess.PIPE,
        cwd: str | os.PathLike[str] | None = None,
        buffered: bool = True,
        marked: bool = False,
    ) -> None:
        """OSError when it cannot be started. What is ``marked`` is killed wherever it went."""
        self._mark = uuid.uuid4().hex if marked else ""
        self._ended = False
        try:
            with undisturbed():
                self.process = subprocess.Popen(
                    command,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    cwd=cwd,
                    env={**environment, **({MARK: self._mark} if marked else {})},
                    bufsize=-1 if buffered else 0,
                    start_new_session=True,
                )
        except BaseException:  # interrupted: nothing else knows it
            _kill_marked(self._mark)
            raise

    @property
    def pid(self) -> int:
        """The number of its first process, and of its group."""
        return self.process.pid

    @property
    def runs(self) -> bool:
        """Is one of its processes there?"""
        self.process.poll()
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def marked(self) -> Iterator[int]:
        """Its processes by their mark, in whatever group they are; none where there is no ``/proc``."""
        return _marked(self._mark)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of it; none when everything has ended."""
        if not self._ended:  # else its number may be another group's by now
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end of its first process: has it ended?"""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None

    def kill(self) -> None:
        """End it and everything that it started, at once; twice does no harm."""
        self.signal(signal.SIGKILL)
        _kill_marked(self._mark)
        self._mark = ""
        self.process.wait()
        self._ended = True


def _kill_marked(mark: str) -> None:
    """Kill the processes with this mark in their environment."""
    for process in _marked(mark):
        with suppress(OSError):  # it has ended
            os.kill(process, signal.SIGKILL)


def _marked(mark: str) -> Iterator[int]:
    """The processes with this mark in their environment, in whatever session; none where there is no /proc."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*") if mark else ():
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)


def how_it_ended(code: int) -> str:
    """How a process ended, by its exit code, which is the negative number of a signal that ended it."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
