"""The difference of two campaigns, as data, on the console and as JSON Lines: the same plans, two implementations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TextIO

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports.cut import Cut
from rocketmq_conformance.reports.divergence_block import grid
from rocketmq_conformance.reports.event import Separator
from rocketmq_conformance.reports.kinds import Rank, chosen, level
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, count, duration, profile
from rocketmq_conformance.reports.text_table import text_table

#: Verdicts of a comparison, and the exit code of each.
SAME, DIFFERENT, UNDECIDED, NOTHING = "same", "different", "undecided", "nothing compared"
EXIT_CODES = {SAME: 0, DIFFERENT: 1, UNDECIDED: 3, NOTHING: 3}
_STYLES = {SAME: "green", DIFFERENT: "red", UNDECIDED: "yellow", NOTHING: "yellow"}

#: Earlier steps shown of an exemplar: the first ones and the last ones.
_FIRST, _LAST = 3, 6


@dataclass(frozen=True)
class ComparedCampaign:
    """One of the two campaigns."""

    folder: str
    address: str
    implementation: str
    version: str
    kit: str
    rulebook: str
    #: Releases that judge: {"client": "5.5.0", "broker": "5.5.0", "java": "17"}.
    profile: dict[str, str]


@dataclass(frozen=True)
class SideAnswer:
    """The answer of one side in a step, and the answer that its rules require."""

    did: str
    #: The answer that the rules of its release require.
    expected: str
    conforms: bool
    state_kind: str
    #: Each with "id", "sentence", "level" and "source".
    rules: list[dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Cases whose first difference is of the same kind, represented by the shortest of them."""

    suite: str
    #: Equal for differences that differ only in values.
    fingerprint: str
    cases: int
    #: The exemplar: its number, the first step that differs (1 is the first one played), and its operation.
    case: int
    step: int
    operation: str
    a: SideAnswer
    b: SideAnswer
    #: [operation, answer] of the steps before, which are the same on both sides.
    before: list[list[str]] = field(default_factory=list)
    #: Features that separate the steps that differ from those that do not, the sharpest first.
    separates: list[Separator] = field(default_factory=list)


@dataclass(frozen=True)
class SuiteDifference:
    """The cases of one suite, each counted once."""

    suite: str
    same: int = 0
    different: int = 0
    #: Digests differ, and the steps were not compared.
    not_looked_at: int = 0
    #: Same verdict, and nothing else to compare: results depend on the time of the run.
    verdict_only: int = 0
    #: Cases that one of the two decided, or both, but that cannot be compared; by reason.
    undecided: dict[str, int] = field(default_factory=dict)
    #: Cases that neither decided.
    neither: int = 0
    only_a: int = 0
    only_b: int = 0
    #: Why the suite, or some of its cases, were not compared.
    note: str = ""


@dataclass(frozen=True)
class CampaignDifference:
    """Two campaigns compared."""

    a: ComparedCampaign
    b: ComparedCampaign
    seed: int
    suites: list[SuiteDifference]
    #: By suite, then the most frequent first.
    differences: list[Difference]
    notes: list[str]
    seconds: float
    #: How the cases were compared: "in one process", or "by Spark on local[2]".
    engine: str

    @property
    def verdict(self) -> str:
        """SAME only if a case was compared, and every case that one side decided was the same on the other."""
        if any(suite.different for suite in self.suites):
            return DIFFERENT
        if any(suite.undecided or suite.not_looked_at for suite in self.suites):
            return UNDECIDED
        return SAME if any(suite.same for suite in self.suites) else NOTHING

    @property
    def exit_code(self) -> int:
        """0 same, 1 different, 3 undecided or nothing compared."""
        return EXIT_CODES[self.verdict]

    def lines(self) -> Iterator[str]:
        """The comparison as JSON Lines: one header, a line per suite and difference, one footer."""
        yield _line("diff", {"a": asdict(self.a), "b": asdict(self.b), "seed": self.seed, "notes": self.notes})
        for suite in self.suites:
            yield _line("suite", asdict(suite))
        for difference in self.differences:
            yield _line("difference", asdict(difference))
        yield _line(
            "end",
            {
                "verdict": self.verdict,
                "exit_code": self.exit_code,
                "seconds": self.seconds,
                "engine": self.engine,
            },
        )


def _line(kind: str, content: dict[str, object]) -> str:
    return json.dumps({"line": kind, **content})


