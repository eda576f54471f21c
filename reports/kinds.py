"""Kinds of divergences: those of one kind differ in values only; and the kinds that a short report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rocketmq_conformance.reports.event import HARMS, MODEL, DivergenceFound

#: Kinds that a short report shows: in all, and of one suite.
MOST, MOST_OF_SUITE = 10, 3

_LEVELS = {"MUST": 0, "SHOULD": 1}
_Ranked = TypeVar("_Ranked")
#: What decides which are shown: the suite, how much it matters, the number of cases, and the responsible rule.
Rank = tuple[Hashable, int, int, Hashable]


@dataclass(frozen=True, slots=True)
class Kind:
    """The divergences of one kind, in the order in which they were found; at least one."""

    divergences: list[DivergenceFound]

    @property
    def exemplar(self) -> DivergenceFound:
        """The one with the shortest stored plan; of two, the one that was found first."""
        return min(self.divergences, key=lambda one: (not one.plan, len(one.steps) or one.found_steps))

    @property
    def cases(self) -> int:
        """The cases that diverge in this way."""
        return sum(max(1, one.cases) for one in self.divergences)


def harm_rank(divergence: DivergenceFound) -> int:
    """0 for the worst that a divergence may do to messages; those of which it is not known come last."""
    return HARMS.index(divergence.harm) if divergence.harm in HARMS else len(HARMS)


def kinds_of(divergences: Iterable[DivergenceFound]) -> list[Kind]:
    """The kinds: what does most harm comes first, and of two that do the same the one that was found first."""
    kinds: dict[tuple[str, str, str, str], list[DivergenceFound]] = {}
    for one in divergences:
        kinds.setdefault((one.suite, one.address, one.against, one.fingerprint), []).append(one)
    return sorted((Kind(same) for same in kinds.values()), key=lambda kind: harm_rank(kind.exemplar))


def level(rules: Iterable[dict[str, str]]) -> int:
    """How binding the most binding rule is: 0 for a MUST, 1 for a SHOULD, 2 for anything else."""
    return min((_LEVELS.get(rule.get("level", ""), 2) for rule in rules), default=2)


def first_kinds(kinds: Sequence[Kind]) -> list[Kind]:
    """The kinds that a short report shows, the most important first; differences of implementations come last."""
    return chosen(kinds, [_rank(kind) for kind in kinds])


def _rank(kind: Kind) -> Rank:
    one = kind.exemplar
    rule = one.rules[0].get("id", "") if one.rules else ""
    binding = level(one.rules) if one.against == MODEL else len(_LEVELS) + 1
    return one.suite, binding * (len(HARMS) + 1) + harm_rank(one), kind.cases, rule


def chosen(found: Sequence[_Ranked], ranks: Sequence[Rank]) -> list[_Ranked]:
    """At most ``MOST`` of what was found, and ``MOST_OF_SUITE`` of a suite.

    Those of a MUST come first, among them those that do most harm, then the rarest of every suite before the second one
    of any; and of a suite one of each rule before a second one of any.
    """
    of_rule: Counter[Hashable] = Counter()
    turns = {}
    for at in sorted(range(len(found)), key=lambda at: (*ranks[at][1:3], at)):
        suite, _, _, rule = ranks[at]
        of_rule[suite, rule] += 1
        turns[at] = of_rule[suite, rule]
    taken: Counter[Hashable] = Counter()
    places = []
    for at in sorted(turns, key=lambda at: (ranks[at][1], turns[at], ranks[at][2], at)):
        suite, how_binding, cases, _ = ranks[at]
        taken[suite] += 1
        if taken[suite] <= MOST_OF_SUITE:
            places.append((how_binding, taken[suite], cases, at))
    return [found[place[-1]] for place in sorted(places)[:MOST]]
