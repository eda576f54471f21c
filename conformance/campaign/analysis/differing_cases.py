"""The cases in which two stored campaigns differ, as rows: at which step first, and what either side did there.

The first difference of a case is found in the stored divergences, by rebuilding its steps, or from verdicts alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from rocketmq_conformance.conformance.campaign.analysis.results import DIVERGING
from rocketmq_conformance.conformance.campaign.analysis.side import Side
from rocketmq_conformance.conformance.campaign.analysis.trace_difference import AGREED, trace_difference

#: What makes first differences alike: the operation of the step, A's kind of state, what either side did.
KIND = ["operation", "kind", "class_a", "class_b"]
#: Columns of what is found: the case, and the number of the step.
COLUMNS = ["case", "step", *KIND]


def by_divergences(of_a: pd.DataFrame, of_b: pd.DataFrame, cases: Any) -> pd.DataFrame:
    """The first differences of cases that one profile judged on both sides: the first divergence of either side.

    The divergences of either side are by case. Cases whose divergences do not show a difference have no row.
    """
    of_a, of_b = of_a.reindex(cases), of_b.reindex(cases)
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


def by_steps(a: Side, b: Side, cases: Iterable[int]) -> tuple[pd.DataFrame, dict[str, tuple[int, int]]]:
    """The first differences of cases, found by rebuilding the steps of both sides.

    Beside them, by reason, the first of the cases of which none is known, and how many there are.
    """
    rows, undecided = [], dict[str, tuple[int, int]]()
    for case in cases:
        difference = trace_difference(a.trace(case), b.trace(case))
        if isinstance(difference, str):
            first, times = undecided.get(difference, (case, 0))
            undecided[difference] = first, times + 1
        else:
            rows.append((case, *difference))
    return pd.DataFrame(rows, columns=COLUMNS), undecided


def by_verdict(of_a: pd.DataFrame, of_b: pd.DataFrame, cases: Any, verdicts_a: Any) -> pd.DataFrame:
    """The first differences of cases without digests that conform on one side and diverge on the other."""
    in_a = verdicts_a == DIVERGING
    return pd.concat(
        [_diverging(of_a, cases[in_a], "class_a", "class_b"), _diverging(of_b, cases[~in_a], "class_b", "class_a")]
    )


def _diverging(divergences: pd.DataFrame, cases: Any, mine: str, theirs: str) -> pd.DataFrame:
    divergences = divergences.reindex(cases).dropna(subset=["step"])
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