def show(difference: CampaignDifference, stream: TextIO, *, width: int | None = None, verbose: bool = False) -> None:
    """Print the comparison on the console: every difference in full, or the most important ones in short."""
    screen = Screen(stream, width)
    screen.show(*_header(difference))
    screen.gap()
    found = difference.differences
    shown = found if verbose else chosen(found, [_rank(one) for one in found])
    for number, one in enumerate(shown, start=1):
        title = f"Difference {number}: {one.suite}, {count(one.cases, 'case')}"
        screen.show(Rule(Text(clean(title), style="bold red"), style="red", align="left"))
        screen.show(_block(one, difference) if verbose else Group(*_short_block(one, difference)))
        screen.gap()
    screen.show(Rule(Text("Cases", style="bold"), style="dim", align="left"))
    screen.show(_table(difference.suites))
    reasons = [row for suite in difference.suites for row in _reasons(suite)]
    if len(found) > len(shown):
        left_out = f"{len(found) - len(shown):,} of {count(len(found), 'difference')}: --verbose prints them"
        reasons.append(("left out", Text(left_out)))
    if reasons:
        screen.show("", grid(reasons))
    screen.gap()
    screen.show(_last_line(difference), wrap=False)


def _rank(one: Difference) -> Rank:
    rules = (*one.a.rules, *one.b.rules)
    return Rank(one.suite, rules[0].get("id") if rules else id(one), level(rules), (one.cases,))


def _header(difference: CampaignDifference) -> list[RenderableType]:
    title = Text.assemble(("rocketmq-conformance", "bold"), " campaign diff")
    rows: list[tuple[str, RenderableType]] = []
    for letter, side in (("A", difference.a), ("B", difference.b)):
        rows += [
            (letter, Text(clean(f"{side.implementation} {side.version}".strip()), style="bold")),
            ("", Text(clean(f"{side.address} in {side.folder}"))),
            ("", Text(f"judged by {profile(side.profile)}")),
        ]
    rows.append(("seed", Text(str(difference.seed))))
    rows += [("note", Text(clean(note), style="yellow")) for note in difference.notes]
    return [title, "", grid(rows)]


def _short_block(one: Difference, difference: CampaignDifference) -> Iterator[Cut]:
    """What differs, in ten lines."""
    operation = Text.assemble((clean(one.operation), "bold"), clean(f"  in case {one.case}"))
    yield Cut(operation, 2, label=f"step {one.step}")
    for letter, answer, side in (("A", one.a, difference.a), ("B", one.b, difference.b)):
        yield Cut(Text(clean(answer.did), style=_style(answer)), 1, label=letter)
        yield Cut(Text(_why(answer, side)), 1)
    for rule in [*one.a.rules, *one.b.rules][:1]:
        name = (clean(rule.get("id", "?")), "bold")
        level_and_sentence = f" ({clean(rule.get('level', '?'))}): {clean(rule.get('sentence', ''))}"
        yield Cut(Text.assemble(name, level_and_sentence), 2, label="rule")
    for separator in one.separates[:1]:
        yield Cut(_separator(separator), 1, label="separates")
    if one.before:
        yield Cut(Text(f"{count(len(one.before), 'step')}, at last {clean(one.before[-1][0])}"), 1, label="before")


def _block(one: Difference, difference: CampaignDifference) -> RenderableType:
    rows: list[tuple[str, RenderableType]] = [
        (f"step {one.step}", Text.assemble((clean(one.operation), "bold"), clean(f"  in case {one.case}"))),
        *_side_answer("A", one.a, difference.a),
        *_side_answer("B", one.b, difference.b),
        *_rules(one),
    ]
    parts: list[RenderableType] = [grid(rows)]
    if one.separates:
        parts += ["", grid(_separators(one.separates))]
    if one.before:
        parts += ["", grid([("steps before", _before(one.before))])]
    return Group(*parts, "", grid([("fingerprint", Text(clean(one.fingerprint)))]))


def _style(answer: SideAnswer) -> str:
    return "bold green" if answer.conforms else "bold red"


def _why(answer: SideAnswer, side: ComparedCampaign) -> str:
    """Which rules of which release require the answer, or another one."""
    rules = ", ".join(rule.get("id", "?") for rule in answer.rules)
    releases = profile({key: value for key, value in side.profile.items() if key != "java"})
    if answer.conforms:
        return f"required by {clean(rules)} in {releases}" if rules else f"as required in {releases}"
    return f"expected {clean(answer.expected)}, by {clean(rules) or 'the rules'} in {releases}"


