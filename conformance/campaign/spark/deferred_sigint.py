"""Ctrl-C while a session of Spark starts."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Self


class Interrupts:
    """Ctrl-C waits: it would leave a Java machine behind that nobody knows, or break a call to it in the middle.

    At the end it is passed on, and signals are handled as before, whatever PySpark has installed meanwhile: its handler
    would call Java in the middle of the call that the signal meets. In threads other than the main one there is nothing
    to do.
    """

    def __init__(self) -> None:
        #: Was there one?
        self.waiting = False
        #: Is a second one passed on at once? To be set when the Java machine is known, and can be ended.
        self.twice = False
        self._before = signal.getsignal(signal.SIGINT) or signal.SIG_DFL
        self._main = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        self.take()
        return self

    def __exit__(self, *error: object) -> None:
        if self._main:
            self._pass()

    def take(self) -> None:
        """Let signals wait from now on, or again after somebody else has taken them."""
        if self._main and self._before is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._remember)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.waiting and self.twice:
            self._pass()
        self.waiting = True

    def _pass(self) -> None:
        signal.signal(signal.SIGINT, self._before)
        if self.waiting:
            self.waiting = False
            signal.raise_signal(signal.SIGINT)
