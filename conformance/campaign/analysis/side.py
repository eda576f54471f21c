"""One side of a comparison: the cases of one suite on one address of a campaign, by number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.analysis.rebuild import Rebuilder, StoredCase, Trace
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, without_dictionaries
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED, UNSUPPORTED

#: Verdicts by code.
VERDICTS = (CONFORMS, DIVERGES, UNDECIDED, COULD_NOT_RUN, UNSUPPORTED)
#: Codes: that of a case that diverges, and the first one that decides nothing.
DIVERGING, UNDECIDING = 1, 2
#: What is known of a divergence.
DIVERGENCE = (
    "step",
    "operation",
    "state_kind",
    "expected_class",
    "observed_class",
    "expected",
    "observed",
    "rules",
)
#: Cases that are rebuilt to see whether this kit can.
PROBES = 3


class Side(ABC):
    """What a comparison asks of one side."""

    #: Divergences from the model, by case: of every case that diverges, or at least of those that are asked for.
    divergences: pd.DataFrame

    def __init__(self, campaign: Campaign, address: str, rebuilder: Rebuilder) -> None:
        self.campaign = campaign
        self.address = address
        self.rebuilder = rebuilder
        self.profile = campaign.profile(address).judged()

    @abstractmethod
    def stored_case(self, case: int) -> StoredCase:
        """What the tables say of a case."""

    @abstractmethod
    def probes(self) -> list[StoredCase]:
        """The first cases (as many as PROBES) that were decided and have a digest."""

    def trace(self, case: int) -> Trace:
        """The steps of a case, rebuilt."""
        return self.rebuilder.rebuild(self.stored_case(case))

    def rebuilds(self) -> bool:
        """Does this kit rebuild the campaign's cases? True when there is none to try."""
        tried = [self.rebuilder.is_reproducible(case) for case in self.probes()]
        return not tried or any(tried)

    def plans(self) -> list[int]:
        """What determines the plans of the suite's cases besides the seed: their length, and the operations offered."""
        suite = self.rebuilder.suite
        profile = self.campaign.planned
        return [self.campaign.steps or suite.steps, *suite.offered(profile)]


class CampaignSide(Side):
    """All cases of a suite on one address, as arrays in the order of their numbers."""

    def __init__(self, campaign: Campaign, suite: str, address: str) -> None:
        super().__init__(campaign, address, Rebuilder(campaign, suite, address))
        cases = campaign.read("cases", ["case", "address", "verdict", "digest", "steps", "unsupported"], suite)
        if len(campaign.addresses) > 1:
            cases = cases.filter(pc.equal(cases["address"], address))
        #: Numbers of the cases, ascending.
        self.numbers = _array(cases["case"])
        #: Codes of VERDICTS.
        self.verdicts = _codes(cases["verdict"])
        self.digests = _array(cases["digest"])
        self._steps = _array(cases["steps"])
        self._unsupported = cases["unsupported"]
        #: Was something of the case left out?
        self.left_out = _array(pc.greater(pc.list_value_length(cases["unsupported"]), 0))
        if np.any(np.diff(self.numbers) < 0):
            self._sort()
        self.divergences = self._read_divergences(suite)
        told = zip(self.divergences["step"].tolist(), self.divergences["observed"].tolist(), strict=True)
        self._told: dict[int, tuple[int, str]] = dict(zip(self.divergences.index.tolist(), told, strict=True))

    def _sort(self) -> None:
        order = np.argsort(self.numbers, kind="stable")
        for name in ("numbers", "verdicts", "digests", "_steps", "left_out"):
            setattr(self, name, getattr(self, name)[order])
        self._unsupported = self._unsupported.take(pa.array(order))

    def _read_divergences(self, suite: str) -> pd.DataFrame:
        rows = self.campaign.read("divergences", suite=suite)
        mine = pc.and_(pc.equal(rows["address"], self.address), pc.equal(rows["against"], "model"))
        found = without_dictionaries(rows.filter(mine).select(["case", *DIVERGENCE])).to_pandas()
        return found.drop_duplicates("case").set_index("case").sort_index()

    def stored_case(self, case: int) -> StoredCase:
        at = int(np.searchsorted(self.numbers, case))
        return StoredCase(
            case,
            VERDICTS[int(self.verdicts[at])],
            int(self._steps[at]),
            int(self.digests[at]),
            "",
            tuple(self._unsupported[at].as_py()) if self.left_out[at] else (),
            self._told.get(case),
        )

    def probes(self) -> list[StoredCase]:
        decided = np.flatnonzero((self.verdicts < UNDECIDING) & (self.digests != 0))[:PROBES]
        return [self.stored_case(int(case)) for case in self.numbers[decided]]


def _array(column: pa.ChunkedArray) -> Any:
    return column.combine_chunks().to_numpy(zero_copy_only=False)


def _codes(column: pa.ChunkedArray) -> Any:
    combined = column.combine_chunks()
    codes = np.array([VERDICTS.index(name) for name in combined.dictionary.to_pylist()], dtype=np.int8)
    return codes[combined.indices.to_numpy()] if len(codes) else np.zeros(0, np.int8)
