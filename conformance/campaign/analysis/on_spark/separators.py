"""Separating features: the cases that are looked at are chosen and fetched by Spark, those of all clusters together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.analysis.clusters import KEY, Cluster
from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import (
    Numbers,
    analysing,
    first_cases,
    first_of,
)
from rocketmq_conformance.conformance.campaign.analysis.on_spark.stored_cases import FetchedCases, FetchedSide
from rocketmq_conformance.conformance.campaign.analysis.rebuild import Trace
from rocketmq_conformance.conformance.campaign.analysis.separating_features import BLOCKS, CASES, SeparatorSearch
from rocketmq_conformance.reports.event import CONFORMS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames


class SparkSeparatorFinder(SeparatorSearch):
    """The search in rows that stay in Spark."""

    def __init__(self, frames: CampaignFrames, clusters: Sequence[Cluster]) -> None:
        """``clusters`` are those that may be asked for."""
        super().__init__()
        self._frames = frames
        self._diverging: dict[tuple[str, ...], dict[int, int]] = defaultdict(dict)
        self._agreeing: dict[tuple[str, str, str], list[int]] = {}
        self._sides: dict[tuple[str, str], FetchedSide] = {}
        with analysing(frames.spark, frames.campaign):
            if clusters:
                self._choose(clusters)
                for address in dict.fromkeys(one.address for one in clusters):
                    self._fetch(address, [one for one in clusters if one.address == address])

    def diverging(self, cluster: Cluster) -> dict[int, int]:
        return self._diverging[_key(cluster)]

    def conforming(self, cluster: Cluster) -> Sequence[int]:
        return self._agreeing[cluster.suite, cluster.address, cluster.against]

    def traces(self, cluster: Cluster, cases: Iterable[int]) -> Iterator[Trace]:
        side = self._sides[cluster.suite, cluster.address]
        return (side.trace(case) for case in sorted(cases) if side.has(case))

    def _choose(self, clusters: Sequence[Cluster]) -> None:
        """The smallest cases of every cluster, and of what agrees with what it differs from."""
        schema = ", ".join(f"{name} string" for name in KEY)
        keys = sf.broadcast(self._frames.spark.createDataFrame([_key(one) for one in clusters], schema))
        suites = list(dict.fromkeys(one.suite for one in clusters))
        rows = self._frames.rows("divergences", ["case", "step", *KEY], suites).join(keys, KEY, "left_semi")
        for *names, case, step in first_of(rows, KEY, CASES).select(*KEY, "case", "step").orderBy("case").collect():
            self._diverging[tuple(names)][case] = step
        for key, cases in self._diverging.items():
            blocks = sorted({case // self._frames.campaign.block for case in cases})[:BLOCKS]
            kept = {case: step for case, step in cases.items() if case // self._frames.campaign.block in blocks}
            self._diverging[key] = kept
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for suite, address, against in dict.fromkeys((one.suite, one.address, one.against) for one in clusters):
            groups[address, against].append(suite)
        for (address, against), some in groups.items():
            for suite, numbers in self._first_conforming(address, against, some).items():
                self._agreeing[suite, address, against] = numbers

    def _first_conforming(self, address: str, against: str, suites: list[str]) -> dict[str, list[int]]:
        """The smallest cases of an address that conform and do not differ from ``against``."""

        def choose(only: Numbers) -> DataFrame:
            cases = self._frames.rows("cases", ["case", "address", "verdict"], list(only), only)
            differing = self._frames.rows("divergences", ["case", "address", "against"], list(only), only)
            mine = differing.filter((sf.col("address") == address) & (sf.col("against") == against))
            good = cases.filter((sf.col("address") == address) & (sf.col("verdict") == CONFORMS))
            return good.join(mine, ["suite", "case"], "left_anti")

        return first_cases(self._frames, suites, CASES, choose)

    def _fetch(self, address: str, clusters: Sequence[Cluster]) -> None:
        chosen: dict[str, set[int]] = defaultdict(set)
        for one in clusters:
            chosen[one.suite].update(chain(self.diverging(one), self.conforming(one)))
        fetched = FetchedCases(self._frames, address, chosen)
        for suite in chosen:
            self._sides[suite, address] = FetchedSide(self._frames, suite, address)
            self._sides[suite, address].take(fetched)


def _key(cluster: Cluster) -> tuple[str, ...]:
    return cluster.suite, cluster.address, cluster.against, cluster.fingerprint
