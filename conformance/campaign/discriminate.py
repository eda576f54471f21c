"""Discrimination: what separates the steps that diverge from those that do not.

For a cluster, the diverging step of some of its cases is compared with steps of the same operation that agreed: those
before the divergence, and those of cases that conform. One group-by counts for every feature how many steps of either
side have it; the difference of the two shares (Youden's J: Youden, *Index for rating diagnostic tests*, Cancer 3, 1950)
says how sharply it separates them, 1 being a perfect line and 0 none at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from rocketmq_conformance.conformance.campaign.clusters import Cluster
from rocketmq_conformance.conformance.campaign.features import MEMBER, PAST, Feature, features
from rocketmq_conformance.conformance.campaign.reading import Campaign
from rocketmq_conformance.conformance.campaign.rebuild import Rebuilder
from rocketmq_conformance.conformance.judge import Step
from rocketmq_conformance.reports.event import CONFORMS, Separator
from rocketmq_conformance.suites.suite import Suite

#: Cases of a cluster, and conforming cases, that are looked at.
CASES = 200
#: Agreeing steps that are looked at.
AGREEING = 800
#: Separators that are named, and the smallest difference of shares that is worth a name.
BEST, LEAST = 4, 0.2
#: Agreeing steps of the same kind of state that are enough to compare with.
_ENOUGH = 10
#: Features of one rank of which so many may be expected to separate by mere chance.
_BY_CHANCE = 0.05
#: A feature is joined to others when it separates what they leave together: so many agreeing steps at least, and so
#: large a share of the diverging ones must have it.
_LITTLE, _MOST, _CANDIDATES = 0.02, 0.8, 200


class Sample(NamedTuple):
    """A step of a case: all steps of the case up to it are known."""

    steps: Sequence[Step]
    #: Its position; 0 is the first step.
    at: int


class Discriminator:
    """Finds what separates the divergences of a campaign."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        columns = ["suite", "case", "address", "against", "step", "fingerprint"]
        self._divergences = campaign.read("divergences", columns).to_pandas()
        self._rebuilders: dict[tuple[str, str], Rebuilder] = {}
        self._conforming: dict[tuple[str, str, str], list[Sequence[Step]]] = {}

    def separators(self, cluster: Cluster) -> list[Separator]:
        """What separates a cluster, the sharpest and simplest first; [] when its cases cannot be rebuilt."""
        rebuilder = self._rebuilder(cluster.suite, cluster.address)
        table = self._between(cluster)
        chosen = table[table.fingerprint == cluster.fingerprint].sort_values("case").head(CASES)
        numbers = dict(zip(chosen.case.tolist(), chosen.step.tolist(), strict=True))
        diverging, agreeing = [], []
        for trace in rebuilder.traces(numbers):
            at = numbers[trace.case] - 1
            if at < len(trace.steps):
                diverging.append(Sample(trace.steps, at))
                agreeing += [Sample(trace.steps, earlier) for earlier in range(at)]
        for steps in self._conforming_cases(cluster):
            agreeing += [Sample(steps, at) for at in range(len(steps))]
        return separators(rebuilder.suite, diverging, agreeing)

    def _rebuilder(self, suite: str, address: str) -> Rebuilder:
        key = suite, address
        if key not in self._rebuilders:
            self._rebuilders[key] = Rebuilder(self.campaign, suite, address)
        return self._rebuilders[key]

    def _between(self, cluster: Cluster) -> pd.DataFrame:
        """All divergences of the cluster's suite and address from what the cluster differs from."""
        table = self._divergences
        return table[
            (table.suite == cluster.suite) & (table.address == cluster.address) & (table.against == cluster.against)
        ]

    def _conforming_cases(self, cluster: Cluster) -> list[Sequence[Step]]:
        """The steps of some cases that conform and do not differ from what the cluster differs from."""
        key = cluster.suite, cluster.address, cluster.against
        if key not in self._conforming:
            differing = set(self._between(cluster).case.tolist())
            numbers: list[int] = []
            for block in self.campaign.finished(cluster.suite):
                cases = self.campaign.read("cases", ["case", "address", "verdict"], cluster.suite, block)
                good = pc.and_(pc.equal(cases["address"], cluster.address), pc.equal(cases["verdict"], CONFORMS))
                numbers += [case for case in cases.filter(good)["case"].to_pylist() if case not in differing]
                if len(numbers) >= CASES:
                    break
            traces = self._rebuilder(cluster.suite, cluster.address).traces(numbers[:CASES])
            self._conforming[key] = [trace.steps for trace in traces if trace.steps]
        return self._conforming[key]


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
    return _Selection(list(numbers), counted, table, diverges, near).best()


