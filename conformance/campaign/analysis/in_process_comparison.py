"""The comparison of the cases of one suite in this process, as arrays."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from rocketmq_conformance.conformance.campaign.analysis.differing_cases import (
    COLUMNS,
    by_divergences,
    by_steps,
    by_verdict,
)
from rocketmq_conformance.conformance.campaign.analysis.results import (
    OTHER,
    OTHER_VERDICT,
    SAME,
    SAME_VERDICT,
    UNDECIDING,
    paired,
)
from rocketmq_conformance.conformance.campaign.analysis.separating_features import CASES
from rocketmq_conformance.conformance.campaign.analysis.side import CampaignSide
from rocketmq_conformance.conformance.campaign.analysis.suite_comparison import (
    NOT_REBUILT,
    SEPARATED,
    DifferenceGroup,
    SuiteComparison,
    are_of_one_kit,
    incomparable,
    other_kit,
)
from rocketmq_conformance.reports.campaign_diff import SuiteDifference
from rocketmq_conformance.reports.event import VERDICTS


class InProcessComparison:
    """One suite of both campaigns."""

    def __init__(self, name: str, a: CampaignSide, b: CampaignSide) -> None:
        self.name = name
        self.same_kit = are_of_one_kit(a, b)
        self.a, self.b = a, b

    def compare(self, most: int) -> SuiteComparison:
        """The counts of the cases, and the groups of those that differ.

        ``most`` bounds the cases whose steps are rebuilt.
        """
        why = incomparable(self.name, self.a, self.b)
        if not why:
            rebuilds = self.a.rebuilds(), self.b.rebuilds()
            why = other_kit(self.name, rebuilds, self.same_kit)
        if why:
            return SuiteComparison(SuiteDifference(self.name, note=why))
        return self._compare(most, all(rebuilds))

    def _compare(self, most: int, rebuilds: bool) -> SuiteComparison:
        a, b = self.a, self.b
        pairs = paired(a.results, b.results)
        numbers = pairs.numbers
        decided_a, decided_b = pairs.verdicts_a < UNDECIDING, pairs.verdicts_b < UNDECIDING
        same, other_verdict, differing = pairs.are(SAME), pairs.are(OTHER_VERDICT), pairs.are(OTHER)
        rows, undecided, unseen = self._parted(numbers[differing], pairs.whole[differing], most, rebuilds)
        rows = pd.concat(
            [rows, by_verdict(a, b, numbers[other_verdict], pairs.verdicts_a[other_verdict])], ignore_index=True
        )
        for letter, mine, theirs, verdicts in (
            ("A", decided_a, decided_b, pairs.verdicts_a),
            ("B", decided_b, decided_a, pairs.verdicts_b),
        ):
            codes, times = np.unique(verdicts[~mine & theirs], return_counts=True)
            for code, number in zip(codes.tolist(), times.tolist(), strict=True):
                undecided[f"{VERDICTS[code]} in {letter}, decided in the other"] += number
        counted = SuiteDifference(
            suite=self.name,
            same=int(same.sum()),
            different=len(rows),
            not_looked_at=unseen,
            verdict_only=int(pairs.are(SAME_VERDICT).sum()),
            undecided=dict(undecided),
            neither=int((~decided_a & ~decided_b).sum()),
            only_a=len(a.results.numbers) - len(numbers),
            only_b=len(b.results.numbers) - len(numbers),
        )
        return SuiteComparison(counted, _groups(rows, rebuilds), numbers[same][:CASES].tolist(), rebuilds)

    def _parted(self, cases: Any, whole: Any, most: int, rebuilds: bool) -> tuple[pd.DataFrame, Counter[str], int]:
        """Where cases with other digests part; how many cannot be said to; how many were not looked at."""
        rows = pd.DataFrame(columns=COLUMNS)
        if self.a.profile == self.b.profile and self.same_kit:
            rows = by_divergences(self.a, self.b, cases[whole])
            cases = np.setdiff1d(cases, rows["case"].to_numpy(np.int64), assume_unique=True)
        if not rebuilds:
            return rows, Counter({NOT_REBUILT: len(cases)} if len(cases) else {}), 0
        first_differences = by_steps(self.a, self.b, cases[:most].tolist())
        first_differences.add(rows)
        return first_differences.rows, first_differences.undecided, max(0, len(cases) - most)


def _groups(rows: pd.DataFrame, rebuilds: bool) -> list[DifferenceGroup]:
    """The groups of first differences, the most frequent first."""
    key = ["operation", "kind", "class_a", "class_b"]
    grouped = rows.sort_values(["step", "case"]).groupby(key, sort=True)
    exemplars = grouped.head(1).set_index(key)
    sizes = grouped.size().sort_values(ascending=False, kind="stable")
    found = []
    for at, (parts, cases) in enumerate(sizes.items()):
        row = exemplars.loc[[parts]].iloc[0]
        chosen = grouped.get_group(parts).sort_values("case").head(CASES) if rebuilds and at < SEPARATED else rows[:0]
        some = list(zip(chosen["case"].tolist(), chosen["step"].tolist(), strict=True))
        found.append(DifferenceGroup(parts, int(cases), int(row["case"]), int(row["step"]), some))
    return found
