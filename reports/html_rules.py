"""The rules section of the page: the result of each rule, and how often each class of outcomes was observed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rocketmq_conformance.reports.event import DIFFERS, HOLDS, NOT_REACHED, RuleResult, SuiteEnded
from rocketmq_conformance.reports.html_text import clipped, figure, first_items
from rocketmq_conformance.reports.rule_results import clauses_of, counted, is_row, result_counts
from rocketmq_conformance.reports.run_summary import RunSummary

#: Rules, classes of outcomes of a rule, and rows of kinds of state that are shown.
RULES, CLASSES, KINDS = 600, 24, 3000
#: The order of results, and the tone of each.
_ORDER = {DIFFERS: 0, HOLDS: 1, NOT_REACHED: 2}
_TONES = {DIFFERS: "bad", HOLDS: "ok", NOT_REACHED: "open"}
#: Classes in the order in which they stand; others, which are names of errors, follow.
_CLASSES = ("done", "true", "false", "empty", "items", "negative", "zero", "positive", "text", "undefined")


@dataclass(frozen=True)
class Cell:
    """How often a rule answered in a class; ``heat`` is 1 for less than ten times, 2 for tens and so on up to 5."""

    times: str
    heat: int
    outcome: str


@dataclass(frozen=True)
class RuleRow:
    """A rule, its result and its cells."""

    rule: str
    sentence: str
    level: str
    result: str
    tone: str
    times: str
    #: Reached clauses of all, and the words of the others.
    clauses: str
    missing: list[str]
    kinds: str
    #: Why it was not reached, or by whom its divergence is signed for.
    reason: str
    suites: str
    #: The classes that were observed, in the order of all rules.
    cells: list[Cell]
    more_cells: int


@dataclass(frozen=True)
class KindRow:
    """The answers of a rule in one kind of state."""

    rule: str
    kind: str
    outcomes: str


@dataclass
class Rules:
    """The section."""

    rows: list[RuleRow] = field(default_factory=list)
    kinds: list[KindRow] = field(default_factory=list)
    #: "88 hold, 1 differs, 20 not reached".
    counted: str = ""
    more_rows: int = 0
    more_kinds: int = 0
    #: Rows of coverage that are malformed.
    malformed: int = 0


@dataclass
class _Observed:
    """The answers of one rule."""

    outcomes: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, dict[str, int]] = field(default_factory=dict)


def rules(summary: RunSummary) -> Rules:
    """Every rule with its result: those that differ, those that hold, and those that were not reached."""
    made, seen = Rules(), dict[str, _Observed]()
    for ended in summary.ended.values():
        for rule, kind, outcome, times in _rows(ended, made):
            one = seen.setdefault(rule, _Observed())
            one.outcomes[outcome] = one.outcomes.get(outcome, 0) + times
            of_kind = one.kinds.setdefault(kind, {})
            of_kind[outcome] = of_kind.get(outcome, 0) + times
    classes = _ordered({outcome for one in seen.values() for outcome in one.outcomes})
    # Those that differ are never among those left out.
    results = sorted(summary.rules, key=lambda one: _ORDER.get(one.result, len(_ORDER)))
    shown, made.more_rows = first_items(results, RULES)
    made.rows = [_row(one, seen.get(one.rule, _Observed()), classes) for one in shown]
    made.counted = counted(result_counts(results))
    kinds = [
        KindRow(clipped(rule, 80), clipped(kind, 200), _outcome_counts(outcomes))
        for rule, kind, outcomes in _kinds(seen)
    ]
    made.kinds, made.more_kinds = kinds[:KINDS], max(0, len(kinds) - KINDS)
    return made


def _rows(ended: SuiteEnded, made: Rules) -> Iterable[tuple[str, str, str, int]]:
    """The well-formed rows of coverage; the others are counted."""
    for row in ended.coverage:
        if is_row(row):
            yield row[0], row[1], row[2], row[3]
        else:
            made.malformed += 1


def _ordered(classes: set[str]) -> list[str]:
    known = [name for name in _CLASSES if name in classes]
    return [*known, *sorted(classes - set(known))]


def _row(one: RuleResult, seen: _Observed, classes: list[str]) -> RuleRow:
    cells, more = first_items([name for name in classes if seen.outcomes.get(name, 0) > 0], CLASSES)
    return RuleRow(
        rule=clipped(one.rule, 80) or "nameless",
        sentence=clipped(one.sentence, 600),
        level=clipped(one.level, 20),
        result=clipped(one.result, 40),
        tone=_TONES.get(one.result, "open"),
        times=figure(one.times),
        clauses=clauses_of(one),
        missing=[clipped(words, 200) for words in one.clauses_missing[:CLASSES]],
        kinds=figure(len(seen.kinds)),
        reason=clipped(one.reason, 600),
        suites=", ".join(clipped(suite, 60) for suite in one.suites[:12]),
        cells=[_cell(seen.outcomes[name], clipped(name, 40)) for name in cells],
        more_cells=more,
    )


def _cell(times: int, outcome: str) -> Cell:
    return Cell(figure(times), min(5, len(str(times))), outcome)


def _kinds(seen: dict[str, _Observed]) -> Iterable[tuple[str, str, dict[str, int]]]:
    for rule, one in seen.items():
        for kind, outcomes in one.kinds.items():
            yield rule, kind, outcomes


def _outcome_counts(outcomes: dict[str, int]) -> str:
    """``negative 3, zero 12``, the most frequent first."""
    ordered = sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))
    text = ", ".join(f"{clipped(outcome, 40)} {figure(times)}" for outcome, times in ordered[:CLASSES])
    return text + (f" and {figure(len(ordered) - CLASSES)} more" if len(ordered) > CLASSES else "")
