"""The progress bar of the running suite, on terminals."""

from __future__ import annotations

from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from rocketmq_conformance.reports.event import Progress, SuiteStarted
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, rate


class LiveProgress:
    """One bar with cases per second and steps per second; it goes away when the suite ends."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._bars: Bars | None = None

    def begin(self, event: SuiteStarted) -> None:
        """Draw the bar of a suite."""
        self.end()
        # No refresh thread: implementations may fork, and a redraw per progress event is enough.
        self._bars = Bars(
            TextColumn("{task.description}", style="bold"),
            BarColumn(bar_width=20),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} cases"),
            TextColumn("{task.fields[rates]}", style="dim"),
            console=self._screen.console,
            auto_refresh=False,
            transient=True,
        )
        self._bars.add_task(clean(event.suite), total=event.cases, rates="")
        self._bars.start()
        self._bars.refresh()

    def move(self, event: Progress) -> None:
        """Redraw it."""
        if self._bars and self._bars.task_ids:
            cases, steps = rate(event.cases, event.seconds), rate(event.steps, event.seconds)
            self._bars.update(
                self._bars.task_ids[0],
                completed=event.cases,
                total=event.of,
                rates=f"{cases} cases/s, {steps} steps/s",
                refresh=True,
            )

    def end(self) -> None:
        """Take the bar away."""
        if self._bars:
            self._bars.stop()
            self._bars = None
