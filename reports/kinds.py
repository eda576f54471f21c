"""Kinds of divergences: those of one kind differ in values only; and the kinds that a short report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from rocketmq_conformance.reports.event import HARMS, MODEL, DivergenceFound
from rocketmq_conformance.reports.text import first_names

#: Kinds that a short report shows: in all, and of one suite.
MOST, MOST_OF_SUITE = 10, 3

#: Rules that are named where kinds are left out.
NAMED = 4

_LEVELS = {"MUST": 0, "SHOULD": 1}
#: What a divergence may do to messages: harm that is done, and harm that passes.
_SEVERITY = HARMS[:4], HARMS[4:6], HARMS[6:]
_Ranked = TypeVar("_Ranked")


class Rank(NamedTuple):
    """What decides which are shown."""

    suite: str
    #: The responsible rule.
    rule: Hashable
    #: How much it matters: 0 for what matters most.
    matters: int
    #: How hard it is to see, of two that matter as much: by the steps of its plan, by its harm, by its cases.
    clearness: tuple[int, ...]


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
    """The kinds that a short report shows, one of each rule; differences of implementations come last."""
    return chosen(kinds, [_rank(kind) for kind in kinds], of_rule=1)


def by_rule(kinds: Iterable[Kind]) -> str:
    """How many kinds there are of each responsible rule, those of most first."""
    counts = Counter(_rule(kind.exemplar) or "no rule" for kind in kinds)
    return first_names((f"{times} of {rule}" for rule, times in counts.most_common()), NAMED)


def _rule(divergence: DivergenceFound) -> str:
    return divergence.rules[0].get("id", "") if divergence.rules else ""


def _rank(kind: Kind) -> Rank:
    one = kind.exemplar
    binding = level(one.rules) if one.against == MODEL else len(_LEVELS) + 1
    severity = next((at for at, harms in enumerate(_SEVERITY) if one.harm in harms), len(_SEVERITY))
    matters = binding * (len(_SEVERITY) + 1) + severity
    clearness = len(one.steps) or one.found_steps, harm_rank(one), kind.cases
    return Rank(one.suite, (_rule(one) or one.fingerprint, one.address, one.against), matters, clearness)


def chosen(found: Sequence[_Ranked], ranks: Sequence[Rank], of_rule: int = MOST) -> list[_Ranked]:
    """At most ``MOST`` of what was found, ``of_rule`` of a rule, and ``MOST_OF_SUITE`` of a suite unless there is room.

    What matters most comes first; of that the clearest of every rule and every suite before the second one of any.
    """
    turns: Counter[Hashable] = Counter()
    taken: Counter[str] = Counter()
    places = []
    for at in sorted(range(len(found)), key=lambda at: (ranks[at].matters, ranks[at].clearness, at)):
        suite, rule, matters, clearness = ranks[at]
        turns[rule] += 1
        if turns[rule] <= of_rule:
            places.append((matters, turns[rule], clearness, at))
    ordered = []
    for matters, turn, clearness, at in sorted(places):
        suite = ranks[at].suite
        taken[suite] += 1
        ordered.append((taken[suite] > MOST_OF_SUITE, matters, turn, taken[suite], clearness, at))
    return [found[place[-1]] for place in sorted(sorted(ordered)[:MOST], key=lambda place: place[1:])]
