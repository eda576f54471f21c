"""Separating features: what distinguishes the steps that diverge from those that do not.

For a cluster, the diverging step of some of its cases is compared with steps of the same operation that agreed: those
before the divergence, and those of cases that conform. One group-by counts for every feature how many steps of either
side have it; the difference of the two shares (Youden's J: Youden, *Index for rating diagnostic tests*, Cancer 3, 1950)
says how sharply it separates them, 1 being a perfect line and 0 none at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.analysis.clusters import Cluster
from rocketmq_conformance.conformance.campaign.analysis.features import KIND, PAST, Feature, features, is_absence
from rocketmq_conformance.conformance.campaign.analysis.parts import (
    IN_PROCESS,
    SAMPLE,
    Engine,
    Part,
    joined,
    smallest,
)
from rocketmq_conformance.conformance.campaign.analysis.side import Side, fetch
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.reports.event import CONFORMS, Separator
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Suite

#: Blocks that cases of a cluster are looked for in: each is two files to be read.
BLOCKS = 32
#: A search through blocks in order looks at one block first, and at so many times more whenever that was not enough.
_GROWTH = 16
#: Agreeing steps that are looked at.
AGREEING = 800
#: Separators that are named, and the smallest difference of shares that is worth a name.
BEST, LEAST = 4, 0.2
#: Agreeing steps of the same kind of state that are enough to compare with, and how much each share of them counts.
_ENOUGH, _NEAR = 10, 4
#: The expected number of features of one rank that separate by chance, at most.
_BY_CHANCE = 0.05
#: Further features: the share of diverging steps that must have them, and how much larger it must be than the others'.
_MOST, _CLEAR, _CANDIDATES = 0.8, 0.3, 200


#: What clusters are part of: suite, address, and what it differs from.
_Compared = tuple[str, str, str]


class Sample(NamedTuple):
    """A step of a case: all steps of the case up to it are known."""

    steps: Sequence[Step]
    #: Its position; 0 is the first step.
    at: int


class SeparatorFinder:
    """Finds what separates the divergences of a campaign."""

    def __init__(self, campaign: Campaign, clusters: Sequence[Cluster], engine: Engine = IN_PROCESS) -> None:
        """``clusters`` are those that may be asked for."""
        self.conforming = first_conforming(campaign, clusters, engine)
        self._sides: dict[tuple[str, str], Side] = {}
        self._steps: dict[_Compared, list[Sequence[Step]]] = {}
        for address in dict.fromkeys(one.address for one in clusters):
            chosen: dict[str, set[int]] = defaultdict(set)
            for one in clusters:
                if one.address == address:
                    chosen[one.suite] |= {*_diverging(campaign, one), *self.conforming[_compared(one)]}
            sides = {suite: Side(campaign, suite, address) for suite in chosen}
            fetch(engine, sides, chosen)
            self._sides |= {(suite, address): side for suite, side in sides.items()}

    def separators(self, cluster: Cluster) -> list[Separator]:
        """What separates a cluster, the sharpest and simplest first; [] when its cases cannot be rebuilt."""
        side = self._sides[cluster.suite, cluster.address]
        diverging, agreeing = [], []
        for case, step in _diverging(side.campaign, cluster).items():
            steps = side.trace(case).steps
            if step <= len(steps):
                diverging.append(Sample(steps, step - 1))
                agreeing += [Sample(steps, earlier) for earlier in range(step - 1)]
        key = _compared(cluster)
        if key not in self._steps:
            traces = map(side.trace, self.conforming[key])
            self._steps[key] = [trace.steps for trace in traces if trace.steps]
        agreeing += [Sample(steps, at) for steps in self._steps[key] for at in range(len(steps))]
        return separators(SUITES[cluster.suite], diverging, agreeing)


def first_conforming(
    campaign: Campaign, clusters: Iterable[Cluster], engine: Engine = IN_PROCESS
) -> dict[_Compared, list[int]]:
    """The smallest cases (at most SAMPLE) that conform and do not differ from what clusters differ from.

    Blocks are read in order, and no more of them than it takes.
    """
    found: dict[_Compared, list[int]] = {_compared(one): [] for one in clusters}
    begin, size = 0, 1
    while left := {key for key, cases in found.items() if len(cases) < SAMPLE}:
        numbers = {suite: campaign.finished(suite)[begin : begin + size] for suite in {key[0] for key in left}}
        if not any(numbers.values()):
            break
        parts = (Part(suite, ([number],)) for suite, some in numbers.items() for number in some)
        look = partial(_conforming, wanted=left)
        join = partial(joined, join=partial(smallest, most=SAMPLE))
        for some in engine.by_suite([campaign], parts, ["cases", "divergences"], look, join).values():
            for key, cases in some.items():
                found[key] = [*found[key], *cases.tolist()][:SAMPLE]
        begin, size = begin + size, size * _GROWTH
    return found


def _conforming(part: Part, campaign: Campaign, wanted: set[_Compared]) -> dict[_Compared, Any]:
    cases = campaign.read("cases", ["case", "address", "verdict"], part.suite, part.blocks[0])
    divergences = campaign.read("divergences", ["case", "address", "against"], part.suite, part.blocks[0])
    found = {}
    for suite, address, against in wanted:
        if suite == part.suite:
            good = pc.and_(pc.equal(cases["address"], address), pc.equal(cases["verdict"], CONFORMS))
            mine = pc.and_(pc.equal(divergences["address"], address), pc.equal(divergences["against"], against))
            differing = divergences.filter(mine)["case"]
            found[suite, address, against] = np.setdiff1d(cases.filter(good)["case"], differing)[:SAMPLE]
    return found


def _diverging(campaign: Campaign, cluster: Cluster) -> dict[int, int]:
    """The smallest cases of a cluster, of at most BLOCKS blocks, and the step of each."""
    blocks = sorted({case // campaign.block for case, _ in cluster.some})[:BLOCKS]
    return {case: step for case, step in cluster.some if case // campaign.block in blocks}


def _compared(cluster: Cluster) -> _Compared:
    return cluster.suite, cluster.address, cluster.against


def separators(suite: Suite, diverging: Sequence[Sample], agreeing: Sequence[Sample]) -> list[Separator]:
    """What separates steps that diverge, all of one operation, from steps that agree.

    Of those that agree, the ones of the same operation count; all of them when there are none. The shares are of what
    counts.
    """
    if not diverging or not agreeing:
        return []
    compared = _thinned(_alike(diverging, agreeing))
    rows = [*diverging, *compared]
    found = [features(suite, sample.steps, sample.at) for sample in rows]
    numbers = {feature: number for number, feature in enumerate(sorted(set().union(*found)))}
    sizes = [len(has) for has in found]
    diverges = np.arange(len(rows)) < len(diverging)
    branch = diverging[0].steps[diverging[0].at].why.kind
    near = ~diverges & np.array([sample.steps[sample.at].why.kind == branch for sample in rows])
    table = pd.DataFrame(
        {
            "feature": [numbers[feature] for has in found for feature in has],
            "step": np.repeat(np.arange(len(rows)), sizes),
            "diverging": np.repeat(diverges, sizes),
            "others": np.repeat(~diverges, sizes),
            "near": np.repeat(near, sizes),
        }
    )
    counted = table.groupby("feature")[["diverging", "others", "near"]].sum()
    return _Selection(suite, list(numbers), counted, table, diverges, near).best()


def _alike(diverging: Sequence[Sample], agreeing: Sequence[Sample]) -> Sequence[Sample]:
    """Agreeing steps of the same operation; those as early in their cases as the diverging ones, if that leaves some.

    Late steps have more history than early ones, which alone would separate them.
    """
    operation = diverging[0].steps[diverging[0].at].row[0]
    same = [sample for sample in agreeing if sample.steps[sample.at].row[0] == operation] or agreeing
    latest = max(sample.at for sample in diverging)
    early = [sample for sample in same if sample.at <= latest]
    return early if len(early) >= len(diverging) else same


def _thinned(samples: Sequence[Sample]) -> list[Sample]:
    chosen = np.unique(np.linspace(0, len(samples) - 1, min(len(samples), AGREEING)).round().astype(int))
    return [samples[at] for at in chosen.tolist()]


class _Selection:
    """Chooses among the features that were counted; a feature that rather the others have counts as its opposite."""

    def __init__(
        self, suite: Suite, names: list[Feature], counted: pd.DataFrame, table: pd.DataFrame, diverges: Any, near: Any
    ) -> None:
        self.names = names
        self.diverges = diverges
        self.near = near
        total, others = int(diverges.sum()), int((~diverges).sum())
        shares = counted["diverging"].to_numpy() / total
        rest = counted["others"].to_numpy() / others
        self.positive = shares >= rest
        self.shares = np.where(self.positive, shares, 1 - shares)
        self.rest = np.where(self.positive, rest, 1 - rest)
        self.gap = self.shares - self.rest
        closest = counted["near"].to_numpy() / max(1, int(near.sum()))
        within = self.shares - np.where(self.positive, closest, 1 - closest)
        # a cluster names its kind of state: the more steps of that kind agree, the more it matters what else they are
        weight = min(1.0, _NEAR * near.sum() / others) if near.sum() >= _ENOUGH else 0.0
        score = (1 - weight) * self.gap + weight * within
        ranks = np.array([name.rank for name in names]) + np.where(self.positive, 0.0, 0.5)
        many = np.bincount(ranks.astype(int), minlength=PAST + 1)[ranks.astype(int)]
        chance = _tail(np.round(self.shares * total).astype(int), total, self.rest, others) * many
        self.candidates = [
            at
            for at in np.flatnonzero((self.gap >= LEAST) & (score >= LEAST) & (chance <= _BY_CHANCE)).tolist()
            if not is_absence(suite, names[at], bool(self.positive[at]))
        ]
        self.ranks = ranks
        self.candidates.sort(key=lambda at: (-round(score[at] / 0.05), ranks[at], names[at].text))
        self._steps = table.groupby("feature")["step"]
        self._has: dict[int, Any] = {}

    def best(self) -> list[Separator]:
        """The sharpest and simplest feature, then what separates the steps of the same kind that it leaves together."""
        if not self.candidates:
            return []
        chosen = [self.candidates[0]]
        left = self.near & self.has(chosen[0])
        while len(chosen) < BEST and left.sum() >= _ENOUGH:
            following = self._next(left)
            if following is None:
                break
            chosen.append(following)
            left &= self.has(following)
        if not any(self.ranks[at] < KIND for at in chosen):
            given = [at for at in self.candidates if self.ranks[at] < KIND and self._joins(at)][:1]
            chosen = [*chosen[: BEST - len(given)], *given]
        return [self._separator(at) for at in chosen]

    def _joins(self, at: int) -> bool:
        return bool(self.shares[at] >= _MOST and self.gap[at] >= _CLEAR)

    def has(self, number: int) -> Any:
        """Which steps have a feature."""
        if number not in self._has:
            positive = bool(self.positive[number])
            has = np.full(len(self.diverges), not positive)
            has[self._steps.get_group(number)] = positive
            self._has[number] = has
        return self._has[number]

    def _next(self, left: Any) -> int | None:
        """What separates the diverging steps best from the agreeing ones that are left."""
        joining = [at for at in self.candidates[:_CANDIDATES] if self._joins(at)]
        gaps = {at: self.shares[at] - self.has(at)[left].mean() for at in joining}
        best = max(gaps, key=lambda at: (round(gaps[at] / 0.05), -self.ranks[at]), default=None)
        return best if best is not None and gaps[best] >= _CLEAR else None

    def _separator(self, at: int) -> Separator:
        name = self.names[at]
        text = name.text if self.positive[at] else name.opposite
        return Separator(feature=text, diverging=float(self.shares[at]), others=float(self.rest[at]))


def _tail(hits: Any, total: int, share: Any, others: int) -> Any:
    """The probability that so many of ``total`` steps have a feature by chance, given its share among the others."""
    share = np.clip((share * others + 0.5) / (others + 1), 1e-9, 1 - 1e-9)
    counts = np.arange(total + 1)
    ways = np.array([lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1) for k in counts])
    logs = ways + np.outer(np.log(share), counts) + np.outer(np.log1p(-share), total - counts)
    return np.where(counts >= hits[:, None], np.exp(logs), 0.0).sum(axis=1)
