"""What the cases of a suite on two sides show when they are compared: those of a range of numbers, and all together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rocketmq_conformance.conformance.campaign.analysis.differing_cases import (
    KIND,
    by_divergences,
    by_steps,
    by_verdict,
)
from rocketmq_conformance.conformance.campaign.analysis.parts import SAMPLE, Kind, Part, joined, kinds, smallest
from rocketmq_conformance.conformance.campaign.analysis.results import (
    OTHER,
    OTHER_VERDICT,
    RELATIONS,
    SAME,
    UNDECIDING,
    Results,
    cases_of,
    divergences_of,
    paired,
    results_of,
)
from rocketmq_conformance.conformance.campaign.analysis.side import known
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.reports.event import VERDICTS

#: Cases of either side that are rebuilt to see whether this kit can.
PROBES = 3
#: The verdict of a case that a side does not have.
NO_CASE = len(VERDICTS)
_SIZES = (NO_CASE + 1, NO_CASE + 1, len(RELATIONS))
#: Operation, A's kind of state, the class of what A did, and of what B did.
Parts = tuple[str, str, str, str]


@dataclass(frozen=True, kw_only=True)
class DifferenceGroup(Kind):
    """Cases that part in the same operation and kind of state, with results of the same classes."""

    parts: Parts


@dataclass
class Compared:
    """Cases of one suite on two sides."""

    #: How many, by the verdict of A, that of B and their relation.
    counts: Any = field(default_factory=lambda: np.zeros(_SIZES, np.int64))
    groups: dict[Parts, DifferenceGroup] = field(default_factory=dict)
    #: The smallest that are the same on both sides.
    same: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    #: How many have other digests of which nothing that is stored says where they part, and the smallest of them.
    unknown: int = 0
    parting: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    #: Those that were rebuilt and do not say it either: by reason the first one, and how many.
    reasons: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: Of either side the smallest that were decided and have a digest.
    probes: tuple[Any, Any] = field(default_factory=lambda: (np.zeros(0, np.int64), np.zeros(0, np.int64)))

    def joined(self, other: Compared, most: int) -> Compared:
        """Those of another part as well; ``most`` bounds those that are to be rebuilt."""
        self.counts += other.counts
        joined(self.groups, other.groups, DifferenceGroup.joined)
        self.same = smallest(self.same, other.same, SAMPLE)
        self.unknown += other.unknown
        self.parting = smallest(self.parting, other.parting, most)
        joined(self.reasons, other.reasons, lambda one, more: (min(one[0], more[0]), one[1] + more[1]))
        one, two = (smallest(*both, PROBES) for both in zip(self.probes, other.probes, strict=True))
        self.probes = one, two
        return self


def compare_range(
    part: Part, a: Campaign, b: Campaign, addresses: tuple[str, str], one_profile: bool, most: int
) -> Compared:
    """Compare the cases of a range.

    ``one_profile``: did the same rules judge both sides? Then the first divergence of either says where two part.
    """
    suite = part.suite
    in_a, in_b = zip(addresses, part.blocks, strict=True)
    of_a = results_of(cases_of(a, suite, *in_a), part.cases)
    of_b = results_of(cases_of(b, suite, *in_b), part.cases)
    pairs = paired(of_a, of_b)
    numbers = pairs.numbers
    other, other_verdict = pairs.relations == OTHER, pairs.relations == OTHER_VERDICT
    parting = numbers[other]
    found = Compared(probes=(_probes(of_a), _probes(of_b)), same=numbers[pairs.relations == SAME][:SAMPLE])
    for verdicts_a, verdicts_b, relations in (
        (pairs.verdicts_a, pairs.verdicts_b, pairs.relations),
        (np.delete(of_a.verdicts, pairs.at_a), NO_CASE, 0),
        (NO_CASE, np.delete(of_b.verdicts, pairs.at_b), 0),
    ):
        kinds = np.ravel_multi_index(np.broadcast_arrays(verdicts_a, verdicts_b, relations), _SIZES)
        found.counts += np.bincount(kinds, minlength=found.counts.size).reshape(_SIZES)
    if (one_profile and len(parting)) or other_verdict.any():
        by_a, by_b = _by_case(divergences_of(a, suite, *in_a)), _by_case(divergences_of(b, suite, *in_b))
        rows = [by_verdict(by_a, by_b, numbers[other_verdict], pairs.verdicts_a[other_verdict])]
        if one_profile:
            rows.append(by_divergences(by_a, by_b, numbers[other & pairs.whole]))
            parting = np.setdiff1d(parting, rows[-1]["case"].to_numpy(np.int64), assume_unique=True)
        found.groups = _groups(rows)
    found.unknown, found.parting = len(parting), parting[:most]
    return found


def compare_steps(part: Part, a: Campaign, b: Campaign, addresses: tuple[str, str]) -> Compared:
    """Compare the steps of chosen cases."""
    rows, reasons = by_steps(known(part, 0, a, addresses[0]), known(part, 1, b, addresses[1]), part.cases)
    return Compared(groups=_groups([rows]), reasons=reasons)


def _probes(found: Results) -> Any:
    # the smallest are looked for first where they are as a rule
    for some in (slice(100), slice(None)):
        decided = np.flatnonzero((found.verdicts[some] < UNDECIDING) & (found.digests[some] != 0))[:PROBES]
        if len(decided) == PROBES:
            break
    return found.numbers[decided]


def _by_case(divergences: pa.Table) -> pd.DataFrame:
    return divergences.to_pandas().drop_duplicates("case").set_index("case").sort_index()


def _groups(rows: Sequence[pd.DataFrame]) -> dict[Parts, DifferenceGroup]:
    """First differences by group."""
    found = pd.concat([some for some in rows if len(some)] or rows[:1], ignore_index=True)
    return {
        parts: DifferenceGroup(parts=parts, **vars(kind))
        for parts, kind in ((tuple(found.loc[at, KIND]), kind) for at, kind in kinds(found, KIND))
    }


def total(counts: Any, in_a: Iterable[int], in_b: Iterable[int]) -> int:
    """Cases with one of some verdicts in A, and one of some in B."""
    return int(counts[np.ix_(list(in_a), list(in_b))].sum())