def _side_answer(letter: str, answer: SideAnswer, side: ComparedCampaign) -> list[tuple[str, RenderableType]]:
    rows: list[tuple[str, RenderableType]] = [
        (letter, Text(clean(answer.did), style=_style(answer))),
        ("", Text(_why(answer, side))),
    ]
    if answer.state_kind:
        rows.append(("", Text(f"kind of state: {clean(answer.state_kind)}", style="dim")))
    return rows


def _rules(one: Difference) -> list[tuple[str, RenderableType]]:
    counted: dict[str, dict[str, str]] = {}
    for rule in (*one.a.rules, *one.b.rules):
        counted.setdefault(rule.get("id", "?"), rule)
    rows: list[tuple[str, RenderableType]] = []
    for name, rule in counted.items():
        rows.append(("rule", Text.assemble((clean(name), "bold"), f" ({clean(rule.get('level', '?'))})")))
        rows.append(("", Text(clean(rule.get("sentence", "")))))
        rows.append(("Java source", Text(clean(rule.get("source", "")))))
    return rows


def _separators(separates: Sequence[Separator]) -> list[tuple[str, RenderableType]]:
    return [("" if at else "separates", _separator(one)) for at, one in enumerate(separates)]


def _separator(one: Separator) -> Text:
    shares = f"  {one.diverging:.0%} of the steps that differ, {one.others:.0%} of the others"
    return Text.assemble(clean(one.feature), (shares, "dim"))


def _before(steps: Sequence[Sequence[str]]) -> Table:
    rows = [
        (str(number), Text(clean(operation)), Text(clean(answer)))
        for number, (operation, answer) in enumerate(steps, start=1)
    ]
    left_out = len(rows) - _FIRST - _LAST
    if left_out > 1:
        rows[_FIRST:-_LAST] = [("", Text(f"… {count(left_out, 'step')} …", style="dim"), Text())]
    columns = ("step", "operation", "answer")
    return text_table(columns, rows, numbers=columns[:1], folded=columns[1:])


def _table(suites: Sequence[SuiteDifference]) -> Table:
    """Cases by suite. Columns of which every number is 0 are left out, except for the first two."""
    numbers = {
        "same": ([suite.same for suite in suites], "green"),
        "different": ([suite.different for suite in suites], "bold red"),
        "not looked at": ([suite.not_looked_at for suite in suites], "yellow"),
        "verdict only": ([suite.verdict_only for suite in suites], "yellow"),
        "undecided": ([sum(suite.undecided.values()) + suite.neither for suite in suites], "yellow"),
        "only in A": ([suite.only_a for suite in suites], ""),
        "only in B": ([suite.only_b for suite in suites], ""),
    }
    shown = [(name, *column) for name, column in numbers.items() if any(column[0]) or name in ("same", "different")]
    table = text_table(["suite", *(name for name, _, _ in shown)], numbers=numbers)
    for at, suite in enumerate(suites):
        cells = [Text(f"{counts[at]:,}", style=style if counts[at] else "dim") for _, counts, style in shown]
        table.add_row(Text(clean(suite.suite), style="bold"), *cells)
    return table


def _reasons(suite: SuiteDifference) -> list[tuple[str, RenderableType]]:
    counted = [f"{count(number, 'case')}: {reason}" for reason, number in suite.undecided.items()]
    if suite.neither:
        counted.append(f"{count(suite.neither, 'case')}: decided by neither")
    if suite.note:
        counted.append(suite.note)
    return [("" if at else clean(suite.suite), Text(clean(text))) for at, text in enumerate(counted)]


def _last_line(difference: CampaignDifference) -> Text:
    total = sum(suite.different for suite in difference.suites)
    same = sum(suite.same for suite in difference.suites)
    verdict = difference.verdict
    parts = Text.assemble("Campaigns: ", (verdict, f"bold {_STYLES[verdict]}"), f" (exit code {difference.exit_code})")
    if total:
        parts.append(f": {count(total, 'case')} in {count(len(difference.differences), 'way')}, {same:,} the same")
    elif same:
        parts.append(f": {count(same, 'case')} the same")
    parts.append(f". {duration(difference.seconds)}, {clean(difference.engine)}.")
    return parts
