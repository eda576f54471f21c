"""Defers Ctrl-C (SIGINT) while a Spark session starts."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Self


class DeferredSigint:
    """Defers Ctrl-C: at once, it would leave an orphaned JVM behind, or interrupt a call to it.

    At the end a deferred signal is delivered and the earlier handler restored: the one that PySpark installed meanwhile
    would call Java in the middle of an interrupted call. In threads other than the main one nothing is done.
    """

    def __init__(self) -> None:
        #: Is a signal deferred?
        self.waiting = False
        #: Is a second signal delivered at once? To be set when the JVM is known and can be ended.
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
        """Defer signals from now on, or again after another handler was installed."""
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
