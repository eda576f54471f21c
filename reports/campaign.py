"""The console report of a campaign: header, progress, a block per kind of divergence, suites, and the verdict.

On a terminal the progress is one live line; elsewhere it is a plain line now and then.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports import html, jsonl
from rocketmq_conformance.reports.console import STYLES, header, last_line, numbers, verdict_numbers
from rocketmq_conformance.reports.divergence_block import block, grid, replay_line
from rocketmq_conformance.reports.event import (
    CONFORMS,
    MODEL,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    SuiteEnded,
)
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, count, duration, rate

#: Kinds of divergences shown in full; further ones get a line each.
BLOCKS = 10
#: Lost cases that are listed.
LOST = 20
#: Seconds between two plain lines of progress, growing with the campaign.
FIRST_LINE, MOST_LINES = 5.0, 60.0


class CampaignReport:
    """Prints a campaign on the console."""

    def __init__(self, stream: TextIO, *, width: int | None = None) -> None:
        self._screen = Screen(stream, width)
        self._summary = RunSummary()
        self._bars: Bars | None = None
        self._next_line = FIRST_LINE
        #: The last line of progress, and until when (in seconds) this session had not played any case.
        self._last_line = ""
        self._idle = 0.0

    def __call__(self, event: Event) -> None:
        """Print what the event adds."""
        self._summary.add(event)
        match event:
            case RunStarted():
                self._screen.show(*header(event))
                self._screen.gap()
            case Progress():
                self._progress(event)
            case RunEnded():
                self._end()

    def close(self) -> None:
        """Finish; an interrupted campaign gets its summary here."""
        if self._summary.header and self._summary.footer is None:
            self._end()
        self._clear()

    # --- progress ----------------------------------------------------------------------------------------------

    def _progress(self, event: Progress) -> None:
        if event.cases == event.cases_before:
            self._idle = event.seconds
        if self._screen.live:
            self._move(event)
        elif event.seconds >= self._next_line:
            self._next_line = event.seconds + min(MOST_LINES, max(FIRST_LINE, event.seconds / 4))
            line = f"{event.cases:,} of {event.of:,} cases, {_rates(event, self._idle)}"
            if line != self._last_line:
                self._last_line = line
                self._screen.show(Text(line), wrap=False)

    def _move(self, event: Progress) -> None:
        if self._bars is None:
            # no refresh thread: a redraw per event is enough
            self._bars = Bars(
                BarColumn(bar_width=20),
                TextColumn("{task.completed:,.0f} of {task.total:,.0f} cases"),
                TextColumn("{task.fields[rates]}", style="dim"),
                console=self._screen.console,
                auto_refresh=False,
                transient=True,
            )
            self._bars.add_task("", total=event.of, rates="")
            self._bars.start()
        self._bars.update(
            self._bars.task_ids[0], completed=event.cases, total=event.of, rates=_rates(event, self._idle), refresh=True
        )

    def _clear(self) -> None:
        if self._bars:
            self._bars.stop()
            self._bars = None

    # --- the end -----------------------------------------------------------------------------------------------

    def _end(self) -> None:
        self._clear()
        summary = self._summary
        for number, divergence in enumerate((*summary.divergences, *summary.differences), start=1):
            self._divergence(number, divergence)
        if summary.ended:
            self._heading("Suites")
            self._screen.show(_suites(summary))
            for suite in summary.ended.values():
                self._screen.show(*_below(summary, suite))
        if summary.lost:
            self._heading("Lost cases")
            for lost in summary.lost[:LOST]:
                line = f"{lost.suite}, case {lost.case} ({lost.address}): {lost.reason}"
                self._screen.show(Text(clean(line)), wrap=False)
            if len(summary.lost) > LOST:
                self._screen.show(f"and {len(summary.lost) - LOST:,} more")
        if summary.discoveries:
            self._heading("New behaviour")
            self._screen.show(_discoveries(summary))
        self._heading("Verdicts")
        self._screen.show(verdict_numbers(summary), "")
        self._screen.show(grid([*numbers(summary), *_resources(summary)]))
        out = summary.header.out if summary.header else ""
        if out:
            for label, name in (("tables", ""), ("events", jsonl.NAME), ("page", html.NAME)):
                self._screen.show(Text.assemble((f"{label:<15}", "dim"), clean(str(PurePath(out, name)))), wrap=False)
        for divergence in (*summary.divergences, *summary.differences)[:BLOCKS]:
            self._screen.show(replay_line(divergence), wrap=False)
        self._screen.gap()
        self._screen.show(last_line(summary, summary.conclusion()), wrap=False)

    def _heading(self, text: str) -> None:
        self._screen.gap()
        self._screen.show(Rule(Text(text, style="bold"), style="dim", align="left"))

    def _divergence(self, number: int, event: DivergenceFound) -> None:
        where = f"{count(event.cases, 'case')}, the shortest is case {event.case}"
        if event.address:
            where += f" of {event.address}"
        if number > BLOCKS:
            line = f"one more: {event.suite}, fingerprint {event.fingerprint}, {where}, plan {event.plan}"
            self._screen.show(Text("  " + clean(line)), wrap=False)
            return
        noun = "Divergence" if event.against == MODEL else "Difference"
        about: list[tuple[str, RenderableType]] = [("seen in", Text(clean(where)))]
        if event.against != MODEL:
            about.append(("compared with", Text(clean(event.against))))
        if event.separates:
            about.append(("separates", _separators(event)))
        self._screen.gap()
        self._screen.show(block(event, f"{noun} {number}: {event.suite}", about))
        self._screen.show(replay_line(event), wrap=False)
        self._screen.gap()


def _rates(event: Progress, idle: float) -> str:
    """Cases and steps a second of this session, what was found, and how long it will still take.

    ``idle``: seconds before the first case; Spark takes some to start.
    """
    seconds = event.seconds - idle
    cases, steps = event.cases - event.cases_before, event.steps - event.steps_before
    if not cases:
        return "Spark and its workers are starting" if event.of > event.cases else "every case is played"
    parts = [f"{rate(cases, seconds)} cases/s", f"{rate(steps, seconds)} steps/s"]
    parts.append(count(event.behaviours, "behaviour"))
    parts.append(count(event.divergences, "divergence"))
    if cases and event.of > event.cases:
        parts.append(f"{duration((event.of - event.cases) * seconds / cases)} left")
    return ", ".join(parts)


def _separators(event: DivergenceFound) -> Text:
    """The features that separate the diverging steps from the others."""
    lines = [
        f"{clean(one.feature)}: {one.diverging:.0%} of those that diverge, {one.others:.0%} of the others"
        for one in event.separates
    ]
    return Text("\n".join(lines))


def _suites(summary: RunSummary) -> Table:
    """A row per suite and implementation."""
    several = len(summary.addresses) > 1
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    if several:
        table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    for _ in range(2):
        table.add_column(justify="right", no_wrap=True)
    for (suite, address), ended in summary.ended.items():
        table.add_row(
            clean(suite),
            *([clean(address)] if several else []),
            Text(clean(ended.verdict), style=STYLES.get(ended.verdict, "")),
            count(sum(ended.cases.values()), "case"),
            count(ended.steps, "step"),
        )
    return table


def _below(summary: RunSummary, suite: SuiteEnded) -> list[RenderableType]:
    """The lines below a suite: its numbers, reasons, unsupported operations and rules that never fired."""
    name = summary.part_name(suite.suite, suite.address)
    numbers = {verdict: number for verdict, number in suite.cases.items() if number}
    lines = [suite.reason] if suite.reason else []
    if list(numbers) not in ([], [CONFORMS]):
        lines.insert(0, ", ".join(f"{verdict} {number:,}" for verdict, number in numbers.items()))
    lines += [f"unsupported: {operation}" for operation in suite.unsupported]
    if suite.silent_rules:
        lines.append(f"never fired: {', '.join(suite.silent_rules)}")
    return [Padding(Text(clean(f"{name}: {line}")), (0, 0, 0, 2)) for line in lines]


def _discoveries(summary: RunSummary) -> Table:
    """A row per suite and arm: how much behaviour was seen, and how likely the next case shows new behaviour."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("suite", no_wrap=True)
    table.add_column("arm")
    for name in ("cases", "behaviours", "chance of new"):
        table.add_column(name, justify="right")
    for found in summary.discoveries:
        # nothing new in so many cases still leaves a chance of three in as many
        chance = _percent(found.chance) if found.chance else f"< {_percent(min(1.0, 3 / max(found.cases, 1)))}"
        cells = (f"{found.cases:,}", f"{found.behaviours:,}", chance)
        table.add_row(clean(found.suite) or "all", clean(found.arm) or "both", *cells)
    return table


def _percent(share: float) -> str:
    """A share in percent with two significant digits."""
    return f"{float(f'{100 * share:.2g}'):f}".rstrip("0").rstrip(".") + "%"


def _resources(summary: RunSummary) -> list[tuple[str, RenderableType]]:
    footer = summary.footer
    if footer is None:
        return []
    rows: list[tuple[str, RenderableType]] = []
    if footer.workers:
        peak = f", at most {footer.peak_memory / (1 << 20):,.0f} MiB each"
        rows.append(("players", Text(f"{footer.workers:,}{peak}")))
    if footer.left:
        rows.append(("not played", Text(count(footer.left, "case"), style="yellow")))
    return rows
