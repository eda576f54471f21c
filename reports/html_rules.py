"""The rules section of the page: the verdict on each rule, and how often each class of outcomes was observed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rocketmq_conformance.reports.event import DIVERGES, SuiteEnded
from rocketmq_conformance.reports.html_text import clipped, figure, first_items
from rocketmq_conformance.reports.html_verdict import verdict_and_tone
from rocketmq_conformance.reports.run_summary import RunSummary

#: Rules, classes of outcomes of a rule, and rows of kinds of state that are shown.
RULES, CLASSES, KINDS = 600, 24, 3000
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
    """A rule, the verdict on it and its cells."""

    rule: str
    verdict: str
    tone: str
    times: str
    kinds: str
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
    silent: int = 0
    more_rows: int = 0
    more_kinds: int = 0
    #: Rows of coverage that are malformed.
    malformed: int = 0


@dataclass
class _Observed:
    """The observations of one rule."""

    outcomes: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, dict[str, int]] = field(default_factory=dict)
    suites: dict[str, None] = field(default_factory=dict)
    #: Did a suite whose control was noticed agree?
    agreed: bool = False


def rules(summary: RunSummary) -> Rules:
    """The rules that fired, diverged or stayed silent, in the order of the suites."""
    made, seen = Rules(), dict[str, _Observed]()
    for ended in summary.ended.values():
        agreed = verdict_and_tone(summary, ended)[1] == "ok" or (
            ended.verdict == DIVERGES and ended.control is not False
        )
        for rule, kind, outcome, times in _rows(ended, made):
            one = seen.setdefault(rule, _Observed())
            one.outcomes[outcome] = one.outcomes.get(outcome, 0) + times
            of_kind = one.kinds.setdefault(kind, {})
            of_kind[outcome] = of_kind.get(outcome, 0) + times
            one.suites[ended.suite] = None
            one.agreed |= agreed
        for rule in ended.silent_rules:
            seen.setdefault(rule, _Observed()).suites[ended.suite] = None
    wrong = dict.fromkeys(rule.get("id", "?") for one in summary.divergences for rule in one.rules)
    for rule in wrong:
        seen.setdefault(rule, _Observed())
    classes = _ordered({outcome for one in seen.values() for outcome in one.outcomes})
    made.more_rows = max(0, len(seen) - RULES)
    # Those that diverge are never among those left out.
    order = sorted(seen, key=lambda rule: rule not in wrong)[:RULES] if made.more_rows else list(seen)
    made.rows = [_row(rule, seen[rule], classes, rule in wrong) for rule in order]
    made.silent = sum(not one.outcomes for rule, one in seen.items() if rule not in wrong)
    kinds = [
        KindRow(clipped(rule, 80), clipped(kind, 200), _outcome_counts(outcomes))
        for rule, kind, outcomes in _kinds(seen)
    ]
    made.kinds, made.more_kinds = kinds[:KINDS], max(0, len(kinds) - KINDS)
    return made


def _rows(ended: SuiteEnded, made: Rules) -> Iterable[tuple[str, str, str, int]]:
    """The well-formed rows of coverage; the others are counted."""
    for row in ended.coverage:
        if _is_row(row):
            yield row[0], row[1], row[2], row[3]
        else:
            made.malformed += 1


def _is_row(row: list[Any]) -> bool:
    return len(row) == 4 and all(isinstance(text, str) for text in row[:3]) and type(row[3]) is int


def _ordered(classes: set[str]) -> list[str]:
    known = [name for name in _CLASSES if name in classes]
    return [*known, *sorted(classes - set(known))]


def _row(rule: str, seen: _Observed, classes: list[str], diverges: bool) -> RuleRow:
    total = sum(seen.outcomes.values())
    verdict, tone = _verdict(seen, diverges)
    cells, more = first_items([name for name in classes if seen.outcomes.get(name, 0) > 0], CLASSES)
    return RuleRow(
        clipped(rule, 80) or "nameless",
        verdict,
        tone,
        figure(total),
        figure(len(seen.kinds)),
        ", ".join(clipped(suite, 60) for suite in list(seen.suites)[:12]),
        [_cell(seen.outcomes[name], clipped(name, 40)) for name in cells],
        more,
    )


def _verdict(seen: _Observed, diverges: bool) -> tuple[str, str]:
    """The verdict on a rule and its tone."""
    if diverges:
        return "diverges", "bad"
    if not seen.outcomes:
        return "never fired", "open"
    if set(seen.outcomes) == {"undefined"}:
        return "nothing promised", "none"
    return ("conforms", "ok") if seen.agreed else ("undecided", "open")


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
