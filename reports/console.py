"""The console report of a run: header, a line per suite, divergences, numbers and the verdict.

A short report, the default, has at most 60 lines when a run conforms, and a dozen more for each divergence that it
shows. A verbose one has everything, each divergence as it is found, and the result and the coverage of every rule. On a
terminal the running suite has a progress bar; elsewhere the output is plain lines, the same on every machine.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TextIO

from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports import coverage, html, jsonl, junit
from rocketmq_conformance.reports.cut import Cut
from rocketmq_conformance.reports.divergence_block import block, grid, noun, replay_line
from rocketmq_conformance.reports.event import (
    CONFORMS,
    DIVERGES,
    INTERRUPTED,
    TIME_LIMIT,
    UNSUPPORTED,
    VERDICTS,
    CaseEnded,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.reports.kinds import MOST, Kind, by_rule, first_kinds, kinds_of
from rocketmq_conformance.reports.progress import LiveProgress
from rocketmq_conformance.reports.repeats import once
from rocketmq_conformance.reports.rule_lines import rule_lines
from rocketmq_conformance.reports.rule_results import summed_up
from rocketmq_conformance.reports.run_summary import Conclusion, RunSummary
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.short_block import show_kinds
from rocketmq_conformance.reports.suite_lines import STYLES, FullSuiteLines, ShortSuiteLines
from rocketmq_conformance.reports.text import clean, count, duration, first_names, profile, rate
from rocketmq_conformance.reports.text_table import text_table
from rocketmq_conformance.reports.tiers import HYPOTHESIS, SEEDED

#: Verbose reports: replay lines that are repeated at the end.
REPEATED = 10
#: Short reports: names of suites in the header and their lines, notes and lines of each.
_NAMES, _NAME_LINES, _NOTES, _NOTE_LINES = 6, 3, 3, 3
#: Suites that take longer than this say so before they begin (s).
LONG = 10.0
#: Seconds of playing before the first line of progress where lines cannot be redrawn; the next ones after twice that.
FIRST_PROGRESS = 30.0
#: Properties of a broker that have a line each.
_PROPERTIES = 5


class ConsoleReport:
    """Prints a run on the console."""

    def __init__(self, stream: TextIO, *, width: int | None = None, verbose: bool = False) -> None:
        self._screen = Screen(stream, width)
        self._progress = LiveProgress(self._screen)
        self._summary = RunSummary()
        self._verbose = verbose
        #: One of the two prints the suites.
        self._full = FullSuiteLines(self._summary)
        self._short = ShortSuiteLines(self._summary)
        #: The suite that waits and has not diverged yet, or "".
        self._waiting = ""
        #: Suites that take turns, until all of them have started, and what has differed in them: suites and rules.
        self._turns: list[SuiteStarted] = []
        self._differs: set[tuple[str, str]] = set()
        #: Seconds of playing after which a screen that cannot be redrawn says how far the run is.
        self._say_at = FIRST_PROGRESS
        #: Fingerprints seen, of a verbose report.
        self._fingerprints: set[str] = set()

    def __call__(self, event: Event) -> None:
        """Print what the event adds."""
        self._summary.add(event)
        match event:
            case RunStarted():
                self._screen.show(*header(event, verbose=self._verbose))
                self._screen.gap()
            case SuiteStarted() if event.turns > 1:
                self._turns.append(event)
                if len(self._turns) == event.turns:
                    self._begin_turns()
            case SuiteStarted():
                self._waiting = ""
                if LONG <= event.expected_seconds < math.inf:
                    self._waiting = event.suite
                    waits = f"{event.suite} waits"
                    price = event.cases, event.expected_seconds
                    self._screen.show(_price(waits, *price, self._summary.header, turns=event.turns > 0))
                if self._screen.live:
                    self._progress.begin(event.suite, event.cases)
            case Progress() if self._screen.live:
                self._progress.move(event)
            case Progress():
                self._say_progress(event)
            case CaseEnded() if event.verdict == DIVERGES and self._takes_turns(event.suite):
                self._differ(event)
            case CaseEnded() if event.verdict == DIVERGES and event.suite == self._waiting:
                self._waiting = ""
                self._screen.show(self._shrinking(event))
            case DivergenceFound() if self._verbose:
                self._divergence(event)
            case SuiteEnded():
                if not self._takes_turns(event.suite):
                    self._progress.end()
                self._screen.show(*(self._full if self._verbose else self._short).add(event))
            case RunEnded():
                self._end()

    def close(self) -> None:
        """Finish: an interrupted run gets its summary here; a run that never started prints nothing."""
        self._progress.end()
        if self._summary.header and self._summary.footer is None:
            self._end()

    def _say_progress(self, event: Progress) -> None:
        """How far a suite is, after longer and longer."""
        turns = not event.suite or self._takes_turns(event.suite)
        played = event.seconds
        if not turns:
            played += sum(ended.seconds for ended in self._summary.ended.values())
        if played < self._say_at:
            return
        while self._say_at <= played:
            self._say_at *= 2
        done = f"{event.cases:,} of {count(event.of, 'case')}"
        text = f"{clean(event.suite) or count(len(self._turns), 'suite')}: {done} after {duration(event.seconds)}"
        if event.divergences:
            text += f", {count(event.divergences, 'kind')} of divergences"
        if turns and event.left:
            text += f"; about {duration(event.left)} more"
        self._screen.show(Text(text, style="dim"))

    def _takes_turns(self, suite: str) -> bool:
        return suite in self._summary.started and self._summary.started[suite].turns > 0

    def _begin_turns(self) -> None:
        """All suites that take turns have started."""
        cases, seconds = sum(one.cases for one in self._turns), sum(one.expected_seconds for one in self._turns)
        suites = count(len(self._turns), "suite")
        if LONG <= seconds < math.inf:
            self._screen.show(_price(f"{suites} take turns", cases, seconds, self._summary.header, turns=True))
        if self._screen.live:
            self._progress.begin(suites, cases)

    def _differ(self, event: CaseEnded) -> None:
        """The first case of a suite that differs in a rule, as soon as it is found."""
        if (event.suite, event.rule) not in self._differs and len(self._differs) < MOST:
            self._differs.add((event.suite, event.rule))
            case = f"{event.suite}, {self._summary.case_name(event.suite, event.case)}"
            in_rule = f" in {event.rule}" if event.rule else ""
            self._screen.show(Text(clean(f"{case} diverges{in_rule}"), style="dim"))

    def _shrinking(self, event: CaseEnded) -> Text:
        """What a suite that waits does in the minutes after its first divergence."""
        case = self._summary.case_name(event.suite, event.case)
        rule = f" in {clean(event.rule)}" if event.rule else ""
        return Text(f"{case} diverges{rule}: a shorter plan is looked for, Ctrl-C keeps what was found", style="dim")

    def _divergence(self, event: DivergenceFound) -> None:
        """The full block of a divergence, or a line when one of its kind was printed before."""
        where = f"{event.suite}, {self._summary.case_name(event.suite, event.case)}"
        if event.fingerprint in self._fingerprints:
            again = f"again: fingerprint {event.fingerprint}, {where}"
            self._screen.show(Text("  " + clean(again), style="dim"), wrap=False)
            return
        self._fingerprints.add(event.fingerprint)
        self._screen.gap()
        self._screen.show(block(event, f"{noun(event)} {len(self._fingerprints)}: {where}"))
        self._screen.show(replay_line(event), wrap=False)
        self._screen.gap()

    def _end(self) -> None:
        """What was found, numbers and verdict."""
        self._progress.end()
        summary, verbose = self._summary, self._verbose
        left_out = []
        if verbose:
            self._coverage()
        else:
            self._screen.show(*self._short.end(), *self._short.repeated())
            left_out = self._kinds()
        self._screen.gap()
        self._screen.show(Rule(Text("Verdicts", style="bold"), style="dim", align="left"))
        self._screen.show(verdict_numbers(summary), *([""] if verbose else []))
        self._screen.show(grid(numbers(summary, verbose=verbose)))
        files = (("events", jsonl.NAME), ("junit", junit.NAME)) if verbose else ()
        show_files(self._screen, summary, (*files, ("page", html.NAME)))
        if verbose:
            self._repeats()
        else:
            show_left_out(self._screen, summary, left_out)
        self._screen.show(*expected_lines(summary, verbose=verbose))
        self._screen.gap()
        self._screen.show(last_line(summary, summary.conclusion()), wrap=False)

    def _kinds(self) -> list[str]:
        """Print the divergences of a short report; returns what is left out of it, in words."""
        summary = self._summary
        kinds = kinds_of((*summary.divergences, *summary.doubtful, *summary.differences))
        shown = first_kinds(kinds)
        show_kinds(self._screen, self._summary, shown)
        left_out = []
        if len(kinds) > len(shown):
            left_out.append(kinds_left_out(kinds, shown))
        if any(kind.exemplar.parts for kind in shown):
            left_out.append("what agrees in these answers")
        if self._short.left_out:
            left_out.append(count(self._short.left_out, "reason"))
        return (
            [*left_out, "the result of each rule"]
            if any(part.coverage for part in self._summary.ended.values())
            else left_out
        )

    def _coverage(self) -> None:
        ended = list(self._summary.ended.values())
        if any(suite.coverage or suite.silent_rules for suite in ended):
            self._screen.gap()
            self._screen.show(Rule(Text("Rules", style="bold"), style="dim", align="left"))
            self._screen.show(*rule_lines(self._summary.rules))
            self._screen.gap()
            self._screen.show(Rule(Text("Coverage", style="bold"), style="dim", align="left"))
            self._screen.show(coverage.table(ended))

    def _repeats(self) -> None:
        """The replay lines of the different divergences again: their blocks may have scrolled away."""
        for kind in kinds_of((*self._summary.divergences, *self._summary.doubtful))[:REPEATED]:
            self._screen.show(replay_line(kind.divergences[0]), wrap=False)


def kinds_left_out(found: Sequence[Kind], shown: Sequence[Kind]) -> str:
    """How many kinds of divergences a short report leaves out, by rule."""
    rest = by_rule(kind for kind in found if kind not in shown)
    return f"{len(found) - len(shown):,} of {count(len(found), 'kind')} of divergences ({rest})"


def show_files(screen: Screen, summary: RunSummary, files: Iterable[tuple[str, str]]) -> None:
    """Print the paths of files that were written, one a line: label and name in the folder of the run."""
    out = summary.header.out if summary.header else ""
    for label, name in files if out else ():
        screen.show(Text.assemble((f"{label:<15}", "dim"), clean(str(PurePath(out, name)))), wrap=False)


def show_left_out(screen: Screen, summary: RunSummary, left_out: Sequence[str]) -> None:
    """Print what a short report leaves out, and the command that prints it, if there is something."""
    if left_out:
        out = summary.header.out if summary.header else ""
        command = f"rocketmq-conformance report {shlex.quote(out)} --verbose" if out else "the same with --verbose"
        screen.show(Cut(Text(", ".join(left_out)), 2, label="left out"))
        screen.show(Text.assemble((f"{'all of it':<15}", "dim"), clean(command)), wrap=False)


def header(event: RunStarted, *, verbose: bool = True) -> list[RenderableType]:
    """What is judged, by which releases, and what is off its default; a short one names a few suites and notes only."""
    notes = once(event.notes)
    title = Text.assemble(("rocketmq-conformance", "bold"), f" {clean(event.kit)}, rule book {clean(event.rulebook)}")
    rows: list[tuple[str, RenderableType]] = [
        ("implementation", Text(clean(f"{event.implementation} {event.version}".strip()))),
        ("address", Text(clean(event.address))),
        ("profile", Text(profile(event.profile))),
        ("seed", Text(str(event.seed))),
        ("suites", _names(event.suites, verbose)),
        ("out", Text(clean(event.out) or "nothing is kept")),
        *(("note", _note(note, verbose)) for note in (notes if verbose else notes[:_NOTES])),
    ]
    if len(notes) > _NOTES and not verbose:
        rows.append(("", Text(f"and {count(len(notes) - _NOTES, 'more note')}", style="yellow")))
    choice = [Text(clean(event.release_choice[:1].upper() + event.release_choice[1:] + "."))]
    return [*(choice if event.release_choice else []), *_properties(event, verbose), title, "", grid(rows)]


def _properties(event: RunStarted, verbose: bool) -> list[RenderableType]:
    """What the properties of a broker that are off their default mean for the run."""
    shown = event.properties if verbose else event.properties[:_PROPERTIES]
    lines = [_note(f"{one.get('sentence', '')}.", verbose) for one in shown]
    rest = [f"{one.get('name')}={one.get('value')}" for one in event.properties[len(shown) :]]
    return [*lines, *([_note(f"Off their default, too: {', '.join(rest)}.", verbose)] if rest else [])]


def _names(suites: Sequence[str], verbose: bool) -> RenderableType:
    """The names of the suites that will run."""
    if verbose:
        return Text(clean(", ".join(suites)) or "none")
    return Cut(Text(first_names(suites, _NAMES) or "none"), _NAME_LINES, indent=0)


def _note(note: str, verbose: bool) -> RenderableType:
    text = Text(clean(note), style="yellow")
    return text if verbose else Cut(text, _NOTE_LINES, indent=0)


def _totals(summary: RunSummary) -> dict[str, int]:
    """Cases by verdict: the footer's, or without one the sum over the suites that ended."""
    if summary.footer:
        return summary.footer.cases
    return {verdict: sum(suite.cases.get(verdict, 0) for suite in summary.ended.values()) for verdict in VERDICTS}


