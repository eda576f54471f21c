"""The progress of a proof on the console: a live line on a terminal, and a line for each unit that was proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.progress import Progress as Bars
from rich.text import Text

from rocketmq_conformance.reports.progress import bars
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, duration


class ProofProgress:
    """Prints the results of ``total`` units as they come; a context manager."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._screen = Screen(stream)
        self._total, self._done = total, 0
        self._bars: Bars | None = None

    def __enter__(self) -> ProofProgress:
        if self._screen.live and self._total:
            self._bars = bars(self._screen, "{task.completed:.0f} of {task.total:.0f} units", "elapsed")
            self._bars.add_task("", total=self._total, elapsed="")
            self._bars.start()
        return self

    def __exit__(self, *args: object) -> None:
        if self._bars:
            self._bars.stop()

    def unit(self, lines: Sequence[str], seconds: float) -> None:
        """A unit has ended, so long after the start; the first of its lines says how."""
        self._done += 1
        place = f"[{self._done}/{self._total}, {duration(seconds)}] "
        for number, line in enumerate(lines):
            self._screen.show(Text(clean(line if number else place + line)), wrap=False)
        if self._bars:
            self._bars.update(self._bars.task_ids[0], completed=self._done, elapsed=duration(seconds), refresh=True)
