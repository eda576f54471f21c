"""Java programs that run as local processes: started, frozen, ended and killed, with all that they start."""

from __future__ import annotations

import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.process_group import ProcessGroup
from rocketmq_conformance.conformance.startup import more_time, phase, time_left
from rocketmq_conformance.conformance.targets.broker import program_log, tables_in_memory
from rocketmq_conformance.conformance.targets.broker.access_settings import PREFIX
from rocketmq_conformance.conformance.targets.watcher import Watcher, watch_group
from rocketmq_conformance.conformance.waiting import wait_until

HOST = "127.0.0.1"
#: Timeouts of a start and a stop on a busy machine (s); within the start of an implementation its own counts.
START_LIMIT = 180.0
STOP_LIMIT = 60.0
#: Environment variables that would change the processes' behaviour.
_UNWANTED = ("ROCKETMQ_HOME", "NAMESRV_ADDR", "JAVA_TOOL_OPTIONS", "ROCKETMQ_SERIALIZE_TYPE")
#: Seconds between looks whether a program that starts has ended, and is ready.
_LOOK = 0.05


class Program(ABC):
    """A Java program in a folder of its own, that is started, frozen and ended, on this machine or in a container.

    A watcher process ends it, and removes its folder, when this process dies without doing so.
    """

    def __init__(self, name: str, home: Path, log: Path) -> None:
        self.name = name
        self.home = home
        self.log = log
        self._watcher: Watcher | None = None

    def start(self, command: Sequence[str], ready: Callable[[], bool], limit: float = START_LIMIT) -> None:
        """Start it and wait until ``ready``; CannotRunError with what it says itself when it is not in time.

        It takes ``limit`` seconds at most; within the start of an implementation, what is left of that.
        """
        with phase(f"starting {self.name} and waiting until it answers"):
            limit = time_left(limit)
            self._begin(command)
            if not wait_until(lambda: not self.alive or ready(), limit, _LOOK):
                error = late(self.name, limit, program_log.progress(*self._said()))
            elif not self.alive:
                error = CannotRunError(f"{self.name} ended while it started: {self.last_error()}")
            else:
                return
            self.close()
            raise error

    def last_error(self) -> str:
        """Why it ended, as far as its output and its log say so."""
        return program_log.cause(*self._said())

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Is it running?"""

    @property
    @abstractmethod
    def pid(self) -> int:
        """Its process id on this machine; 0 while it has none, or runs where processes of this machine are not."""

    @abstractmethod
    def stop(self) -> None:
        """Stop it gently (SIGTERM), and ``start`` may follow; by force when that takes too long, and CannotRunError, as
        it has written nothing then."""

    @abstractmethod
    def kill(self) -> None:
        """End it at once (SIGKILL), as a power failure would; ``start`` may follow."""

    @abstractmethod
    def pause(self) -> None:
        """Freeze it: none of its threads runs when this returns."""

    @abstractmethod
    def resume(self) -> None:
        """Resume it; no effect when it was not frozen."""

    @abstractmethod
    def close(self) -> None:
        """End it for good."""

    @abstractmethod
    def _begin(self, command: Sequence[str]) -> None:
        """Start it."""

    def _said(self) -> tuple[Path, Path]:
        """Its output and its log."""
        return self.home / "output.txt", self.log

    def _unwatch(self) -> None:
        """It has ended: there is nothing left to watch."""
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None


class JavaProcess(Program):
    """One on this machine: a process group of its own."""

    _group: ProcessGroup | None = None
    _frozen = False

    @property
    def alive(self) -> bool:
        return self._group is not None and self._group.process.poll() is None

    @property
    def pid(self) -> int:
        return self._group.pid if self._group else 0

    def _begin(self, command: Sequence[str]) -> None:
        environment = {
            name: value for name, value in os.environ.items() if name not in _UNWANTED and not name.startswith(PREFIX)
        }
        environment["HOME"] = str(self.home)
        self.log.unlink(missing_ok=True)  # output from before a restart explains nothing
        with (self.home / "output.txt").open("wb") as output:
            self._group = ProcessGroup(
                command,
                environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.home,
            )
        self._frozen = False
        self._watcher = watch_group(self.pid, tables_in_memory.folders(self.home))

    def stop(self) -> None:
        stopped = True
        if self._group is not None and self.alive:
            self._group.signal(signal.SIGTERM)
            self.resume()  # a frozen process does not handle SIGTERM
            stopped = self._group.ends_within(STOP_LIMIT)
        self.kill()
        if not stopped:
            raise forced(self.name)

    def kill(self) -> None:
        if self._group is not None:
            self._group.kill()
        self._unwatch()

    def pause(self) -> None:
        if self._group is not None and not self._frozen:
            self._group.signal(signal.SIGSTOP)
            # The signal only asks. A thread that was about to run may answer a request before it stops.
            with suppress(ChildProcessError):  # it has ended
                os.waitpid(self.pid, os.WUNTRACED)
            self._frozen = True

    def resume(self) -> None:
        if self._group is not None:
            self._group.signal(signal.SIGCONT)
            self._frozen = False

    def close(self) -> None:
        self.kill()


def forced(name: str) -> CannotRunError:
    """The error of a program that did not stop in time, and may not have written what it writes when it stops."""
    return CannotRunError(f"{name} did not stop within {STOP_LIMIT:.0f} s and was killed: see what keeps it")


def late(name: str, limit: float, progress: str) -> CannotRunError:
    """The error of a program that was not ready in time."""
    more = more_time() or " (--start-timeout allows more)"
    return CannotRunError(f"{name} was not ready after {limit:.0f} s{more}: {progress}")
