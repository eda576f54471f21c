"""An alarm that interrupts code which does not come back, and code that nothing may interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Overdue(BaseException):
    """Raised where code hangs; no ``except Exception`` of that code takes it."""


def _raise_overdue(signum: int, frame: FrameType | None) -> None:
    raise Overdue


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let neither Ctrl-C, a signal to end, nor an alarm break in: what arrives meanwhile is raised in the end.

    For the start of a process: broken off in the middle of it, nobody would know that there is one to be ended.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, *([signal.SIGALRM] if hasattr(signal, "SIGALRM") else []))
    handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    arrived: list[int] = []
    for number in handlers:
        signal.signal(number, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for received in dict.fromkeys(arrived):
            signal.raise_signal(received)


class Alarm:
    """Raises Overdue in the main thread, the only one that can be interrupted, when its time has come.

    The handler is installed once, because installing one costs more than playing a step.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._installed = False

    def set(self, seconds: float) -> None:
        """Raise Overdue after so many seconds."""
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            return
        if not self._installed:
            self._before = signal.signal(signal.SIGALRM, _raise_overdue)
            self._installed = True
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def unset(self) -> None:
        """Cancel the alarm."""
        if self._installed:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def remove(self) -> None:
        """Restore the handler that the signal had before."""
        if self._installed:
            signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)
            self._installed = False
