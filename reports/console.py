"""The console report of a run: header, a line per suite, a block per divergence, coverage, and the verdict.

On a terminal the running suite has a progress bar; elsewhere the output is plain lines, the same on every machine.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports import coverage, html, jsonl, junit
from rocketmq_conformance.reports.divergence_block import block, grid, replay_line
from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    DIVERGES,
    INTERRUPTED,
    TIME_LIMIT,
    UNDECIDED,
    UNSUPPORTED,
    VERDICTS,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.reports.progress import LiveProgress
from rocketmq_conformance.reports.run_summary import Conclusion, RunSummary
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, count, duration, profile, rate

STYLES = {CONFORMS: "green", DIVERGES: "red", UNDECIDED: "yellow", COULD_NOT_RUN: "magenta", UNSUPPORTED: "cyan"}

#: Different divergences shown in full; further ones get a line each, and their plans are in the run's folder.
BLOCKS = 10
#: Different reasons shown per suite.
REASONS = 5


class ConsoleReport:
    """Prints a run on the console.

    ``full_coverage``: True for a row per rule and kind of state, False for a row per rule, None for the full table
    when it is short.
    """

    def __init__(self, stream: TextIO, *, width: int | None = None, full_coverage: bool | None = None) -> None:
        self._screen = Screen(stream, width)
        self._progress = LiveProgress(self._screen)
        self._summary = RunSummary()
        self._full_coverage = full_coverage
        #: Fingerprints seen, with the number of their divergences.
        self._fingerprints: dict[str, int] = {}

    def __call__(self, event: Event) -> None:
        """Print what the event adds."""
        self._summary.add(event)
        match event:
            case RunStarted():
                self._screen.show(*header(event))
                self._screen.gap()
            case SuiteStarted() if self._screen.live:
                self._progress.begin(event)
            case Progress() if self._screen.live:
                self._progress.move(event)
            case DivergenceFound():
                self._divergence(event)
            case SuiteEnded():
                self._progress.end()
                self._screen.show(*self._suite(event))
            case RunEnded():
                self._end()

    def close(self) -> None:
        """Finish: an interrupted run gets its summary here; a run that never started prints nothing."""
        self._progress.end()
        if self._summary.header and self._summary.footer is None:
            self._end()

    def _divergence(self, event: DivergenceFound) -> None:
        number = self._fingerprints.get(event.fingerprint, 0) + 1
        self._fingerprints[event.fingerprint] = number
        where = f"{event.suite}, {self._summary.case_name(event.suite, event.case)}"
        if number > 1:
            again = f"again: fingerprint {event.fingerprint}, {where}"
            self._screen.show(Text("  " + clean(again), style="dim"), wrap=False)
        elif len(self._fingerprints) > BLOCKS:
            line = f"one more divergence: fingerprint {event.fingerprint}, {where}, plan {event.plan}"
            self._screen.show(Text("  " + clean(line)), wrap=False)
        else:
            self._screen.gap()
            self._screen.show(block(event, f"Divergence {len(self._fingerprints)}: {where}"))
            self._screen.show(replay_line(event), wrap=False)
            self._screen.gap()

    def _suite(self, event: SuiteEnded) -> list[RenderableType]:
        width = max(12, *(len(clean(suite)) for suite in self._summary.suites))
        cases = sum(event.cases.values())
        line = Text.assemble(
            (f"{clean(event.suite):<{width}}", "bold"),
            "  ",
            (f"{clean(event.verdict):<13}", STYLES.get(event.verdict, "")),
            f"  {count(cases, 'case'):>12}  {count(event.steps, 'step'):>15}  {duration(event.seconds):>9}",
        )
        below = []
        if [verdict for verdict, number in event.cases.items() if number] not in ([], [CONFORMS]):
            below.append(", ".join(f"{clean(verdict)} {n:,}" for verdict, n in event.cases.items() if n))
        if event.reason:
            below.append(clean(event.reason))
        reasons = [(key, value) for key, value in self._summary.reasons.items() if key[0] == event.suite and key[2]]
        for (_, verdict, reason), (times, first) in reasons[:REASONS]:
            where = self._summary.case_name(event.suite, first)
            where = where if times == 1 else f"{times:,} cases, first {where}"
            below.append(clean(f"{verdict}: {reason} ({where})"))
        if len(reasons) > REASONS:
            below.append(f"and {count(len(reasons) - REASONS, 'more reason')}")
        below += [clean(f"unsupported: {operation}: {why}") for operation, why in event.unsupported.items()]
        if event.control is False:
            below.append("control silent: a planted wrong answer was not noticed")
        return [line, *(Padding(Text(text), (0, 0, 0, 2)) for text in below)]

    def _end(self) -> None:
        """Coverage, numbers and verdict."""
        self._progress.end()
        conclusion = self._summary.conclusion()
        ended = list(self._summary.ended.values())
        if any(suite.coverage or suite.silent_rules for suite in ended):
            self._coverage(ended)
        self._screen.gap()
        self._screen.show(Rule(Text("Verdicts", style="bold"), style="dim", align="left"))
        self._screen.show(verdict_numbers(self._summary), "")
        self._screen.show(grid(numbers(self._summary)))
        self._kept()
        self._repeats()
        self._screen.gap()
        self._screen.show(last_line(self._summary, conclusion), wrap=False)

    def _coverage(self, suites: list[SuiteEnded]) -> None:
        full = self._full_coverage
        if full is None:
            full = coverage.rows_of(suites) <= coverage.FULL_ROWS
        self._screen.gap()
        self._screen.show(Rule(Text("Coverage", style="bold"), style="dim", align="left"))
        self._screen.show(coverage.table(suites, full=full))
        out = self._summary.header.out if self._summary.header else ""
        if not full and out:
            where = clean(str(PurePath(out, jsonl.NAME)))
            self._screen.show(Text(f"Kinds of state one by one: {where}", style="dim"), wrap=False)

    def _kept(self) -> None:
        """The paths of the files that were written, one a line."""
        out = self._summary.header.out if self._summary.header else ""
        if out:
            for label, name in (("events", jsonl.NAME), ("junit", junit.NAME), ("page", html.NAME)):
                self._screen.show(Text.assemble((f"{label:<15}", "dim"), clean(str(PurePath(out, name)))), wrap=False)

    def _repeats(self) -> None:
        """The replay lines of the different divergences again: their blocks may have scrolled away."""
        shown: set[str] = set()
        for divergence in self._summary.divergences:
            if divergence.fingerprint not in shown and len(shown) < BLOCKS:
                shown.add(divergence.fingerprint)
                self._screen.show(replay_line(divergence), wrap=False)


def header(event: RunStarted) -> list[RenderableType]:
    title = Text.assemble(("rocketmq-conformance", "bold"), f" {clean(event.kit)}, rule book {clean(event.rulebook)}")
    rows: list[tuple[str, RenderableType]] = [
        ("implementation", Text(clean(f"{event.implementation} {event.version}".strip()))),
        ("address", Text(clean(event.address))),
        ("profile", Text(profile(event.profile))),
        ("seed", Text(str(event.seed))),
        ("suites", Text(clean(", ".join(event.suites)) or "none")),
        ("out", Text(clean(event.out) or "nothing is kept")),
        *(("note", Text(clean(note), style="yellow")) for note in event.notes),
    ]
    choice = [Text(clean(event.release_choice[:1].upper() + event.release_choice[1:] + "."))]
    return [*(choice if event.release_choice else []), title, "", grid(rows)]


def _totals(summary: RunSummary) -> dict[str, int]:
    """Cases by verdict: the footer's, or without one the sum over the suites that ended."""
    if summary.footer:
        return summary.footer.cases
    return {verdict: sum(suite.cases.get(verdict, 0) for suite in summary.ended.values()) for verdict in VERDICTS}


