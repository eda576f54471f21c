"""The report of a mutation score: which mutants were killed, by which suite and rule, after how many cases."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TextIO

from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports.divergence_block import grid
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.measurement_event import (
    EQUIVALENT,
    KILLED,
    SURVIVED,
    MutantJudged,
    PowerEnded,
    PowerStarted,
)
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, count, duration, profile
from rocketmq_conformance.reports.text_table import text_table

#: Mutants that are listed one by one without being asked for; of more, so many that survived.
EACH, SURVIVORS = 20, 10
#: Lines of progress of many mutants.
_PROGRESS = 10
_STYLES = {KILLED: "green", SURVIVED: "bold red", EQUIVALENT: "cyan"}


class PowerReport:
    """Prints a measurement of power on the console: a line per mutant as it is judged, then the matrix.

    Of many mutants it prints a few lines of progress, then those that survived, unless it is verbose. Beside it a
    ``JsonlReport`` keeps the same events.
    """

    def __init__(self, stream: TextIO, *, width: int | None = None, verbose: bool = False) -> None:
        self._screen = Screen(stream, width)
        self._verbose = verbose
        self._header: PowerStarted | None = None
        self._judged: list[MutantJudged] = []
        self._footer: PowerEnded | None = None

    def __call__(self, event: Event) -> None:
        """Print what the event adds."""
        match event:
            case PowerStarted():
                self._header = event
                self._screen.show(*_header(event))
                self._screen.gap()
            case MutantJudged():
                self._judged.append(event)
                self._progress(event)
            case PowerEnded():
                self._footer = event
                self._end()

    def close(self) -> None:
        """Finish; a measurement that was cut off says so."""
        if self._header and self._footer is None:
            self._end()

    @property
    def _each(self) -> bool:
        """Is every mutant listed?"""
        return self._verbose or self._of <= EACH

    @property
    def _of(self) -> int:
        return self._header.mutants if self._header else len(self._judged)

    def _progress(self, event: MutantJudged) -> None:
        number = f"{len(self._judged):>{len(str(self._of))}}/{self._of}"
        if self._each:
            line = Text.assemble(
                (f"{number}  ", "dim"),
                (f"{clean(event.status):<10}", _STYLES.get(event.status, "yellow")),
                f"  {clean(event.name)}",
            )
            self._screen.show(line, wrap=False)
        elif len(self._judged) * _PROGRESS // self._of > (len(self._judged) - 1) * _PROGRESS // self._of:
            statuses = Counter(clean(mutant.status) for mutant in self._judged)
            known = ", ".join(f"{status} {times:,}" for status, times in statuses.items())
            self._screen.show(Text.assemble((f"{number}  ", "dim"), known), wrap=False)

    def _end(self) -> None:
        not_killed = [mutant for mutant in self._judged if mutant.status != KILLED]
        left_out: list[tuple[str, RenderableType]] = []
        self._screen.gap()
        if self._each:
            self._screen.show(Rule(Text("Kill matrix", style="bold"), style="dim", align="left"))
            self._screen.show(_matrix(self._judged), "")
        else:
            survived = [mutant for mutant in not_killed if mutant.status != EQUIVALENT]
            not_killed = survived[:SURVIVORS]
            more = f"{count(len(survived) - SURVIVORS, 'survivor')}, " if len(survived) > SURVIVORS else ""
            left_out.append(("left out", Text(f"{more}the matrix of all mutants: --verbose prints them")))
        if not_killed:
            self._screen.show(grid([row for mutant in not_killed for row in _not_killed(mutant)]), "")
        self._screen.show(grid([*_numbers(self._judged), *left_out]), "")
        self._screen.show(_last_line(self._header, self._judged, self._footer))


def _header(event: PowerStarted) -> list[RenderableType]:
    title = Text.assemble(("rocketmq-conformance", "bold"), f" {clean(event.kit)}, rule book {clean(event.rulebook)}")
    rows: list[tuple[str, RenderableType]] = [
        ("mutants", Text(f"{event.mutants}, each given {count(event.limit, 'case')} per suite")),
        ("profile", Text(profile(event.profile))),
        ("seed", Text(str(event.seed))),
        *(("note", Text(clean(note), style="yellow")) for note in event.notes),
    ]
    return [title, "", grid(rows)]


def _matrix(judged: list[MutantJudged]) -> Table:
    columns = ("mutant", "defect", "status", "noticed by", "cases", "steps")
    table = text_table(columns, numbers=columns[4:], folded=columns[3:4])
    for mutant in judged:
        table.add_row(
            Text(clean(mutant.name)),
            Text(clean(mutant.defect)),
            Text(clean(mutant.status), style=_STYLES.get(mutant.status, "yellow")),
            Text(clean(f"{mutant.suite} {mutant.rule}".strip()) or "-"),
            f"{mutant.cases:,}",
            f"{mutant.steps:,}",
        )
    return table


def _not_killed(mutant: MutantJudged) -> list[tuple[str, RenderableType]]:
    """A mutant that was not killed: its fault, and why an equivalent one cannot be killed."""
    text = f"{mutant.name} ({mutant.defect}): {mutant.sentence}"
    rows: list[tuple[str, RenderableType]] = [(clean(mutant.status), Text(clean(text)))]
    if mutant.reason:
        rows.append(("", Text(clean(f"No test can distinguish it: {mutant.reason}"))))
    return rows


def _numbers(judged: list[MutantJudged]) -> list[tuple[str, RenderableType]]:
    killed = [mutant for mutant in judged if mutant.status == KILLED]
    rows: list[tuple[str, RenderableType]] = [
        (status, Text(str(sum(mutant.status == status for mutant in judged))))
        for status in (KILLED, SURVIVED, EQUIVALENT)
    ]
    if killed:
        cases = sorted(mutant.cases for mutant in killed)
        rows.append(("to a kill", Text(f"median {median(cases):g} cases, most {cases[-1]:,}")))
    return rows


def _last_line(header: PowerStarted | None, judged: list[MutantJudged], footer: PowerEnded | None) -> Text:
    """The result and the seed. An incomplete matrix never claims that every mutant is killed."""
    seed = f" Seed {header.seed}." if header else ""
    expected = header.mutants if header else 0
    if footer is None or footer.stopped or len(judged) < expected:
        why = footer.stopped if footer and footer.stopped else "cut off"
        return Text(f"Power: unknown, {clean(why)} after {count(len(judged), 'mutant')} of {expected}.{seed}")
    took = f"in {duration(footer.seconds)}"
    unkilled = [mutant for mutant in judged if mutant.status not in (KILLED, EQUIVALENT)]
    if not judged:
        return Text(f"Power: unknown, there were no mutants.{seed}")
    if unkilled:
        number = count(len(unkilled), "mutant")
        return Text.assemble("Power: ", (f"{number} not killed", "bold red"), f" {took}.{seed}")
    return Text.assemble("Power: ", ("every mutant that is not equivalent is killed", "bold green"), f" {took}.{seed}")
