"""A consumer program: one process group, which learns what to do from environment variables."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.process_group import ProcessGroup
from rocketmq_conformance.conformance.targets.broker.access_settings import without_settings
from rocketmq_conformance.conformance.targets.child_process import ErrorLog
from rocketmq_conformance.conformance.targets.client_program.connections import is_open_in, sockets_at
from rocketmq_conformance.conformance.targets.client_program.lines import foreign_topic, wrong_with
from rocketmq_conformance.conformance.targets.client_program.required_consumers import SUBSCRIBE
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.reports.text import shortened

#: The longest line of standard output that is read, in bytes; longer ones are skipped.
LONGEST_LINE = 4096
#: Characters of a reason that are shown.
_REASON = 300
_CHUNK = 65536
#: What a line may say of a message beside its place.
_READ = "bytes of the body", "keys"
#: The variable with the topic that it is to consume.
_TOPIC = "ROCKETMQ_TOPIC"
#: Seconds between two looks at a process that is to end.
_POLL_INTERVAL = 0.02
#: Seconds for which the last words of a process that has ended are read: what it started may keep its pipe open.
_LAST_WORDS = 5.0
_MISSING = 'the program does not say {{"takes": ["{}"]}} on standard output before it starts (docs/reference/client.md)'


class Introduced(NamedTuple):
    """What a program says of itself before it starts."""

    #: Why it cannot be the consumer that it is asked for, or "".
    unsupported: str
    #: The commands that it says it takes.
    takes: frozenset[str]

    def lacks(self, command: str) -> str:
        """Why it cannot play a case that needs a command (or "", for none), or ""."""
        return self.unsupported or ("" if not command or command in self.takes else _MISSING.format(command))


class Program:
    """A program that runs until ``stop`` or ``kill``; what it leaves behind in its group ends with it."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        self._command = command
        #: (topic, queue, offset) of every message that it said it was given.
        self.got: deque[tuple[str, int, int]] = deque(maxlen=100_000)
        #: The bytes of the body, and the keys, of each message of which it said that, too.
        self.read: dict[tuple[str, int, int], tuple[int, str]] = {}
        #: The commands that it said it takes.
        self.takes: frozenset[str] = frozenset()
        #: The queues (topic, id) that it said it has, the last time that it said so.
        self.owned: frozenset[tuple[str, int]] | None = None
        #: Why it cannot be the consumer that it is asked for, as it says, or "".
        self._unsupported = ""
        #: A sentence on the first line that has the name of one that is understood, but not its shape, or "".
        self.wrong_line = ""
        self._errors = ErrorLog()
        #: The topics whose messages it may say it was given, and whose queues it may say it has.
        self._topics = set[str]()
        if _TOPIC in variables:
            self._topics = {variables[_TOPIC], RETRY + variables["ROCKETMQ_GROUP"]}
        try:
            self._group = ProcessGroup(command, {**without_settings(), **variables}, marked=True)
        except OSError as error:
            raise CannotRunError(
                f"The command {command[0]!r} cannot be started ({error.strerror}): name a program that is there and "
                "may be executed."
            ) from error
        self._process = self._group.process
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._lines_read = _reading(self._read_lines, self._process.stdout)
        self._errors_read = _reading(self._read_errors, self._process.stderr)

    @property
    def code(self) -> int | None:
        """Its exit code, the negative number of a signal, or None while it runs."""
        return self._process.poll()

    @property
    def unsupported(self) -> str:
        """Why it cannot be the consumer that it is asked for, as it says, or ""."""
        if self.code is not None:
            self._lines_read.join(_LAST_WORDS)
        return self._unsupported

    @property
    def introduced(self) -> Introduced:
        """What it has said of itself."""
        return Introduced(self.unsupported, self.takes)

    @property
    def last_words(self) -> str:
        """What tells most on its standard error, or "": all of it was read, once it has ended."""
        if self.code is not None:
            self._errors_read.join(_LAST_WORDS)
        return self._errors.last_lines()

    def stop(self, limit: float) -> bool:
        """Ask it to end by SIGTERM, and wait; False when it had to be killed after ``limit`` seconds."""
        self._group.signal(signal.SIGTERM)
        ended = wait_until(lambda: not self._group.runs, limit, _POLL_INTERVAL)
        self.kill()
        return ended

    def send(self, command: Mapping[str, object]) -> None:
        """Write a command to its standard input; one that has ended, or closed it, is given none."""
        assert self._process.stdin is not None
        self._topics.update(topic for word, topic in command.items() if word == SUBSCRIBE and isinstance(topic, str))
        with suppress(OSError, ValueError):  # it has ended, or was killed
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()

    def opened(self, port: int) -> bool:
        """Is this the port of a connection that it opened, as far as that can be seen?"""
        return any(is_open_in(self._process.pid, self._group.marked(), socket) for socket in sockets_at(port))

    def pause(self) -> None:
        """Freeze it: nothing of it runs until ``resume``."""
        self._group.signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._group.signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it, and every process that it started, at once; twice does no harm."""
        self._group.kill()
        if self._process.stdin is not None:
            with suppress(OSError):  # what it did not read any more
                self._process.stdin.close()

    def _read_lines(self, pipe: IO[bytes]) -> None:
        rest, skipping = b"", False
        while chunk := os.read(pipe.fileno(), _CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if not skipping:
                    self._line(line)
                skipping = False
            if len(rest) > LONGEST_LINE:
                rest, skipping = b"", True

    def _line(self, line: bytes) -> None:
        if not line.startswith(b"{") or len(line) > LONGEST_LINE:
            return
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return  # a program may print what it likes
        wrong = wrong_with(said) or (foreign_topic(said, self._topics) if self._topics else "")
        if wrong:
            self.wrong_line = self.wrong_line or wrong
        elif "takes" in said:
            self.takes = frozenset(said["takes"])
        elif "unsupported" in said:
            self._unsupported = shortened(said["unsupported"], _REASON) or "the program says so"
        elif "owned" in said:
            self.owned = frozenset((topic, queue) for topic, queue in said["owned"])
        elif "got" in said:
            topic, queue, offset, *read = said["got"]
            self.got.append((topic, queue, offset))
            if len(read) == len(_READ):
                self.read[topic, queue, offset] = read[0], read[1]

    def _read_errors(self, pipe: IO[bytes]) -> None:
        while chunk := os.read(pipe.fileno(), _CHUNK):
            self._errors.add(chunk)


def _reading(read: Callable[[IO[bytes]], None], pipe: IO[bytes]) -> threading.Thread:
    """A thread that reads a pipe."""
    thread = threading.Thread(target=read, args=(pipe,), daemon=True)
    thread.start()
    return thread
