"""A player's process as its worker sees it: started, asked, watched, and replaced when it dies."""

from __future__ import annotations

import contextlib
import mmap
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import psutil
from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.address import AddressError
from rocketmq_conformance.conformance.campaign import player_process
from rocketmq_conformance.conformance.campaign.pipe import PLACE, get, put
from rocketmq_conformance.conformance.campaign.shipping import child_environment
from rocketmq_conformance.conformance.campaign.spec import Spec

#: Seconds between two looks at a player that says nothing.
_LOOK = 0.25
#: Seconds more than an operation's patience before a player that shows no sign of life is killed from outside: its
#: own alarm, which ends the case and not the process, goes first.
_GRACE = 10.0


class PlayerFaultError(Exception):
    """The kit failed inside a player; the text is the traceback."""


class PlayerDiedError(Exception):
    """A player's process ended while it was playing.

    ``case`` and ``address`` (a position) are what it was playing; -1 when it had not begun.
    """

    def __init__(self, reason: str, case: int, address: int) -> None:
        super().__init__(reason)
        self.case = case
        self.address = address


class Abandoned(Exception):  # noqa: N818 - nobody's error: somebody asked for it
    """Whoever watches asked to stop."""


class PlayerProcess:
    """One player. Starts with its first command; after its death with the next."""

    def __init__(
        self, spec: Spec, path: tuple[str, ...] = (), start: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self.spec = spec
        self.path = path
        #: Addresses that are opened as others (see ``Players``).
        self.start = dict(start or {})
        #: The most memory that a player had, in bytes.
        self.peak = 0
        #: Players that had to be replaced.
        self.replaced = 0
        self.hellos: list[dict[str, Any]] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._resources = contextlib.ExitStack()

    @property
    def pid(self) -> int:
        """The process, or 0."""
        return self._process.pid if self._process else 0

    def open(self) -> list[dict[str, Any]]:
        """Start the player if there is none, and learn who its addresses are.

        AddressError for a wrong address, CannotRunError when one cannot be judged here.
        """
        if self._process is None:
            self._begin()
            try:
                self.hellos = self._opened()
            except PlayerDiedError as died:
                raise CannotRunError(f"The process that plays the implementations does not start: {died}.") from died
            except BaseException:
                self.close()
                raise
        return self.hellos

    def _opened(self) -> list[dict[str, Any]]:
        (hellos,) = self._ask({"do": "open", "spec": self.spec.json(), "start": self.start})
        return list(hellos)

    def ask(self, command: dict[str, Any], stop: Callable[[], bool] = lambda: False) -> Iterator[Any]:
        """The parts of the answer. PlayerDiedError when the player dies, Abandoned when ``stop`` says so."""
        self.open()
        yield from self._ask(command, stop)

    def close(self) -> None:
        """End the player; it is given a moment to release what it holds."""
        process, self._process = self._process, None
        if process:
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()
        self._resources.close()

    def _begin(self) -> None:
        self._resources = contextlib.ExitStack()
        place = self._resources.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115 - the stack closes it
        place.write(PLACE.pack(-1, -1, 0))
        place.flush()
        self._place = self._resources.enter_context(mmap.mmap(place.fileno(), PLACE.size))
        self._errors = self._resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", player_process.__name__, place.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,  # what is buffered here would never wake the selector
            env=child_environment(self.path),
            preexec_fn=_end_with_parent,
            cwd=next((folder for folder in self.path if Path(folder).is_dir()), None),
        )
        self._selector = self._resources.enter_context(selectors.DefaultSelector())
        assert self._process.stdout is not None
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    def _ask(self, command: dict[str, Any], stop: Callable[[], bool] = lambda: False) -> Iterator[Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        PLACE.pack_into(self._place, 0, -1, -1, 0)
        try:
            put(cast(BinaryIO, process.stdin), command)
            while True:
                self._watch(stop)
                kind, value = get(cast(BinaryIO, process.stdout))
                if kind == "part":
                    yield value
                    continue
                if kind == "failed":
                    _raise(*value)
                if value is not None:
                    yield value
                return
        except (EOFError, BrokenPipeError):
            raise self._dead("") from None

    def _watch(self, stop: Callable[[], bool]) -> None:
        """Wait until the player says something, and see to it that it lives well meanwhile."""
        place, since = None, time.monotonic()
        while True:
            self._weigh()
            if self._selector.select(_LOOK):
                return
            if stop():
                self._kill()
                raise Abandoned
            now = time.monotonic()
            seen = self._place[:]
            if seen != place:
                place, since = seen, now
            elif now - since > self.spec.patience + _GRACE and PLACE.unpack(seen)[0] >= 0:
                raise self._dead(f"it hung for {now - since:.0f} s")

    def _weigh(self) -> None:
        assert self._process is not None
        try:
            taken = psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return  # it is dead, which reading from it will tell
        self.peak = max(self.peak, taken)
        if taken > self.spec.memory:
            raise self._dead(f"it took {taken >> 20} MiB of memory, more than the {self.spec.memory >> 20} it may")

    def _kill(self) -> None:
        process, self._process = self._process, None
        assert process is not None
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        self._resources.close()

    def _dead(self, why: str) -> PlayerDiedError:
        """Bury the player; what it played last, and why it died."""
        process = self._process
        assert process is not None
        if not why:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5.0)
            why = _ended(process.poll())
            self._errors.seek(0)
            last = self._errors.read().decode("utf-8", "replace").strip().splitlines()
            hint = next((line for line in last if line.startswith("Fatal Python error")), last[-1] if last else "")
            why += f" ({hint[:200]})" if hint else ""
        case, address, _ = PLACE.unpack(self._place[:])
        self.replaced += 1
        self._kill()
        return PlayerDiedError(why, case, address)


def _ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"its process ended by {signal.Signals(-code).name}"
    return f"its process ended with code {code}"


def _raise(kind: str, text: str) -> None:
    if kind == player_process.USAGE:
        raise AddressError(text)
    if kind == player_process.COULD_NOT_RUN:
        raise CannotRunError(text)
    raise PlayerFaultError(text)


def _end_with_parent() -> None:
    """Ask the kernel to end this process with its parent, where it can do so: a killed worker leaves nothing behind."""
    with contextlib.suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    os.setpgid(0, 0)