def verdict_numbers(summary: RunSummary) -> Table:
    """The five numbers, side by side: they are never folded into one another."""
    totals = _totals(summary)
    cells = [
        Text(f"{totals.get(verdict, 0):,}", style=f"bold {STYLES[verdict]}" if totals.get(verdict) else "dim")
        for verdict in VERDICTS
    ]
    return text_table(["", *VERDICTS], [[Text(f"{'cases':<13}", style="dim"), *cells]], numbers=VERDICTS)


def _price(waits: str, cases: int, seconds: float, header: RunStarted | None, *, turns: bool) -> Text:
    """How long suites will take that wait for restarts or timers, and how that is limited."""
    about = f"{seconds:.0f} s" if seconds < 60 else duration(seconds)
    price = f"{clean(waits)}: {count(cases, 'case')} {'takes' if cases == 1 else 'take'} about {about}"
    if turns:
        price += ", and each kind of divergences as long as ten more"
    if header and 0 < header.max_time < seconds:
        price += f"; none begins after {duration(header.max_time)} (--max-time)"
    return Text(price, style="dim")


def numbers(summary: RunSummary, *, verbose: bool = True) -> list[tuple[str, RenderableType]]:
    """The labelled numbers below the verdicts; a short report names the first few suites and rules only."""
    names = _all_names if verbose else first_names
    rows: list[tuple[str, RenderableType]] = []
    ended, footer = summary.ended.values(), summary.footer
    found = sum(divergence.cases for divergence in summary.divergences)
    if found:
        kinds = {divergence.fingerprint: divergence.found_after for divergence in summary.divergences}
        text = f"{found:,}, {len(kinds):,} different"
        first, last = min(kinds.values()), max(kinds.values())
        if last > 0:
            text += f", found after {duration(first)} to {duration(last)}"
        rows.append(("divergences", Text(text, style="red")))
    signed = [one for one in summary.expected if one.cases and not one.fault]
    if signed:
        times = count(sum(one.cases for one in signed), "case")
        rules = names(list(dict.fromkeys(one.rule for one in signed)))
        rows.append(("signed for", Text(f"{len(signed)} in {times}: {rules}")))
    if summary.differences:
        rows.append(("differences", Text(f"{count(len(summary.differences), 'kind')} between the implementations")))
    # Of the whole run, or of the suites that ended when it was cut off.
    controls = [suite.control for suite in ended if suite.control is not None]
    noticed, planted = (footer.controls_noticed, footer.controls) if footer else (sum(controls), len(controls))
    silent_controls = [suite.suite for suite in ended if suite.control is False]
    text = f"{noticed}/{planted}" + (f", silent in {names(silent_controls)}" if silent_controls else "")
    rows.append(("controls", Text(text, style="" if noticed == planted else "yellow")))
    rows += [
        (tier, _played(tier, verdicts, summary.kinds_alone(tier))) for tier, verdicts in summary.several_tiers.items()
    ]
    results = summary.rules
    if results:
        silent = footer.silent_rules if footer else sorted({rule for suite in ended for rule in suite.silent_rules})
        text = summed_up(results, silent, names)
        rows.append(("rules", Text(text, style="yellow" if silent else "")))
    steps = footer.steps if footer else sum(suite.steps for suite in ended)
    seconds = footer.seconds if footer else sum(suite.seconds for suite in ended)
    speed = f" ({rate(steps, seconds)}/s)" if steps else ""
    rows.append(("steps", Text(f"{steps:,} in {duration(seconds)}{speed}")))
    if footer and footer.peak_memory and not footer.workers:
        rows.append(("memory", Text(f"{footer.peak_memory / (1 << 20):,.0f} MiB at most")))
    if summary.unfinished:
        rows.append(("did not end", Text(names(summary.unfinished), style="yellow")))
    return rows


