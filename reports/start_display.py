"""Shows what the start of an implementation is doing: a line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Self, TextIO

from rich.live import Live
from rich.text import Text

from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean

#: Seconds that something takes before it is shown: a quick start prints nothing.
PATIENT = 1.0
#: Seconds between two plain lines about the same.
AGAIN = 15.0
#: Seconds between two looks.
_LOOK = 0.25


class StartDisplay:
    """Called with what is under way and a detail of it, or with "" when nothing is; a context manager.

    Inside ``with`` a thread looks at what has become of it; it begins with the first call.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = Screen(stream)
        self._clock = clock
        self._lock = threading.Lock()
        self._text = self._detail = ""
        self._since = 0.0
        #: When the next plain line is due.
        self._due = 0.0
        self._live: Live | None = None
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread:
            self._thread.join()
        self("", "")

    def __call__(self, text: str, detail: str) -> None:
        """Something begins, goes on, or has ended."""
        with self._lock:
            if text != self._text:
                self._text, self._since = text, self._clock()
                self._due = self._since + PATIENT
            self._detail = detail
            if not text and self._live:
                self._live.stop()
                self._live = None
        if text and self._thread is None and not self._ended.is_set():
            self._thread = threading.Thread(target=self._watch, name="start display", daemon=True)
            self._thread.start()

    def look(self) -> None:
        """Show what is due."""
        with self._lock:
            now = self._clock()
            if not self._text or now < self._due:
                return
            line = clean(f"{self._text}{f': {self._detail}' if self._detail else ''} ({now - self._since:.0f} s)")
            if not self._screen.live:
                self._due = now + AGAIN
                self._screen.show(line, wrap=False)
                return
            if self._live is None:
                self._live = Live(console=self._screen.console, auto_refresh=False, transient=True)
                self._live.start()
            self._live.update(Text(line, style="dim"), refresh=True)

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK):
            self.look()
