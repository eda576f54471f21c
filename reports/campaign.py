"""The console report of a campaign: header, progress, a block per kind of divergence, suites, and the verdict.

A short report shows the most important kinds in a dozen lines each, a verbose one everything. On a terminal the
progress is one live line; elsewhere it is a plain line now and then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.progress import Progress as Bars
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports import coverage, html, jsonl
from rocketmq_conformance.reports.console import (
    REPEATED,
    header,
    kinds_left_out,
    last_line,
    numbers,
    show_files,
    show_left_out,
    verdict_numbers,
)
from rocketmq_conformance.reports.divergence_block import block, grid, replay_line
from rocketmq_conformance.reports.event import (
    CONFORMS,
    MODEL,
    Discovery,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    SuiteEnded,
)
from rocketmq_conformance.reports.kinds import first_kinds, kinds_of
from rocketmq_conformance.reports.progress import CASES, bars
from rocketmq_conformance.reports.rule_lines import rule_lines
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.short_block import separator, show_kinds
from rocketmq_conformance.reports.suite_lines import EACH, QUIET, STYLES, ShortSuiteLines
from rocketmq_conformance.reports.text import clean, count, duration, rate
from rocketmq_conformance.reports.text_table import text_table
from rocketmq_conformance.reports.voices import sides, since

#: Short reports: lost cases, rows of new behaviour, and ways in which addresses part, that are listed.
LOST, DISCOVERIES, VOICES = 5, 10, 12
#: Seconds between two plain lines of progress, growing with the campaign.
FIRST_LINE, MOST_LINES = 5.0, 60.0


class CampaignReport:
    """Prints a campaign on the console."""

    def __init__(self, stream: TextIO, *, width: int | None = None, verbose: bool = False) -> None:
        self._screen = Screen(stream, width)
        self._summary = RunSummary()
        self._verbose = verbose
        #: What a short report does not show, in words.
        self._left_out: list[str] = []
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
                self._screen.show(*header(event, verbose=self._verbose))
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
            self._bars = bars(self._screen, CASES, "rates")
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
        self._kinds()
        if summary.ended:
            self._heading("Suites")
            self._suites()
        if summary.voices:
            self._heading("Voices")
            self._voices()
        if summary.lost:
            self._heading("Lost cases")
            self._lost()
        if summary.discoveries:
            self._heading("New behaviour")
            self._discoveries()
        self._heading("Verdicts")
        self._screen.show(verdict_numbers(summary), "")
        self._screen.show(grid([*numbers(summary, verbose=self._verbose), *_resources(summary)]))
        files = (("events", jsonl.NAME),) if self._verbose else ()
        show_files(self._screen, summary, (("tables", ""), *files, ("page", html.NAME)))
        if self._verbose:
            for divergence in (*summary.divergences, *summary.differences)[:REPEATED]:
                self._screen.show(replay_line(divergence), wrap=False)
        else:
            if any(suite.coverage for suite in summary.ended.values()):
                self._left_out.append("the result of each rule")
            show_left_out(self._screen, summary, self._left_out)
        self._screen.gap()
        self._screen.show(last_line(summary, summary.conclusion()), wrap=False)

    def _kinds(self) -> None:
        found = (*self._summary.divergences, *self._summary.differences)
        if self._verbose:
            for number, divergence in enumerate(found, start=1):
                self._divergence(number, divergence)
            return
        kinds = kinds_of(found)
        shown = first_kinds(kinds)
        show_kinds(self._screen, self._summary, shown)
        if len(kinds) > len(shown):
            self._left_out.append(kinds_left_out(kinds, shown))

    def _suites(self) -> None:
        """A row per suite and implementation, and what there is to say of each; or the coverage, too."""
        summary, ended = self._summary, list(self._summary.ended.values())
        self._screen.show(_suites(summary, fold=not self._verbose and len(ended) > EACH))
        if self._verbose:
            for suite in ended:
                self._screen.show(*_below(summary, suite))
            self._heading("Rules")
            self._screen.show(*rule_lines(summary.rules))
            self._heading("Coverage")
            self._screen.show(coverage.table(ended))
            return
        lines = ShortSuiteLines(summary)
        # those that need attention first
        for suite in sorted(ended, key=lambda suite: suite.verdict in QUIET):
            self._screen.show(*lines.below(suite, f"{clean(summary.part_name(suite.suite, suite.address))}: "))
        if lines.left_out:
            self._left_out.append(count(lines.left_out, "reason"))

    def _lost(self) -> None:
        lost = self._summary.lost if self._verbose else self._summary.lost[:LOST]
        for one in lost:
            line = f"{one.suite}, case {one.case} ({one.address}): {one.reason}"
            self._screen.show(Text(clean(line)), wrap=False)
        if len(self._summary.lost) > len(lost):
            self._left_out.append(count(len(self._summary.lost) - len(lost), "lost case"))

    def _voices(self) -> None:
        """Which addresses part from which, a row for each way."""
        found = self._summary.voices if self._verbose else self._summary.voices[:VOICES]
        table = text_table(("suite", "cases", "voices"), numbers=("cases",), folded=("voices",))
        for one in found:
            lines = list(sides(one, self._summary.addresses))
            if one.since:
                lines.append(f"since {since(one)}")
            table.add_row(clean(one.suite), f"{one.cases:,}", Text("\n".join(map(clean, lines))))
        self._screen.show(table)
        if len(self._summary.voices) > len(found):
            self._left_out.append(f"{count(len(self._summary.voices) - len(found), 'row')} of voices")

    def _discoveries(self) -> None:
        found = self._summary.discoveries
        if len(found) > DISCOVERIES and not self._verbose:
            found = [one for one in found if not one.suite][:DISCOVERIES]
            self._left_out.append("the new behaviour of each suite")
        self._screen.show(_discoveries(found))

    def _heading(self, text: str) -> None:
        self._screen.gap()
        self._screen.show(Rule(Text(text, style="bold"), style="dim", align="left"))

    def _divergence(self, number: int, event: DivergenceFound) -> None:
        where = f"{count(event.cases, 'case')}, the shortest is case {event.case}"
        if event.address:
            where += f" of {event.address}"
        noun = "Divergence" if event.against == MODEL else "Difference"
        about: list[tuple[str, RenderableType]] = [("seen in", Text(clean(where)))]
        if event.against != MODEL:
            about.append(("compared with", Text(clean(event.against))))
        if event.separates:
            about.append(("separates", Text("\n").join(separator(one) for one in event.separates)))
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


def _suites(summary: RunSummary, *, fold: bool) -> Table:
    """A row per suite and implementation; folded, one for all that conform and one for all that are unsupported."""
    several = len(summary.addresses) > 1
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    if several:
        table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    for _ in range(2):
        table.add_column(justify="right", no_wrap=True)
    folded: dict[str, list[SuiteEnded]] = {}
    for ended in summary.ended.values():
        if fold and ended.verdict in QUIET:
            folded.setdefault(ended.verdict, []).append(ended)
        else:
            _row(table, ended.suite, [ended], [clean(ended.address)] if several else [])
    for together in folded.values():
        _row(table, f"{len(together):,} {'parts' if several else 'suites'}", together, [""] if several else [])
    return table


def _row(table: Table, name: str, together: list[SuiteEnded], address: list[str]) -> None:
    verdict = together[0].verdict
    table.add_row(
        clean(name),
        *address,
        Text(clean(verdict), style=STYLES.get(verdict, "")),
        count(sum(sum(one.cases.values()) for one in together), "case"),
        count(sum(one.steps for one in together), "step"),
    )


def _below(summary: RunSummary, suite: SuiteEnded) -> list[RenderableType]:
    """The lines below a suite: its numbers, reasons, unsupported operations and rules that were not reached."""
    name = summary.part_name(suite.suite, suite.address)
    numbers = {verdict: number for verdict, number in suite.cases.items() if number}
    lines = [suite.reason] if suite.reason else []
    if list(numbers) not in ([], [CONFORMS]):
        lines.insert(0, ", ".join(f"{verdict} {number:,}" for verdict, number in numbers.items()))
    lines += [f"unsupported: {operation}" for operation in suite.unsupported]
    if suite.silent_rules:
        lines.append(f"not reached: {', '.join(suite.silent_rules)}")
    return [Padding(Text(clean(f"{name}: {line}")), (0, 0, 0, 2)) for line in lines]


def _discoveries(discoveries: Sequence[Discovery]) -> Table:
    """A row per suite and arm: how much behaviour was seen, and how likely the next case shows new behaviour."""
    columns = ("suite", "arm", "cases", "behaviours", "chance of new")
    table = text_table(columns, numbers=columns[2:])
    for found in discoveries:
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