def expected_lines(summary: RunSummary, *, verbose: bool) -> list[RenderableType]:
    """Entries of a file of expected divergences: those that fail the run one by one, the others counted."""
    faults = summary.expected_faults
    lines: list[RenderableType] = [
        Text(clean(f"{one.file}, line {one.line}: {one.rule} in {one.suite}: {one.fault}"), style="red")
        for one in (faults if verbose else faults[:_NOTES])
    ]
    if len(lines) < len(faults):
        lines.append(Text(f"and {len(faults) - len(lines):,} more of {faults[0].file}", style="red"))
    aside = [one for one in summary.expected if one.aside]
    if aside:
        listed = [f"line {one.line}: {one.aside}" for one in (aside if verbose else aside[:_NOTES])]
        more = f"; and {len(aside) - len(listed):,} more" if len(listed) < len(aside) else ""
        lines.append(Cut(Text(clean("; ".join(listed)) + more), _NOTE_LINES, label="not asked"))
    return lines


def _all_names(names: Sequence[str]) -> str:
    return clean(", ".join(names))


def _played(tier: str, verdicts: dict[str, int], alone: int) -> Text:
    """How many cases of a tier were played, the verdicts of those that do not conform, and what these alone showed."""
    played = sum(verdicts.values()) - verdicts.get(UNSUPPORTED, 0)
    others = [f"{verdict} {verdicts[verdict]:,}" for verdict in VERDICTS if verdict != CONFORMS and verdict in verdicts]
    words = {HYPOTHESIS: f"{count(played, 'case')} drawn", SEEDED: f"{count(played, 'case')} from the seed"}
    what = words.get(tier) or f"{count(played, 'plan')} replayed"
    others += [f"{count(alone, 'kind')} shown by these alone"] if alone else []
    return Text(", ".join([what, *others]), style="yellow" if others else "")


def last_line(summary: RunSummary, conclusion: Conclusion) -> Text:
    """The verdict and the seed."""
    style = f"bold {STYLES.get(conclusion.verdict, 'yellow')}"
    parts = Text.assemble("Verdict: ", (clean(conclusion.verdict), style))
    if summary.footer:
        parts.append(f" (exit code {conclusion.exit_code})")
    if conclusion.passed and summary.footer and summary.footer.signed:
        parts.append(f", except {summary.footer.signed} signed for")
    if conclusion.reason:
        words = {TIME_LIMIT: "stopped by the time limit"}
        parts.append(f": {words.get(conclusion.reason, clean(conclusion.reason))}")
        kept = summary.header.out if summary.header else ""
        if kept and (summary.footer is None or conclusion.reason == INTERRUPTED):
            parts.append(f", what did run is kept in {clean(kept)}")
    seed = summary.header.seed if summary.header else 0
    parts.append(f". Seed {seed}.")
    return parts
