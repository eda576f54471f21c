"""The proof table: which real things confirmed which rules, as Markdown.

A proof row says how often a rule was checked against one release of one real thing, and how often the two differed.
Rows are kept as JSON Lines; a rule without a row that agrees is "unproven".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketmq_conformance.reports.text import clean, count

#: Up to so many releases are listed in the first table; more are counted there, and listed in the second one.
FEW_RELEASES = 4


@dataclass(frozen=True, slots=True)
class ProvenRule:
    """A rule of the rule book, as the table needs it."""

    id: str
    level: str
    origin: str


@dataclass(frozen=True, slots=True)
class ProofRow:
    """``cases`` checks of ``rule`` against the real thing of ``side`` ("java-client", "broker") at ``release``."""

    rule: str
    side: str
    release: str
    cases: int
    differences: int = 0


def read_rows(path: Path) -> list[ProofRow]:
    """Rows of a JSON Lines file; ValueError with one sentence when a line is none."""
    rows = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append(_row(json.loads(line)))
        except (ValueError, TypeError, KeyError):
            raise ValueError(
                f'Line {number} of {path} is no proof row: it needs "rule", "side", "release", "cases", "differences".'
            ) from None
    return rows


def _row(found: object) -> ProofRow:
    if not isinstance(found, dict):
        raise TypeError
    names = [found[name] for name in ("rule", "side", "release")]
    numbers = [found[name] for name in ("cases", "differences")]
    if not all(isinstance(name, str) for name in names) or not all(type(number) is int for number in numbers):
        raise TypeError
    return ProofRow(*names, *numbers)


def write_rows(path: Path, rows: Iterable[ProofRow]) -> None:
    """Write rows so that ``read_rows`` reads them, in a stable order."""
    lines = [
        json.dumps(
            {
                "rule": row.rule,
                "side": row.side,
                "release": row.release,
                "cases": row.cases,
                "differences": row.differences,
            }
        )
        for row in merge(rows)
    ]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")


def merge(rows: Iterable[ProofRow]) -> list[ProofRow]:
    """One row per rule, side and release, in that order: cases and differences add up."""
    sums: dict[tuple[str, str, str], tuple[int, int]] = {}
    for row in rows:
        key = (row.rule, row.side, row.release)
        cases, differences = sums.get(key, (0, 0))
        sums[key] = (cases + row.cases, differences + row.differences)
    return [
        ProofRow(*key, *numbers)
        for key, numbers in sorted(sums.items(), key=lambda item: (*item[0][:2], _release_key(item[0][2])))
    ]


def render(rules: Sequence[ProvenRule], rows: Iterable[ProofRow]) -> str:
    """Markdown: a table of every rule, then a table of every release. Rows of unknown rules raise ValueError."""
    merged = merge(rows)
    unknown = sorted({row.rule for row in merged} - {rule.id for rule in rules})
    if unknown:
        raise ValueError(f"The rule book has no {', '.join(unknown)}: make the proof again with this rule book.")
    proven = [rule for rule in rules if _proven(_of(rule, merged))]
    lines = [
        f"{len(proven)} of {count(len(rules), 'rule')} are confirmed by a real thing.",
        "",
        "| rule | level | origin | confirmed by | cases | differences |",
        "|---|---|---|---|---:|---:|",
        *(_rule_line(rule, merged) for rule in rules),
    ]
    if merged:
        lines += ["", "| real thing | release | rules | cases | differences |", "|---|---|---:|---:|---:|"]
        lines += _release_lines(merged)
    return "\n".join(lines) + "\n"


def _of(rule: ProvenRule, rows: list[ProofRow]) -> list[ProofRow]:
    return [row for row in rows if row.rule == rule.id and row.cases > 0]


def _proven(rows: list[ProofRow]) -> bool:
    return bool(rows) and all(row.differences == 0 for row in rows)


def _rule_line(rule: ProvenRule, everything: list[ProofRow]) -> str:
    rows = _of(rule, everything)
    head = f"| {_cell(rule.id)} | {_cell(rule.level)} | {_cell(rule.origin)} "
    if not rows:
        return f"{head}| **unproven** | 0 | 0 |"
    sides = dict.fromkeys(row.side for row in rows)
    by = "; ".join(_releases(side, rows, everything) for side in sides)
    cases, differences = sum(row.cases for row in rows), sum(row.differences for row in rows)
    if differences:
        wrong = ", ".join(f"{_cell(row.side)} {_cell(row.release)}" for row in rows if row.differences)
        by = f"**unproven**, differs on {wrong}; checked on {by}"
    return f"{head}| {by} | {cases:,} | {differences:,} |"


def _releases(side: str, rows: list[ProofRow], everything: list[ProofRow]) -> str:
    """``java-client 4.9.8 (120), 5.5.0 (80)``, or with many releases a range, its holes and the fewest cases."""
    ordered = [row for row in rows if row.side == side]
    if len(ordered) <= FEW_RELEASES:
        return f"{_cell(side)} " + ", ".join(f"{_cell(row.release)} ({row.cases:,})" for row in ordered)
    first, last = ordered[0].release, ordered[-1].release
    # A range must not hide a release inside it that checked other rules and not this one.
    between = [row.release for row in everything if row.side == side and _inside(row.release, first, last)]
    holes = [release for release in dict.fromkeys(between) if release not in {row.release for row in ordered}]
    without = f" without {', '.join(map(_cell, holes))}" if holes else ""
    fewest = min(row.cases for row in ordered)
    of = f"{len(ordered)} releases {_cell(first)} to {_cell(last)}{without}"
    return f"{_cell(side)}, {of} ({fewest:,} or more each)"


def _inside(release: str, first: str, last: str) -> bool:
    return _release_key(first) <= _release_key(release) <= _release_key(last)


def _release_lines(rows: list[ProofRow]) -> list[str]:
    groups: dict[tuple[str, str], list[ProofRow]] = {}
    for row in rows:
        groups.setdefault((row.side, row.release), []).append(row)
    return [
        f"| {_cell(side)} | {_cell(release)} | {sum(row.cases > 0 for row in group):,} "
        f"| {sum(row.cases for row in group):,} | {sum(row.differences for row in group):,} |"
        for (side, release), group in sorted(groups.items(), key=lambda item: (item[0][0], _release_key(item[0][1])))
    ]


def _release_key(release: str) -> list[tuple[int, str]]:
    """Orders 4.9.8 before 4.10.0: numbers as numbers."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in release.replace("-", ".").split(".")]


def _cell(text: str) -> str:
    return clean(text).replace("|", "\\|")
