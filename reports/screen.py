"""The screen that reports print on: a terminal, or a plain stream without control codes and trailing blanks."""

from __future__ import annotations

import errno
import io
import os
from typing import TextIO

from rich.console import Console, RenderableType

#: Wider lines are hard to read, however wide the terminal is.
MOST_COLUMNS = 120


class _Console(Console):
    """A console that raises when its pipe is closed, where rich would end the process: the run goes on without it."""

    def on_broken_pipe(self) -> None:
        """Raise what the stream raised."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


class Screen:
    """Prints on ``stream``.

    ``width`` in columns; None takes the terminal's own, or 80 (or $COLUMNS) elsewhere. Colours follow NO_COLOR and
    FORCE_COLOR.
    """

    def __init__(self, stream: TextIO, width: int | None = None) -> None:
        if isinstance(stream, io.TextIOWrapper):
            # Names of queues and groups may hold what the stream's encoding lacks: never a reason to stop.
            stream.reconfigure(errors="backslashreplace")
        self._stream = stream
        #: Is the last line blank?
        self._blank = True
        #: For live displays; everything else goes through ``show``.
        self.console = _Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
        #: Can lines be redrawn?
        self.live = stream.isatty() and self.console.is_interactive and not self.console.is_dumb_terminal

    def show(self, *parts: RenderableType, wrap: bool = True) -> None:
        """Print parts below one another; without ``wrap`` a long line stays one line."""
        self._blank = False
        width = min(self.console.width, MOST_COLUMNS)
        if self.console.is_terminal:
            for part in parts:
                self.console.print(part, width=width if wrap else None, soft_wrap=not wrap)
            return
        with self.console.capture() as capture:
            for part in parts:
                self.console.print(part, width=width if wrap else None, soft_wrap=not wrap)
        self._stream.write("".join(line.rstrip() + "\n" for line in capture.get().splitlines()))
        self._stream.flush()

    def gap(self) -> None:
        """A blank line, unless there is one already."""
        if not self._blank:
            self.show("")
            self._blank = True
