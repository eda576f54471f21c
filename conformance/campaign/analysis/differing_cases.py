"""The cases in which two stored campaigns differ, as rows: at which step first, and what either side did there.

The first difference of a case is found in the stored divergences, by rebuilding its steps, or from verdicts alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from rocketmq_conformance.conformance.campaign.analysis.results import DIVERGING
from rocketmq_conformance.conformance.campaign.analysis.side import CampaignSide, ComparedSide
from rocketmq_conformance.conformance.campaign.analysis.trace_difference import AGREED, trace_difference

#: Columns of what is found: the case, the number of the step, its operation, A's kind of state, what either side did.
COLUMNS = ["case", "step", "operation", "kind", "class_a", "class_b"]


@dataclass
class FirstDifferences:
    """The first differences of cases, and how many cases are undecided, by reason."""

    #: One row per case, with COLUMNS.
    rows: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=COLUMNS))
    undecided: Counter[str] = field(default_factory=Counter)

    def add(self, rows: pd.DataFrame) -> None:
        """Add rows."""
        if len(rows):
            self.rows = pd.concat([self.rows, rows], ignore_index=True) if len(self.rows) else rows


def by_divergences(a: CampaignSide, b: CampaignSide, cases: Any) -> pd.DataFrame:
    """The first differences of cases that one profile judged on both sides: the first divergence of either side.

    Cases whose stored divergences do not show a difference have no row.
    """
    of_a, of_b = a.divergences.reindex(cases), b.divergences.reindex(cases)
    step_a, step_b = of_a["step"].fillna(np.inf), of_b["step"].fillna(np.inf)
    only_a, only_b = step_a < step_b, step_b < step_a
    both = (step_a == step_b) & np.isfinite(step_a) & (of_a["observed"] != of_b["observed"])
    rows = pd.DataFrame(
        {
            "case": cases,
            "step": np.minimum(step_a, step_b).to_numpy(),
            "operation": of_a["operation"].where(~only_b, of_b["operation"]).to_numpy(),
            "kind": of_a["state_kind"].where(~only_b, of_b["state_kind"]).to_numpy(),
            "class_a": of_a["observed_class"].where(~only_b, of_b["expected_class"]).to_numpy(),
            "class_b": of_b["observed_class"].where(~only_a, of_a["expected_class"]).to_numpy(),
        }
    )
    return rows[(only_a | only_b | both).to_numpy()].astype({"step": np.int64})


def by_steps(a: ComparedSide, b: ComparedSide, cases: Iterable[int]) -> FirstDifferences:
    """The first differences of cases, found by rebuilding the steps of both sides."""
    found = FirstDifferences()
    rows = []
    for case in cases:
        difference = trace_difference(a.trace(case), b.trace(case))
        if isinstance(difference, str):
            found.undecided[difference] += 1
        else:
            rows.append((case, *difference))
    found.add(pd.DataFrame(rows, columns=COLUMNS))
    return found


def by_verdict(a: CampaignSide, b: CampaignSide, cases: Any, verdicts_a: Any) -> pd.DataFrame:
    """The first differences of cases without digests that conform on one side and diverge on the other."""
    in_a = cases[verdicts_a == DIVERGING]
    in_b = cases[verdicts_a != DIVERGING]
    return pd.concat([_diverging(a, in_a, "class_a", "class_b"), _diverging(b, in_b, "class_b", "class_a")])


def _diverging(side: CampaignSide, cases: Any, mine: str, theirs: str) -> pd.DataFrame:
    divergences = side.divergences.reindex(cases).dropna(subset=["step"])
    return pd.DataFrame(
        {
            "case": divergences.index.to_numpy(np.int64),
            "step": divergences["step"].to_numpy(np.int64),
            "operation": divergences["operation"].to_numpy(),
            "kind": divergences["state_kind"].to_numpy(),
            mine: divergences["observed_class"].to_numpy(),
            theirs: AGREED,
        }
    )[COLUMNS]
