"""Progress bars on terminals, and the one of the running suite."""

from __future__ import annotations

from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from rocketmq_conformance.reports.event import Progress
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, duration, rate

#: How many cases of all are done.
CASES = "{task.completed:,.0f} of {task.total:,.0f} cases"


def bars(screen: Screen, counted: str, beside: str, named: bool = False) -> Bars:
    """Bars that say how much is done: ``counted`` formats ``task``, and ``beside`` is a field of it shown after that.

    There is no refresh thread: implementations may fork, and a redraw per event is enough.
    """
    return Bars(
        *([TextColumn("{task.description}", style="bold")] if named else []),
        BarColumn(bar_width=20),
        TextColumn(counted),
        TextColumn(f"{{task.fields[{beside}]}}", style="dim"),
        console=screen.console,
        auto_refresh=False,
        transient=True,
    )


class LiveProgress:
    """One bar with cases per second and steps per second; it goes away when the suite ends."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._bars: Bars | None = None

    def begin(self, name: str, cases: int) -> None:
        """Draw the bar of so many cases."""
        self.end()
        self._bars = bars(self._screen, CASES, "rates", named=True)
        self._bars.add_task(clean(name), total=cases, rates="")
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
                rates=f"about {duration(event.left)} more" if event.left else f"{cases} cases/s, {steps} steps/s",
                refresh=True,
            )

    def end(self) -> None:
        """Take the bar away."""
        if self._bars:
            self._bars.stop()
            self._bars = None
