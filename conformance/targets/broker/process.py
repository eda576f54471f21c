"""Java programs that run as local processes: started, frozen, ended and killed, with all that they start."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.process_group import ProcessGroup
from rocketmq_conformance.conformance.startup import more_time, phase, time_left
from rocketmq_conformance.conformance.targets.broker import program_log, tables_in_memory
from rocketmq_conformance.conformance.targets.broker.access_settings import PREFIX
from rocketmq_conformance.conformance.targets.watcher import Watcher, watch_group

HOST = "127.0.0.1"
#: Timeouts of a start and a stop on a busy machine (s); within the start of an implementation its own counts.
START_LIMIT = 180.0
STOP_LIMIT = 60.0
#: Environment variables that would change the processes' behaviour.
_UNWANTED = ("ROCKETMQ_HOME", "NAMESRV_ADDR", "JAVA_TOOL_OPTIONS", "ROCKETMQ_SERIALIZE_TYPE")


class Program(Protocol):
    """A Java program that is started, frozen and ended, on this machine or in a container."""

    name: str

    @property
    def alive(self) -> bool:
        """Is it running?"""
        ...

    def start(self, command: Sequence[str], ready: Callable[[], bool], limit: float = START_LIMIT) -> None:
        """Start it and wait until ``ready``; CannotRunError with what it says itself when it is not in time.

        It takes ``limit`` seconds at most; within the start of an implementation, what is left of that.
        """
        ...

    def stop(self) -> None:
        """Stop it gently (SIGTERM); ``start`` may follow."""
        ...

    def kill(self) -> None:
        """Kill it at once (SIGKILL); ``start`` may follow."""
        ...

    def pause(self) -> None:
        """Freeze it (SIGSTOP)."""
        ...

    def resume(self) -> None:
        """Resume it (SIGCONT)."""
        ...

    def close(self) -> None:
        """End it for good."""
        ...

    def last_error(self) -> str:
        """Why it ended, as far as it says so."""
        ...


class JavaProcess:
    """One Java program in a folder of its own, stopped by its process id.

    A small watcher process kills it, and removes its folder, when this process dies without stopping it.
    """

    def __init__(self, name: str, home: Path, log: Path) -> None:
        self.name = name
        self.home = home
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: Watcher | None = None
        self._frozen = False

    @property
    def alive(self) -> bool:
        """Is it running?"""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id; 0 before the first start."""
        return self._process.pid if self._process else 0

    def start(self, command: Sequence[str], ready: Callable[[], bool], limit: float = START_LIMIT) -> None:
        """Start it and wait until ``ready``; CannotRunError with what it says itself when it is not in time."""
        with phase(f"starting {self.name} and waiting until it answers"):
            self._start(command, ready, limit)

    def _start(self, command: Sequence[str], ready: Callable[[], bool], limit: float) -> None:
        whole = time_left(limit)
        environment = {
            name: value for name, value in os.environ.items() if name not in _UNWANTED and not name.startswith(PREFIX)
        }
        environment["HOME"] = str(self.home)
        self.log.unlink(missing_ok=True)  # output from before a restart explains nothing
        with (self.home / "output.txt").open("wb") as output:
            self._process = ProcessGroup(
                command,
                environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.home,
            ).process
        self._frozen = False
        self._watcher = watch_group(self._process.pid, tables_in_memory.folders(self.home))
        until = time.monotonic() + limit
        while time_left(until - time.monotonic()) > 0:
            if not self.alive:
                raise CannotRunError(f"{self.name} ended while it started: {self.last_error()}")
            if ready():
                return
            time.sleep(0.05)
        self.kill()
        raise late(self.name, whole, program_log.progress(*self._said))

    def stop(self) -> None:
        """Stop it gently; by force when that takes too long, and CannotRunError, as it has written nothing then."""
        if self._end(signal.SIGTERM):
            raise forced(self.name)

    def kill(self) -> None:
        """End it at once, as a power failure would."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Freeze it: none of its threads runs when this returns."""
        if self._process is not None and not self._frozen:
            self._process.send_signal(signal.SIGSTOP)
            # The signal only asks. A thread that was about to run may answer a request before it stops.
            with suppress(ChildProcessError):  # it has ended
                os.waitpid(self._process.pid, os.WUNTRACED)
            self._frozen = True

    def resume(self) -> None:
        """Resume it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._frozen = False

    def close(self) -> None:
        """End it for good."""
        self.kill()

    def last_error(self) -> str:
        """Why it ended, as far as its output and its log say so."""
        return program_log.cause(*self._said)

    @property
    def _said(self) -> tuple[Path, Path]:
        return self.home / "output.txt", self.log

    def _end(self, how: signal.Signals) -> bool:
        """End it by a signal; was it ended by force?"""
        process, force = self._process, False
        if process is not None and process.poll() is None:
            process.send_signal(how)
            self.resume()  # a frozen process does not handle SIGTERM
            try:
                process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                force = True
                process.kill()
                process.wait()
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        return force


def forced(name: str) -> CannotRunError:
    """The error of a program that did not stop in time, and may not have written what it writes when it stops."""
    return CannotRunError(f"{name} did not stop within {STOP_LIMIT:.0f} s and was killed: see what keeps it")


def late(name: str, limit: float, progress: str) -> CannotRunError:
    """The error of a program that was not ready in time."""
    more = more_time() or " (--start-timeout allows more)"
    return CannotRunError(f"{name} was not ready after {limit:.0f} s{more}: {progress}")