def verdict_numbers(summary: RunSummary) -> Table:
    """The five numbers, side by side: they are never folded into one another."""
    totals = _totals(summary)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", min_width=13)
    cells = []
    for verdict in VERDICTS:
        number = totals.get(verdict, 0)
        table.add_column(verdict, justify="right", no_wrap=True)
        cells.append(Text(f"{number:,}", style=f"bold {STYLES[verdict]}" if number else "dim"))
    table.add_row(Text("cases", style="dim"), *cells)
    return table


def numbers(summary: RunSummary) -> list[tuple[str, RenderableType]]:
    rows: list[tuple[str, RenderableType]] = []
    ended, footer = summary.ended.values(), summary.footer
    found = sum(divergence.cases for divergence in summary.divergences)
    if found:
        different = len({divergence.fingerprint for divergence in summary.divergences})
        rows.append(("divergences", Text(f"{found:,}, {different:,} different", style="red")))
    if summary.differences:
        rows.append(("differences", Text(f"{count(len(summary.differences), 'kind')} between the implementations")))
    # Of the whole run, or of the suites that ended when it was cut off.
    controls = [suite.control for suite in ended if suite.control is not None]
    noticed, planted = (footer.controls_noticed, footer.controls) if footer else (sum(controls), len(controls))
    silent_controls = ", ".join(suite.suite for suite in ended if suite.control is False)
    text = f"{noticed}/{planted}" + (f", silent in {clean(silent_controls)}" if silent_controls else "")
    rows.append(("controls", Text(text, style="" if noticed == planted else "yellow")))
    if summary.corpus:
        rows.append(("corpus", _replayed(summary.corpus)))
    silent = footer.silent_rules if footer else sorted({rule for suite in ended for rule in suite.silent_rules})
    if silent:
        rows.append(("never fired", Text(clean(", ".join(silent)), style="yellow")))
    steps = footer.steps if footer else sum(suite.steps for suite in ended)
    seconds = footer.seconds if footer else sum(suite.seconds for suite in ended)
    speed = f" ({rate(steps, seconds)}/s)" if steps else ""
    rows.append(("steps", Text(f"{steps:,} in {duration(seconds)}{speed}")))
    if summary.unfinished:
        rows.append(("did not end", Text(clean(", ".join(summary.unfinished)), style="yellow")))
    return rows


def _replayed(corpus: dict[str, int]) -> Text:
    """How many plans of the corpus were played, and the verdicts of those that do not conform."""
    played = sum(corpus.values()) - corpus.get(UNSUPPORTED, 0)
    others = [f"{verdict} {corpus[verdict]:,}" for verdict in VERDICTS if verdict != CONFORMS and verdict in corpus]
    return Text(", ".join([f"{count(played, 'plan')} replayed", *others]), style="yellow" if others else "")


def last_line(summary: RunSummary, conclusion: Conclusion) -> Text:
    """The verdict and the seed."""
    style = f"bold {STYLES.get(conclusion.verdict, 'yellow')}"
    parts = Text.assemble("Verdict: ", (clean(conclusion.verdict), style))
    if summary.footer:
        parts.append(f" (exit code {conclusion.exit_code})")
    if conclusion.reason:
        words = {TIME_LIMIT: "stopped by the time limit"}
        parts.append(f": {words.get(conclusion.reason, clean(conclusion.reason))}")
        kept = summary.header.out if summary.header else ""
        if kept and (summary.footer is None or conclusion.reason == INTERRUPTED):
            parts.append(f", what did run is kept in {clean(kept)}")
    seed = summary.header.seed if summary.header else 0
    parts.append(f". Seed {seed}.")
    return parts
