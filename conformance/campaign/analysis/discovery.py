"""Discovery: how much behaviour the cases of a campaign showed, and the probability that the next case shows more.

A *behaviour* is an answer (rule, kind of state, outcome class) or a transition (two kinds of state, one after the
other). A case shows many of them, each once or not at all: incidence data, as ecologists call it when they note which
species a sampling unit holds.

**The chance that the next case shows something new** is estimated by leaving out one case at a time. Case *i* is new
to the others exactly if it holds a *singleton*, a behaviour that no other case showed. Cases are drawn independently
from one distribution, so any of the *t* cases may stand for the last one, and the expected share of cases that hold a
singleton *is* the chance that the *t*-th case shows something new to the *t* - 1 before it: no assumption about how
frequent behaviours are, and never above 1. (Of several suites or arms together it is the chance of a case that is drawn
as those were: as often from each suite.) This is the idea of Good (*The population frequencies of species and the
estimation of population parameters*, Biometrika 40, 1953), who credits Turing, for samples of one individual each. Its
usual form for incidence data, Q1/t (Chao and Colwell, *Thirty years of progeny from Chao's inequality*, SORT 41, 2017),
counts the singletons instead of the cases that hold them: it estimates how *many* new behaviours the next case shows,
which may be more than 1 where one case shows many at once. For fuzzing see Böhme, *STADS: software testing as species
discovery* (ACM TOSEM 27, 2018). The estimate is a multiple of 1/t, so that 0 after *t* cases does not say that nothing
is left: a chance of up to about 3/t (the rule of three) must still be reckoned with.

**The first-seen curve** says after how many cases how many behaviours had been seen. Cases count in *canonical order*:
block 0 of every suite, then block 1 of every suite, and so on, each in the order of its cases. That is the order in
which a campaign hands out blocks; in which order they come back does not matter to any result here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.analysis.behaviour_matrix import occurrences
from rocketmq_conformance.conformance.campaign.analysis.parts import IN_PROCESS, Engine, Part, parts_of
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.reports import event

#: Columns of ``cases`` that hold behaviours.
BEHAVIOURS = ("answers", "transitions")
#: Columns that :meth:`BehaviourCounter.add` looks at.
COLUMNS = ("case", "arm", "steps", *BEHAVIOURS)
#: Points of a curve at most.
POINTS = 300
ARMS = ("random", "steered")
_NEVER = np.iinfo(np.int64).max


@dataclass
class _Group:
    """The cases of one suite and arm."""

    #: By behaviour: cases that showed it, and the place in canonical order of the first of them.
    times: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    first: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    #: By place of a block in canonical order: which of its cases count, as bits, and how many.
    blocks: dict[int, tuple[Any, int]] = field(default_factory=dict)

    def grow(self, size: int) -> None:
        """Have room for so many behaviours."""
        more = size - len(self.times)
        if more > 0:
            self.times = np.concatenate([self.times, np.zeros(more, np.int64)])
            self.first = np.concatenate([self.first, np.full(more, _NEVER)])


class BehaviourCounter:
    """Collects the behaviours of a campaign's blocks, in any order."""

    def __init__(self, suites: Sequence[str], block: int) -> None:
        """``suites`` in the campaign's order; ``block`` is the number of cases of a block."""
        self._suites = {name: at for at, name in enumerate(suites)}
        self._block = block
        #: The position of each behaviour in the arrays of the groups.
        self._known: dict[int, int] = {}
        self._groups: dict[tuple[str, str], _Group] = {}
        self._added: set[tuple[str, int]] = set()

    def add(self, suite: str, block: int, cases: pa.Table) -> None:
        """Take the rows of ``cases`` of one finished block (at least ``COLUMNS``); a block counts once.

        Cases of which no step was judged on any address show nothing and are not counted.
        """
        if (suite, block) in self._added:
            return
        self._added.add((suite, block))
        begin = block * self._block
        # the place of the block's first case in canonical order
        place = (block * len(self._suites) + self._suites[suite]) * self._block
        judged = cases.filter(pc.greater(cases["steps"], 0))
        for arm in pc.unique(judged["arm"]).to_pylist():
            rows = judged.filter(pc.equal(judged["arm"], arm))
            counted = np.zeros(self._block, dtype=bool)
            counted[rows["case"].to_numpy() - begin] = True
            at, of, ids = occurrences(rows, begin, BEHAVIOURS)
            times, first = _count_occurrences(at, of, len(ids))
            self._merge(suite, arm, ids, times, place + first, {place: (np.packbits(counted), int(counted.sum()))})

    def joined(self, other: BehaviourCounter) -> BehaviourCounter:
        """Take what another counter has of other blocks."""
        ids = np.fromiter(other._known, np.int64, len(other._known))
        for (suite, arm), group in other._groups.items():
            shown = np.flatnonzero(group.times)
            self._merge(suite, arm, ids[shown], group.times[shown], group.first[shown], group.blocks)
        self._added |= other._added
        return self

    def _merge(
        self, suite: str, arm: str, ids: Any, times: Any, first: Any, blocks: Mapping[int, tuple[Any, int]]
    ) -> None:
        """Take what blocks of a suite and arm showed: of each of ``ids`` how many cases showed it, and the place of the
        first of them; ``blocks`` by their places: which of their cases count, as bits, and how many."""
        group = self._groups.setdefault((suite, arm), _Group())
        group.blocks.update(blocks)
        positions = np.fromiter((self._known.setdefault(id_, len(self._known)) for id_ in ids.tolist()), np.int64)
        group.grow(len(self._known))
        group.times[positions] += times
        group.first[positions] = np.minimum(group.first[positions], first)

    def results(self) -> list[event.Discovery]:
        """What is known by now: by suite and arm; "" stands for all suites, and for both arms where both were played.

        The arms of a suite come after one another, what stands for all of them last.
        """
        arms: list[str] = [arm for arm in ARMS if any(key[1] == arm for key in self._groups)]
        both = [*arms, ""] if len(arms) > 1 else arms
        return [result for suite in (*self._suites, "") for arm in both for result in self._result(suite, arm)]

    @property
    def behaviours(self) -> int:
        """Distinct behaviours that were seen by now."""
        return len(self._known)

    def _result(self, suite: str, arm: str) -> Iterator[event.Discovery]:
        chosen = [
            group
            for (of, by), group in self._groups.items()
            if (not suite or of == suite) and (not arm or by == arm) and group.blocks
        ]
        if not chosen:
            return
        for group in chosen:
            group.grow(len(self._known))
        times = sum(group.times for group in chosen)
        first = np.minimum.reduce([group.first for group in chosen])
        seen = np.sort(first[first != _NEVER])
        cases, ranks = _ranks([group.blocks for group in chosen], seen)
        holders = len(np.unique(first[times == 1]))
        yield event.Discovery(
            suite=suite, arm=arm, cases=cases, behaviours=len(seen), chance=holders / cases, curve=_curve(ranks, cases)
        )


