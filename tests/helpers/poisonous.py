"""Adapters that some cases are too much for; addressed as ``python:poisonous:NAME``."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from broken_adapters import Slow

from rocketmq_conformance.conformance.adapter import Case, Hello
from rocketmq_conformance.conformance.startup import report_progress
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites.declare.operation import Operation

#: Cases, of whatever suite, that are poison.
POISON = frozenset({5, 17, 18, 40})


class Poisonous(Slow):
    """The port; base of those that cannot bear some cases."""

    def __init__(self) -> None:
        super().__init__()
        self.poisoned = False

    def reset(self, case: Case) -> None:
        super().reset(case)
        self.poisoned = case.number in POISON

    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        if self.poisoned:
            self.suffer()
        return outcome

    def suffer(self) -> None:
        """What a poisonous case does to it."""


class Exits(Poisonous):
    def suffer(self) -> None:
        os._exit(3)


class Crashes(Poisonous):
    def suffer(self) -> None:
        ctypes.string_at(0)


class Raises(Poisonous):
    def suffer(self) -> None:
        raise ZeroDivisionError("a bug")


class Sleeps(Poisonous):
    def suffer(self) -> None:
        time.sleep(3600)


class HangsForGood(Poisonous):
    """Where no signal of Python's reaches it."""

    def suffer(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
        ctypes.CDLL(None).sleep(3600)


class Leaks(Poisonous):
    def suffer(self) -> None:
        kept = []
        while True:
            kept.append(b"x" * (8 << 20))
            time.sleep(0.01)


class LeaksSlowly(Slow):
    """A little with every case, which no single case is to blame for."""

    kept: list[bytes] = []  # noqa: RUF012 - of the whole process, as leaks are

    def reset(self, case: Case) -> None:
        super().reset(case)
        self.kept.append(b"x" * (2 << 20))
        time.sleep(0.02)


class Prints(Poisonous):
    """Garbage where the player talks to its worker."""

    def suffer(self) -> None:
        print("garbage" * 20, flush=True)
        sys.stdout.buffer.write(b"\xff\x00\x01" * 100)
        os.write(1, b"\x04\x00\x00\x00more")


class Talks(Slow):
    """Very much."""

    def reset(self, case: Case) -> None:
        super().reset(case)
        os.write(1, b"so much to say\n" * 4096)


class Forks(Poisonous):
    """Dies while its child lives on and keeps everything open."""

    def suffer(self) -> None:
        leave_a_child()
        os._exit(4)


class ForksAndLives(Poisonous):
    def suffer(self) -> None:
        leave_a_child()


def leave_a_child() -> None:
    """A child that lives for ever; its number is a file in the folder that CHILDREN names, or where it was born."""
    child = os.fork()
    if not child:
        time.sleep(3600)
    Path(os.environ.get("CHILDREN", ""), str(child)).touch()


class Prepares(Slow):
    """Says what it does to get ready."""

    def hello(self) -> Hello:
        report_progress("building the client")
        return super().hello()


class DiesAtHello(Slow):
    def hello(self) -> Hello:
        sys.stderr.write("no hello\n")
        sys.stderr.flush()
        os._exit(7)


class Waits(Slow):
    """Takes its time, so that there is enough of it to be interrupted, and has a folder."""

    def reset(self, case: Case) -> None:
        super().reset(case)
        assert case.directory.is_dir()
        time.sleep(0.02)


class Naps(Slow):
    """Takes very much time."""

    def reset(self, case: Case) -> None:
        super().reset(case)
        time.sleep(20)
