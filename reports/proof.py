"""The proof table in Markdown: which releases of real RocketMQ confirmed which rules.

A proof row counts the checks of a rule against one release of a real client or broker, and how often the two differed.
A rule that no row confirms is "unproven".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.reports.text import clean, count

#: The side of rows that are about a client and a broker together.
PAIR = "pair"
#: Up to so many releases are listed one by one; more are written as a range.
FEW_RELEASES = 4
#: Stages of a release that come before it, in their order.
_STAGES = ("PREVIEW", "ALPHA")


@dataclass(frozen=True, slots=True)
class ProvenRule:
    """A rule of the rule book, as the table needs it."""

    id: str
    level: str
    origin: str


@dataclass(frozen=True, slots=True)
class ProofRow:
    """``cases`` checks of ``rule`` on real RocketMQ, by ``side`` ("pure", "client", "broker", "whole") and ``release``.

    ``example`` is the first difference, "" when there is none. A row of the side PAIR is about a client of ``release``
    on a broker of the release ``against``; such rows have a table of their own. ``confirmed`` says on which commit and
    day this was found, as in "2026-11-22 on 0fb2a56c".
    """

    rule: str
    side: str
    release: str
    cases: int
    differences: int
    example: str = ""
    against: str = ""
    confirmed: str = ""


def merge(rows: Iterable[ProofRow]) -> list[ProofRow]:
    """One row per rule, side and release (or pair of releases), in that order: cases and differences add up, the first
    example and confirmation stay."""
    merged: dict[tuple[str, str, str, str], ProofRow] = {}
    for row in rows:
        key = (row.rule, row.side, row.release, row.against)
        old = merged.get(key, ProofRow(*key[:3], 0, 0, "", row.against, row.confirmed))
        cases, differences = old.cases + row.cases, old.differences + row.differences
        merged[key] = ProofRow(
            *key[:3], cases, differences, old.example or row.example, row.against, old.confirmed or row.confirmed
        )
    return sorted(
        merged.values(), key=lambda row: (row.rule, row.side, _release_key(row.release), _release_key(row.against))
    )


def render(rules: Sequence[ProvenRule], rows: Iterable[ProofRow]) -> str:
    """Markdown: a table of every rule, then a table of every release. Rows of unknown rules raise ValueError."""
    merged = merge(row for row in rows if row.side != PAIR)
    unknown = sorted({row.rule for row in merged} - {rule.id for rule in rules})
    if unknown:
        raise ValueError(f"The rule book has no {', '.join(unknown)}: make the proof again with this rule book.")
    by_rule: dict[str, list[ProofRow]] = {}
    releases: dict[str, dict[str, None]] = {}
    for row in merged:
        if row.cases > 0:
            by_rule.setdefault(row.rule, []).append(row)
        releases.setdefault(row.side, {})[row.release] = None
    proven = [rule for rule in rules if _proven(by_rule.get(rule.id, []))]
    lines = [
        f"{len(proven)} of {count(len(rules), 'rule')} are confirmed by a real thing.",
        "",
        *markdown_table(
            ("rule", "level", "origin", "confirmed by", "cases", "differences"),
            (_rule_row(rule, by_rule.get(rule.id, []), releases) for rule in rules),
            {"cases", "differences"},
        ),
    ]
    if merged:
        # Which releases took part at all, and how much of the rule book each of them confirmed.
        columns = ("side", "release", "rules checked", "cases", "differences", "last confirmed")
        lines += ["", *markdown_table(columns, _release_rows(merged), columns[2:5])]
    examples = [row for row in merged if row.differences]
    if examples:
        lines += ["", "First differences:", ""]
        lines += [f"- {clean(f'{row.rule}, {row.side} {row.release}: {row.example}')}" for row in examples]
    return "\n".join(lines) + "\n"


def pairs(rows: Iterable[ProofRow]) -> str:
    """Markdown: the differences and cases of every pair, a client release a line and a broker release a column.

    A case counts once for every rule that made its answer. "" when no row is about a pair.
    """
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for row in rows:
        if row.side == PAIR:
            differences, cases = found.get((row.release, row.against), (0, 0))
            found[row.release, row.against] = differences + row.differences, cases + row.cases
    if not found:
        return ""
    clients, brokers = (sorted({pair[at] for pair in found}, key=_release_key) for at in (0, 1))
    lines = ([clean(client), *(_pair(found.get((client, broker))) for broker in brokers)] for client in clients)
    return "\n".join(markdown_table(["client \\ broker", *map(clean, brokers)], lines, brokers)) + "\n"


def _pair(found: tuple[int, int] | None) -> str:
    if found is None:
        return "–"
    differences, cases = found
    return f"**{differences:,}** of {cases:,}" if differences else f"0 of {cases:,}"


def _proven(rows: list[ProofRow]) -> bool:
    return bool(rows) and all(row.differences == 0 for row in rows)


def _rule_row(rule: ProvenRule, rows: list[ProofRow], asked: Mapping[str, Iterable[str]]) -> list[str]:
    """The cells of a rule with its rows; the releases that were ``asked`` anything, by side."""
    head = [*map(clean, (rule.id, rule.level, rule.origin))]
    if not rows:
        # Where nothing is promised, there is nothing that could be confirmed.
        return [*head, "nothing is promised" if rule.level == "UNDEFINED" else "**unproven**", "0", "0"]
    sides = dict.fromkeys(row.side for row in rows)
    by = "; ".join(_releases(side, rows, asked[side]) for side in sides)
    cases, differences = sum(row.cases for row in rows), sum(row.differences for row in rows)
    if differences:
        wrong = ", ".join(f"{clean(row.side)} {clean(row.release)}" for row in rows if row.differences)
        by = f"**unproven**, differs on {wrong}; checked on {by}"
    return [*head, by, f"{cases:,}", f"{differences:,}"]


def _releases(side: str, rows: list[ProofRow], asked: Iterable[str]) -> str:
    """``client 4.9.8 (120), 5.5.0 (80)``, or with many releases a range, its holes and the fewest cases."""
    ordered = [row for row in rows if row.side == side]
    if len(ordered) <= FEW_RELEASES:
        return f"{clean(side)} " + ", ".join(f"{clean(row.release)} ({row.cases:,})" for row in ordered)
    first, last = ordered[0].release, ordered[-1].release
    # A range must not hide a release inside it that checked other rules and not this one.
    shown = {row.release for row in ordered}
    holes = [release for release in asked if release not in shown and _inside(release, first, last)]
    without = f" without {', '.join(map(clean, holes))}" if holes else ""
    fewest = min(row.cases for row in ordered)
    of = f"{len(ordered)} releases {clean(first)} to {clean(last)}{without}"
    return f"{clean(side)}, {of} ({fewest:,} or more each)"


def _inside(release: str, first: str, last: str) -> bool:
    return _release_key(first) <= _release_key(release) <= _release_key(last)


def _release_rows(rows: list[ProofRow]) -> Iterator[list[str]]:
    groups: dict[tuple[str, str], list[ProofRow]] = {}
    for row in rows:
        groups.setdefault((row.side, row.release), []).append(row)
    for (side, release), group in sorted(groups.items(), key=lambda item: (item[0][0], _release_key(item[0][1]))):
        rules, cases = sum(row.cases > 0 for row in group), sum(row.cases for row in group)
        differences = sum(row.differences for row in group)
        yield [clean(side), clean(release), f"{rules:,}", f"{cases:,}", f"{differences:,}", _confirmed(group)]


def _confirmed(rows: Iterable[ProofRow]) -> str:
    """``2026-11-22 on 0fb2a56c``; with the number of rules of each when there are several."""
    found = Counter(row.confirmed for row in rows if row.confirmed)
    if len(found) < 2:
        return clean("".join(found))
    return "; ".join(f"{clean(when)} ({count(rules, 'rule')})" for when, rules in found.most_common())


def pairs_confirmed(rows: Iterable[ProofRow]) -> str:
    """Markdown: how many pairs were last confirmed on each commit. "" when no row of a pair says so."""
    found: dict[tuple[str, str], str] = {}
    for row in rows:
        if row.side == PAIR and row.confirmed:
            found[row.release, row.against] = max(found.get((row.release, row.against), ""), row.confirmed)
    lines = ((clean(when), f"{pairs:,}") for when, pairs in sorted(Counter(found.values()).items()))
    return "\n".join(markdown_table(("last confirmed", "pairs"), lines, {"pairs"})) + "\n" if found else ""


@cache
def _release_key(release: str) -> list[tuple[int, str]]:
    """Orders 4.9.8 before 4.10.0, numbers as numbers, and previews before what they precede."""
    numbers, _, stage = release.partition("-")
    rank = _STAGES.index(stage) if stage in _STAGES else len(_STAGES)
    return [*((int(part), "") if part.isdecimal() else (-1, part) for part in numbers.split(".")), (rank, "")]