def discovery(campaign: Campaign, engine: Engine = IN_PROCESS) -> list[event.Discovery]:
    """What the cases of a stored campaign showed, by suite and arm."""
    parts = parts_of(campaign, engine.size)
    found = engine.by_suite([campaign], parts, ["cases"], _look, BehaviourCounter.joined)
    return reduce(BehaviourCounter.joined, found.values(), BehaviourCounter(campaign.suites, campaign.block)).results()


def _look(part: Part, campaign: Campaign) -> BehaviourCounter:
    counter = BehaviourCounter(campaign.suites, campaign.block)
    for block in part.blocks[0]:
        counter.add(part.suite, block, campaign.read("cases", COLUMNS, part.suite, block))
    return counter


def _count_occurrences(at: Any, of: Any, size: int) -> tuple[Any, Any]:
    """Of each of ``size`` behaviours, how many cases showed it and the first of them, from their occurrences."""
    first = np.zeros(size, np.int64)
    first[of[::-1]] = at[::-1]  # the last one that is written, which is the first case, stays
    return np.bincount(of, minlength=size), first


def _ranks(groups: list[dict[int, tuple[Any, int]]], places: Any) -> tuple[int, Any]:
    """How many cases there are, and how many of them come up to each of ``places`` (ascending, each that of a case)."""
    blocks: dict[int, tuple[Any, int]] = {}
    for group in groups:
        for place, (bits, count) in group.items():
            others, more = blocks.get(place, (np.zeros_like(bits), 0))
            blocks[place] = others | bits, count + more
    begins = np.array(sorted(blocks))
    ends = np.cumsum([blocks[begin][1] for begin in begins.tolist()])
    if not len(places):
        return int(ends[-1]), places
    touched, at = np.unique(np.searchsorted(begins, places, side="right") - 1, return_inverse=True)
    masks = np.unpackbits(np.stack([blocks[begin][0] for begin in begins[touched].tolist()]), axis=1)
    within = np.cumsum(masks, axis=1, dtype=np.int32)[at, places - begins[touched[at]]]
    return int(ends[-1]), np.where(touched > 0, ends[touched - 1], 0)[at] + within


def _curve(ranks: Any, cases: int) -> list[list[int]]:
    """[cases, behaviours seen by then], thinned evenly over the behaviours; the last point has all cases."""
    at, first = np.unique(ranks, return_index=True)
    seen = np.append(first, len(ranks))[1:]
    points = [[int(x), int(y)] for x, y in zip(at, seen, strict=True)]
    if not points or points[-1][0] < cases:
        points.append([cases, len(ranks)])
    if len(points) <= POINTS:
        return points
    kept = np.linspace(0, len(points) - 1, POINTS).round().astype(int)
    return [points[index] for index in kept]
