"""The supervisor of a player's process: starts it, sends it commands, watches it, and replaces it when it dies."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import selectors
import shutil
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
from rocketmq_conformance.conformance.campaign.player import player_process
from rocketmq_conformance.conformance.campaign.player.pipe import PLACE, receive, send
from rocketmq_conformance.conformance.campaign.player.shipped_kit import child_environment
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.engine.memory_folder import PARENT, temporary_folder
from rocketmq_conformance.conformance.process_group import ProcessGroup
from rocketmq_conformance.conformance.startup import Listener, unseen
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.watcher import watch_group

#: Seconds between two looks at a player.
_LOOK = 0.25
#: Seconds beyond an operation's timeout before a player without a heartbeat is killed: its own alarm, which ends the
#: case and not the process, comes first.
_GRACE = 10.0
#: Bytes that an implementation may print before the oldest are dropped, and bytes of the end that are read.
_PRINTED, _END = 1 << 20, 1 << 14


class PlayerFaultError(Exception):
    """The kit failed inside a player; the text is the traceback."""


class PlayerDiedError(Exception):
    """A player's process ended while it was playing.

    ``case`` and ``address`` (a position) are what it was playing; -1 when it was not playing.
    """

    def __init__(self, reason: str, case: int, address: int) -> None:
        super().__init__(reason)
        self.case = case
        self.address = address


class Abandoned(Exception):  # noqa: N818 - no error: the caller asked for it
    """The caller asked to stop."""


class PlayerSupervisor:
    """One player. Starts with its first command; after its death with the next."""

    def __init__(
        self,
        spec: CampaignSpec,
        path: tuple[str, ...] = (),
        start: Mapping[str, Mapping[str, Any]] | None = None,
        on_start: Listener = unseen,
    ) -> None:
        self.spec = spec
        self.path = path
        #: Addresses that are opened as others (see ``BlockPlayer``).
        self.start = dict(start or {})
        self._on_start = on_start
        #: The most memory that a player had, in bytes.
        self.peak = 0
        #: Players that had to be replaced.
        self.replaced = 0
        self.hellos: list[dict[str, Any]] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._resources = contextlib.ExitStack()
        self._weighed = 0.0

    @property
    def pid(self) -> int:
        """The process, or 0."""
        return self._process.pid if self._process else 0

    def open(self, stop: Callable[[], bool] = lambda: False) -> list[dict[str, Any]]:
        """Start the player if there is none, and learn who its addresses are.

        AddressError for a wrong address, CannotRunError when one cannot be judged here; the rest as ``ask``.
        """
        if self._process is None:
            try:
                self.hellos = self._opened(stop)
            except PlayerDiedError:  # once may be chance
                try:
                    self.hellos = self._opened(stop)
                except PlayerDiedError as died:
                    raise CannotRunError(
                        f"The process that plays the implementations does not start: {died}, twice."
                    ) from died
        return self.hellos

    def _opened(self, stop: Callable[[], bool]) -> list[dict[str, Any]]:
        self._begin()
        try:
            (hellos,) = self._ask({"do": "open", "spec": self.spec.json(), "start": self.start}, stop)
        except BaseException:
            self.close()
            raise
        return list(hellos)

    def ask(self, command: dict[str, Any], stop: Callable[[], bool] = lambda: False) -> Iterator[Any]:
        """The parts of the answer. PlayerDiedError when the player dies, Abandoned when ``stop`` says so."""
        self.open(stop)
        yield from self._ask(command, stop)

    def close(self) -> None:
        """End the player; it is given a moment to release what it holds."""
        process = self._process
        if process:
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5.0)
            self._kill()

    def _begin(self) -> None:
        resources = self._resources = contextlib.ExitStack()
        try:
            # temporary files that it leaves when it is killed are deleted with its folders
            folder, memory = Path(tempfile.mkdtemp(prefix="rocketmq-conformance-player-")), temporary_folder()
            for one in (folder, memory):
                resources.callback(shutil.rmtree, one, ignore_errors=True)
            place = resources.enter_context((folder / "place").open("w+b"))
            place.write(PLACE.pack(-1, -1, 0))
            place.flush()
            self._place = resources.enter_context(mmap.mmap(place.fileno(), PLACE.size))
            self._errors = resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
            # what is appended goes to the end, wherever that is: the file can be cut short
            fcntl.fcntl(self._errors, fcntl.F_SETFL, os.O_APPEND)
            self._group = ProcessGroup(
                [sys.executable, "-m", player_process.__name__, place.name],
                child_environment(self.path) | {"TMPDIR": str(folder), PARENT: str(memory)},
                stderr=self._errors,
                buffered=False,  # what is buffered here would never wake the selector
                cwd=next((entry for entry in self.path if Path(entry).is_dir()), None),
            )
            self._process = self._group.process
            # Spark ends its workers by signals, and nothing that they register is run then
            resources.callback(watch_group(self._process.pid, (folder, memory)).close)
        except OSError as error:
            self._kill()
            resources.close()
            raise CannotRunError(f"The process that plays the implementations cannot be started ({error}).") from error
        self._selector = resources.enter_context(selectors.DefaultSelector())
        assert self._process.stdout is not None
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    def _ask(self, command: dict[str, Any], stop: Callable[[], bool]) -> Iterator[Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        PLACE.pack_into(self._place, 0, -1, -1, 0)
        frames = _Frames(self, stop, limited=command["do"] != "open")
        try:
            send(cast(BinaryIO, process.stdin), command)
            while True:
                kind, value = receive(cast(BinaryIO, frames))
                if kind == "part":
                    yield value
                    continue
                if kind == "start":
                    self._on_start(*value)
                    continue
                if kind == "failed":
                    _raise(*value)
                self._memory()  # what is done between two looks is weighed too
                if value is not None:
                    yield value
                return
        except (EOFError, BrokenPipeError):
            raise self._death("") from None
        except (Abandoned, GeneratorExit):  # its further answers have no reader
            self._kill()
            raise

    def _wait(self, stop: Callable[[], bool], limited: bool) -> int:
        """Wait until the player sends something, within its limits of memory and time; the file descriptor to read."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        place, since = None, time.monotonic()
        while True:
            self._weigh()
            if stop():
                raise Abandoned
            # its own children may hold the pipe open when it is dead
            dead = process.poll() is not None
            if self._selector.select(0 if dead else _LOOK):
                return process.stdout.fileno()
            if dead:
                raise EOFError
            now = time.monotonic()
            seen = self._place[:]
            if seen != place:
                place, since = seen, now
            elif limited and now - since > self.spec.patience + _GRACE:
                raise self._death(f"it hung for {now - since:.0f} s")

    def _weigh(self) -> None:
        """Enforce the limits of its memory and its output."""
        now = time.monotonic()
        if now - self._weighed < _LOOK:
            return
        self._weighed = now
        assert self._process is not None
        if os.fstat(self._errors.fileno()).st_size > _PRINTED:
            self._errors.truncate(0)
        taken = self._memory()
        if taken > self.spec.memory:
            raise self._death(f"it took {taken >> 20} MiB of memory, more than the {self.spec.memory >> 20} it may")

    def _memory(self) -> int:
        """Its memory in bytes; 0 when it is dead, which reading from it will show."""
        assert self._process is not None
        try:
            taken = int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0
        self.peak = max(self.peak, taken)
        return taken

    def _kill(self) -> None:
        """End the player with all of its children that did not leave its group."""
        process, self._process = self._process, None
        if process is None:
            return
        self._group.kill()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        self._resources.close()

    def _death(self, why: str) -> PlayerDiedError:
        """Clean up after the player; the error names what it played last, and why it died."""
        process = self._process
        assert process is not None
        if not why:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5.0)
            why = _ended(process.poll())
            hint = self._last_words()
            why += f" ({hint})" if hint else ""
        case, address, _ = PLACE.unpack(self._place[:])
        self.replaced += 1
        self._kill()
        return PlayerDiedError(why, case, address)

    def _last_words(self) -> str:
        """The most telling line of what was printed last."""
        size = os.fstat(self._errors.fileno()).st_size
        self._errors.seek(max(0, size - _END))
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        fatal = next((line for line in lines if line.startswith("Fatal Python error")), "")
        return (fatal or (lines[-1] if lines else ""))[:200]


class _Frames:
    """The player's output as a file; reading waits as long as the player keeps its limits."""

    def __init__(self, player: PlayerSupervisor, stop: Callable[[], bool], limited: bool) -> None:
        """``limited``: a player without a heartbeat for too long counts as hung."""
        self._player = player
        self._stop = stop
        self._limited = limited

    def read(self, size: int) -> bytes:
        """So many bytes at most; none at the end."""
        return os.read(self._player._wait(self._stop, self._limited), size)


def _ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"its process ended by {signal.Signals(-code).name}"
    return "it sent nothing more" if code is None else f"its process ended with code {code}"


def _raise(kind: str, text: str) -> None:
    if kind == player_process.USAGE:
        raise AddressError(text)
    if kind == player_process.COULD_NOT_RUN:
        raise CannotRunError(text)
    raise PlayerFaultError(text)
