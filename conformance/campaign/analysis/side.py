"""One side of a comparison: the cases of one suite on one address of a campaign, by number."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.analysis.rebuild import CaseFacts, Rebuilder, Trace
from rocketmq_conformance.conformance.campaign.analysis.results import (
    UNDECIDING,
    array,
    cases_of,
    results_of,
)
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, without_dictionaries
from rocketmq_conformance.reports.event import VERDICTS

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


class ComparedSide(ABC):
    """What a comparison asks of one side."""

    #: Divergences from the model, by case: of every case that diverges, or at least of those that are asked for.
    divergences: pd.DataFrame

    def __init__(self, campaign: Campaign, address: str, rebuilder: Rebuilder) -> None:
        self.campaign = campaign
        self.address = address
        self.rebuilder = rebuilder
        self.profile = campaign.profile(address).judged()

    @abstractmethod
    def case_facts(self, case: int) -> CaseFacts:
        """What the tables say of a case."""

    @abstractmethod
    def probes(self) -> list[CaseFacts]:
        """The first cases (as many as PROBES) that were decided and have a digest."""

    def trace(self, case: int) -> Trace:
        """The steps of a case, rebuilt."""
        return self.rebuilder.rebuild(self.case_facts(case))

    def rebuilds(self) -> bool:
        """Does this kit rebuild the campaign's cases? True when there is none to try."""
        tried = [self.rebuilder.is_reproducible(case) for case in self.probes()]
        return not tried or any(tried)

    def plans(self) -> list[int]:
        """What determines the plans of the suite's cases besides the seed: their length, and the operations offered."""
        suite = self.rebuilder.suite
        profile = self.campaign.planned
        return [self.campaign.steps or suite.steps, *suite.offered(profile)]


class CampaignSide(ComparedSide):
    """All cases of a suite on one address, as arrays in the order of their numbers."""

    def __init__(self, campaign: Campaign, suite: str, address: str) -> None:
        super().__init__(campaign, address, Rebuilder(campaign, suite, address))
        cases = cases_of(campaign, suite, address, ["steps"])
        self.results = results_of(cases)
        self._steps = array(cases["steps"])
        self._unsupported = cases["unsupported"]
        self.divergences = self._read_divergences(suite)
        rows = zip(self.divergences["step"].tolist(), self.divergences["observed"].tolist(), strict=True)
        self._first_divergence: dict[int, tuple[int, str]] = dict(
            zip(self.divergences.index.tolist(), rows, strict=True)
        )

    def _read_divergences(self, suite: str) -> pd.DataFrame:
        rows = self.campaign.read("divergences", suite=suite)
        mine = pc.and_(pc.equal(rows["address"], self.address), pc.equal(rows["against"], "model"))
        found = without_dictionaries(rows.filter(mine).select(["case", *DIVERGENCE])).to_pandas()
        return found.drop_duplicates("case").set_index("case").sort_index()

    def case_facts(self, case: int) -> CaseFacts:
        numbers, verdicts, digests, left_out = self.results
        at = int(np.searchsorted(numbers, case))
        return CaseFacts(
            case,
            VERDICTS[int(verdicts[at])],
            int(self._steps[at]),
            int(digests[at]),
            "",
            tuple(self._unsupported[at].as_py()) if left_out[at] else (),
            self._first_divergence.get(case),
        )

    def probes(self) -> list[CaseFacts]:
        found = self.results
        decided = np.flatnonzero((found.verdicts < UNDECIDING) & (found.digests != 0))[:PROBES]
        return [self.case_facts(int(case)) for case in found.numbers[decided]]
