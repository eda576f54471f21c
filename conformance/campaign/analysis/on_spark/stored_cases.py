"""What the tables say of chosen cases: with it a case is rebuilt anywhere, without reading the campaign's folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.analysis.on_spark.rebuilding import case_facts
from rocketmq_conformance.conformance.campaign.analysis.rebuild import STEP, CaseFacts, Rebuilder
from rocketmq_conformance.conformance.campaign.analysis.side import DIVERGENCE, ComparedSide

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames, Numbers

_CASE = ("verdict", "steps", "digest", "unsupported")
#: Chosen cases, by suite.
Chosen = Mapping[str, Collection[int]]


def blocks_of(frames: CampaignFrames, chosen: Chosen) -> dict[str, list[int]]:
    """The blocks that hold chosen cases."""
    return {suite: sorted({case // frames.campaign.block for case in cases}) for suite, cases in chosen.items()}


def keys(frames: CampaignFrames, chosen: Chosen) -> DataFrame:
    """Chosen cases as rows of ``suite`` and ``case``."""
    rows = [(suite, case) for suite, cases in chosen.items() for case in cases]
    return sf.broadcast(frames.spark.createDataFrame(rows, "suite string, case bigint"))


def divergences(frames: CampaignFrames, address: str, suites: Sequence[str], only: Numbers | None = None) -> DataFrame:
    """An address's divergences from the model: ``suite``, ``case`` and the columns of DIVERGENCE as ``divergence``."""
    rows = frames.rows("divergences", ["case", "address", "against", *DIVERGENCE], suites, only)
    mine = rows.filter((sf.col("address") == address) & (sf.col("against") == "model"))
    return mine.select("suite", "case", sf.struct(*DIVERGENCE).alias("divergence"))


def stored_cases(frames: CampaignFrames, address: str, cases: DataFrame, only: Numbers) -> DataFrame:
    """What is stored of ``cases`` (``suite`` and ``case``), all of them in the blocks ``only``.

    The columns are those of the table, ``divergence`` (null when there is none) and ``stored``, the rows of its steps.
    """
    suites, on = list(only), ["suite", "case"]
    found = frames.rows("cases", ["case", "address", *_CASE], suites, only).filter(sf.col("address") == address)
    steps = frames.rows("steps", ["case", "address", *STEP], suites, only).filter(sf.col("address") == address)
    rows = sf.collect_list(sf.struct(*STEP)).alias("stored")
    stored = steps.join(cases, on, "left_semi").groupBy(*on).agg(rows)
    found = found.drop("address").join(cases, on, "left_semi")
    return found.join(divergences(frames, address, suites, only), on, "left").join(stored, on, "left")


class FetchedCases:
    """Chosen cases on one address, fetched together."""

    def __init__(self, frames: CampaignFrames, address: str, chosen: Chosen) -> None:
        self._rows: dict[str, dict[int, dict[str, Any]]] = {suite: {} for suite in chosen}
        if any(chosen.values()):
            rows = stored_cases(frames, address, keys(frames, chosen), blocks_of(frames, chosen))
            for row in rows.collect():
                self._rows[row.suite][row.case] = row.asDict(recursive=True)

    def rows(self, suite: str) -> dict[int, dict[str, Any]]:
        """The rows of a suite, by case."""
        return self._rows.get(suite, {})


class FetchedSide(ComparedSide):
    """A side of which only the cases that are asked for are known."""

    def __init__(self, frames: CampaignFrames, suite: str, address: str) -> None:
        super().__init__(frames.campaign, address, Rebuilder(frames.campaign, suite, address, self._steps))
        self.suite = suite
        self._cases: dict[int, dict[str, Any]] = {}
        self._probes: list[int] = []
        self.divergences = pd.DataFrame()

    def take(self, fetched: FetchedCases) -> None:
        """Know the suite's cases among those that were fetched."""
        self._cases.update(fetched.rows(self.suite))
        diverging = {case: row["divergence"] for case, row in self._cases.items() if row["divergence"]}
        self.divergences = pd.DataFrame(
            list(diverging.values()), index=list(diverging), columns=list(DIVERGENCE), dtype=object
        )

    def probe(self, cases: Sequence[int], fetched: FetchedCases) -> None:
        """Know the cases that are tried."""
        self._probes = list(cases)
        self.take(fetched)

    def has(self, case: int) -> bool:
        """Is the case known?"""
        return case in self._cases

    def case_facts(self, case: int) -> CaseFacts:
        return case_facts(self._cases[case])

    def probes(self) -> list[CaseFacts]:
        return [self.case_facts(case) for case in self._probes]

    def _steps(self, case: int) -> list[dict[str, Any]]:
        return self._cases[case]["stored"] or []
