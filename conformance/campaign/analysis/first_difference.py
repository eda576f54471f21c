"""Parting: the first step at which two sides did different things with the same plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from rocketmq_conformance.conformance.campaign.analysis.rebuild import Trace
from rocketmq_conformance.conformance.campaign.analysis.side import DIVERGING, Half
from rocketmq_conformance.models.outcome import UNDEFINED, agrees, outcome_class

#: Columns of what is found: the case, the number of the step, its operation, A's kind of state, what either side did.
COLUMNS = ["case", "step", "operation", "kind", "class_a", "class_b"]
#: Class of what a side did that agreed with its rules, where results depend on the time of the run.
AGREED = "as expected"
LEFT_OPEN = "the two differ in nothing but what the rules leave open"
CUT_SHORT = "the same as far as both were played"
LEFT_OUT = "the same up to a step that one of the two does not offer"


@dataclass
class Parted:
    """Where cases part, and how many cannot be said to."""

    #: One row per case, with COLUMNS.
    rows: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=COLUMNS))
    undecided: Counter[str] = field(default_factory=Counter)

    def add(self, rows: pd.DataFrame) -> None:
        """Add rows."""
        if len(rows):
            self.rows = pd.concat([self.rows, rows], ignore_index=True) if len(self.rows) else rows


def by_divergences(a: Half, b: Half, cases: Any) -> pd.DataFrame:
    """Where cases part that one profile judged on both sides: at the first divergence of either from the model.

    Cases of which the stored divergences do not say it have no row.
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


def by_steps(a: Half, b: Half, cases: Iterable[int]) -> Parted:
    """Where cases part, found by rebuilding both sides step by step."""
    found = Parted()
    rows = []
    for case in cases:
        trace_a, trace_b = a.trace(case), b.trace(case)
        at, why = _parting(trace_a, trace_b)
        if at is None:
            found.undecided[why] += 1
            continue
        one, other = trace_a.steps[at], trace_b.steps[at]
        name = trace_a.suite.operations[one.row[0]].spec.name
        classes = outcome_class(one.observed), outcome_class(other.observed)
        rows.append((case, at + 1, name, one.why.kind, *classes))
    found.add(pd.DataFrame(rows, columns=COLUMNS))
    return found


def _parting(a: Trace, b: Trace) -> tuple[int | None, str]:
    """The position of the first step that differs, or why there is none."""
    for letter, trace in (("A", a), ("B", b)):
        if not trace.steps:
            return None, f"{trace.missing} ({letter})"
    left_open = False
    for at, (one, other) in enumerate(zip(a.steps, b.steps, strict=False)):
        if one.row != other.row:
            return None, LEFT_OUT
        if UNDEFINED in (one.observed, other.observed):
            left_open = True
        elif not agrees(one.observed, other.observed):
            return at, ""
    return None, LEFT_OPEN if left_open else CUT_SHORT


def by_verdict(a: Half, b: Half, cases: Any, verdicts_a: Any) -> pd.DataFrame:
    """Cases without digests that conform on one side and diverge on the other: where that one diverges."""
    in_a = cases[verdicts_a == DIVERGING]
    in_b = cases[verdicts_a != DIVERGING]
    return pd.concat([_diverging(a, in_a, "class_a", "class_b"), _diverging(b, in_b, "class_b", "class_a")])


def _diverging(half: Half, cases: Any, mine: str, theirs: str) -> pd.DataFrame:
    told = half.divergences.reindex(cases).dropna(subset=["step"])
    return pd.DataFrame(
        {
            "case": told.index.to_numpy(np.int64),
            "step": told["step"].to_numpy(np.int64),
            "operation": told["operation"].to_numpy(),
            "kind": told["state_kind"].to_numpy(),
            mine: told["observed_class"].to_numpy(),
            theirs: AGREED,
        }
    )[COLUMNS]