def _alike(diverging: Sequence[Sample], agreeing: Sequence[Sample]) -> Sequence[Sample]:
    """Agreeing steps of the same operation; those as early in their cases as the diverging ones, if that leaves some.

    Late steps have more history than early ones, and would be told apart by that alone.
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
        self, names: list[Feature], counted: pd.DataFrame, table: pd.DataFrame, diverges: Any, near: Any
    ) -> None:
        self.names = names
        self.diverges = diverges
        self.others = ~diverges
        total = int(diverges.sum())
        shares = counted["diverging"].to_numpy() / total
        others = counted["others"].to_numpy() / int(self.others.sum())
        self.positive = shares >= others
        self.shares = np.where(self.positive, shares, 1 - shares)
        self.rest = np.where(self.positive, others, 1 - others)
        gap = self.shares - self.rest
        #: Does the feature also separate steps of the same kind of state? Only then it adds to what the cluster says.
        within = np.zeros(len(names))
        if near.sum() >= _ENOUGH:
            closest = counted["near"].to_numpy() / int(near.sum())
            within = self.shares - np.where(self.positive, closest, 1 - closest)
        ranks = np.array([name.rank for name in names])
        many = np.bincount(ranks, minlength=PAST + 1)[ranks]
        likely = _tail(np.round(self.shares * total).astype(int), total, self.rest, int(self.others.sum())) * many
        self.candidates = np.flatnonzero((gap >= LEAST) & (likely <= _BY_CHANCE)).tolist()
        self.candidates.sort(key=lambda at: (-round((gap[at] + within[at] / 2) / 0.05), ranks[at], names[at].text))
        self._steps = table.groupby("feature")["step"]
        self._has: dict[int, Any] = {}

    def best(self) -> list[Separator]:
        """The sharpest and simplest feature, then what separates the steps that it leaves together."""
        if not self.candidates:
            return []
        chosen = [self.candidates[0]]
        left = self.others & self.has(chosen[0])
        while len(chosen) < BEST and left.sum() > _LITTLE * self.others.sum():
            following = self._next(left)
            if following is None:
                break
            chosen.append(following)
            left &= self.has(following)
        if not any(self.names[at].rank <= MEMBER for at in chosen):
            given = [at for at in self.candidates if self.names[at].rank <= MEMBER and self.shares[at] >= _MOST][:1]
            chosen = [*chosen[: BEST - len(given)], *given]
        return [self._separator(at) for at in chosen]

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
        gaps = {}
        for at in self.candidates[:_CANDIDATES]:
            share = self.has(at)[self.diverges].mean()
            gaps[at] = share - self.has(at)[left].mean() if share >= _MOST else 0.0
        best = max(gaps, key=lambda at: (round(gaps[at] / 0.05), -self.names[at].rank))
        return best if gaps[best] >= LEAST else None

    def _separator(self, at: int) -> Separator:
        name = self.names[at]
        text = name.text if self.positive[at] else name.opposite
        return Separator(text, float(self.shares[at]), float(self.rest[at]))


def _tail(hits: Any, total: int, share: Any, others: int) -> Any:
    """The chance that so many of ``total`` steps have a feature by mere chance, when others have it this often."""
    share = np.clip((share * others + 0.5) / (others + 1), 1e-9, 1 - 1e-9)
    counts = np.arange(total + 1)
    ways = np.array([lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1) for k in counts])
    logs = ways + np.outer(np.log(share), counts) + np.outer(np.log1p(-share), total - counts)
    return np.where(counts >= hits[:, None], np.exp(logs), 0.0).sum(axis=1)


def discriminated(campaign: Campaign, clusters: Iterable[Cluster]) -> list[tuple[Cluster, list[Separator]]]:
    """Clusters with what separates them."""
    found = Discriminator(campaign)
    return [(cluster, found.separators(cluster)) for cluster in clusters]
