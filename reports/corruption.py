"""The report of a measurement in which answers were corrupted: rule by way, what was noticed."""

from __future__ import annotations

from collections import Counter
from typing import TextIO

from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports.cut import Cut
from rocketmq_conformance.reports.divergence_block import grid
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.measurement_event import CorruptionEnded, CorruptionJudged, CorruptionStarted
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, count, duration, profile
from rocketmq_conformance.reports.text_table import text_table

#: Cells that are listed, of those in which something was not noticed, without being asked for.
LISTED = 10
#: Lines of an example.
EXAMPLE_LINES = 2


class CorruptionReport:
    """Prints such a measurement on the console: a line per suite, then the ways, and what was not noticed.

    With ``verbose`` it prints the matrix of all rules, and every cell in which something was not noticed.
    """

    def __init__(self, stream: TextIO, *, width: int | None = None, verbose: bool = False) -> None:
        self._screen = Screen(stream, width)
        self._verbose = verbose
        self._header: CorruptionStarted | None = None
        self._judged: list[CorruptionJudged] = []
        self._footer: CorruptionEnded | None = None

    def __call__(self, event: Event) -> None:
        """Print what the event adds."""
        match event:
            case CorruptionStarted():
                self._header = event
                self._screen.show(*_header(event))
                self._screen.gap()
            case CorruptionJudged():
                if self._judged and self._judged[-1].suite != event.suite:
                    self._show_suite()
                self._judged.append(event)
            case CorruptionEnded():
                self._footer = event
                self._end()

    def close(self) -> None:
        """Finish; a measurement that was cut off says so."""
        if self._header and self._footer is None:
            self._end()

    def _show_suite(self) -> None:
        name = self._judged[-1].suite
        tried, noticed = _sums([one for one in self._judged if one.suite == name])
        self._screen.show(Text(clean(f"{name:<24} {noticed:>6,} of {tried:,} noticed")), wrap=False)

    def _end(self) -> None:
        if self._judged:
            self._show_suite()
        self._screen.gap()
        ways = self._header.ways if self._header else []
        if self._verbose:
            self._screen.show(Rule(Text("Rules", style="bold"), style="dim", align="left"), _matrix(self._judged, ways))
            self._screen.gap()
        self._screen.show(_ways(self._judged, ways))
        self._screen.gap()
        missed = [one for one in self._judged if one.noticed < one.tried]
        listed = missed if self._verbose else missed[:LISTED]
        if listed:
            self._screen.show(grid([row for one in listed for row in _missed(one)]), "")
        if len(listed) < len(missed):
            self._screen.show(Text(f"{count(len(missed) - len(listed), 'more cell')}: --verbose prints them"), "")
        self._screen.show(_last_line(self._header, self._footer))


def _header(event: CorruptionStarted) -> list[RenderableType]:
    title = Text.assemble(("rocketmq-conformance", "bold"), f" {clean(event.kit)}, rule book {clean(event.rulebook)}")
    rows: list[tuple[str, RenderableType]] = [
        ("implementation", Text(clean(f"{event.implementation} {event.version}".strip()))),
        ("address", Text(clean(event.address))),
        ("profile", Text(profile(event.profile))),
        ("seed", Text(str(event.seed))),
        *(("note", Text(clean(note), style="yellow")) for note in event.notes),
    ]
    return [title, "", grid(rows)]


def _sums(cells: list[CorruptionJudged]) -> tuple[int, int]:
    """How many answers were corrupted, and how many of these were noticed."""
    return sum(one.tried for one in cells), sum(one.noticed for one in cells)


def _ways(judged: list[CorruptionJudged], ways: list[str]) -> Table:
    columns = ("way", "corrupted", "noticed", "rules")
    table = text_table(columns, numbers=columns[1:])
    for way in ways:
        cells = [one for one in judged if one.way == way]
        tried, noticed = _sums(cells)
        table.add_row(clean(way), f"{tried:,}", f"{noticed:,}", f"{len({one.rule for one in cells}):,}")
    return table


def _matrix(judged: list[CorruptionJudged], ways: list[str]) -> Table:
    """Rule by way: noticed and corrupted answers of all suites, or a dot where no answer fits."""
    tried, noticed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for one in judged:
        tried[one.rule, one.way] += one.tried
        noticed[one.rule, one.way] += one.noticed
    table = text_table(["rule", *ways], numbers=ways)
    for rule in sorted({one.rule for one in judged}):
        cells = [
            Text("·", style="dim")
            if not tried[rule, way]
            else Text(
                f"{noticed[rule, way]}/{tried[rule, way]}",
                style="" if noticed[rule, way] == tried[rule, way] else "yellow",
            )
            for way in ways
        ]
        table.add_row(clean(rule), *cells)
    return table


def _missed(one: CorruptionJudged) -> list[tuple[str, RenderableType]]:
    """A cell in which something was not noticed: how much, why, and an example."""
    text = f"{one.way}, {one.suite}: {one.tried - one.noticed} of {one.tried} not noticed"
    rows: list[tuple[str, RenderableType]] = [(clean(one.rule), Text(clean(text)))]
    why = Text(clean(one.reason)) if one.reason else Text("nothing explains it", style="bold red")
    rows.append(("", why))
    rows.append(("", Cut(Text(clean(one.example), style="dim"), EXAMPLE_LINES, indent=0)))
    return rows


def _last_line(header: CorruptionStarted | None, footer: CorruptionEnded | None) -> Text:
    """The share that was noticed. What was cut off claims nothing."""
    seed = f" Seed {header.seed}." if header else ""
    if footer is None or footer.stopped:
        return Text(f"Power: unknown, {clean(footer.stopped) if footer and footer.stopped else 'cut off'}.{seed}")
    if not footer.tried:
        return Text(f"Power: unknown, no answer could be corrupted.{seed}")
    left = footer.tried - footer.noticed - footer.explained
    share = f"{footer.noticed:,} of {footer.tried:,} corrupted answers noticed ({footer.noticed / footer.tried:.1%})"
    rest = f", {footer.explained:,} of the others explained" if footer.explained else ""
    style = "bold red" if left else "bold green"
    return Text.assemble("Power: ", (share, style), f"{rest} in {duration(footer.seconds)}.{seed}")
