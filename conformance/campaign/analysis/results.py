"""The results of the cases of two sides as arrays, joined by number, and how those of either side relate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.reports.event import DIVERGES, UNDECIDED, VERDICTS

#: What is read of a case for its result.
COLUMNS = ("case", "verdict", "digest", "unsupported")
#: Codes of verdicts, their places in VERDICTS: that of a case that diverges, and the first one that decides nothing.
DIVERGING, UNDECIDING = VERDICTS.index(DIVERGES), VERDICTS.index(UNDECIDED)
#: How two results relate, where both sides decided: equal digests, other digests; without digests: the same verdict,
#: another one.
RELATIONS = UNDECIDED_PAIR, SAME, OTHER, SAME_VERDICT, OTHER_VERDICT = (
    "",
    "same",
    "other",
    "same verdict",
    "other verdict",
)


class Results(NamedTuple):
    """The results of cases, in the order of their numbers."""

    numbers: Any
    #: Codes of VERDICTS.
    verdicts: Any
    digests: Any
    #: Was something of the case left out?
    left_out: Any


@dataclass(frozen=True)
class Pairs:
    """The cases that both sides have."""

    numbers: Any
    verdicts_a: Any
    verdicts_b: Any
    #: Codes of RELATIONS.
    relations: Any
    #: Did both sides play all of it?
    whole: Any
    #: Where the cases are in the results of either side.
    at_a: Any
    at_b: Any

    def are(self, *relations: str) -> Any:
        """Which of them relate in one of these ways?"""
        return np.isin(self.relations, [RELATIONS.index(relation) for relation in relations])


def cases_of(
    campaign: Campaign, suite: str, address: str, more: Sequence[str] = (), block: Sequence[int] | None = None
) -> pa.Table:
    """An address's rows of cases, in the order of their numbers, with COLUMNS and ``more``; ``block`` selects."""
    if len(campaign.addresses) > 1:
        rows = campaign.read("cases", [*COLUMNS, *more, "address"], suite, block)
        rows = rows.filter(pc.equal(rows["address"], address))
    else:
        rows = campaign.read("cases", [*COLUMNS, *more], suite, block)
    numbers = array(rows["case"])
    if np.all(numbers[:-1] <= numbers[1:]):
        return rows
    return rows.take(pa.array(np.argsort(numbers, kind="stable")))


def results_of(rows: pa.Table) -> Results:
    """The results in rows of ``cases_of``."""
    return Results(
        array(rows["case"]),
        _codes(rows["verdict"]),
        array(rows["digest"]),
        array(pc.greater(pc.list_value_length(rows["unsupported"]), 0)),
    )


def paired(a: Results, b: Results) -> Pairs:
    """The cases of two sides, joined by number."""
    at_a: Any = slice(None)
    at_b: Any = slice(None)
    numbers = a.numbers
    if not np.array_equal(a.numbers, b.numbers):
        numbers, at_a, at_b = np.intersect1d(a.numbers, b.numbers, assume_unique=True, return_indices=True)
    verdicts_a, verdicts_b = a.verdicts[at_a], b.verdicts[at_b]
    digests_a, digests_b = a.digests[at_a], b.digests[at_b]
    decided = (verdicts_a < UNDECIDING) & (verdicts_b < UNDECIDING)
    digests = (digests_a != 0) & (digests_b != 0)
    relations = np.select(
        [~decided, digests & (digests_a == digests_b), digests, verdicts_a == verdicts_b],
        [np.int8(RELATIONS.index(relation)) for relation in (UNDECIDED_PAIR, SAME, OTHER, SAME_VERDICT)],
        np.int8(RELATIONS.index(OTHER_VERDICT)),
    )
    whole = ~(a.left_out[at_a] | b.left_out[at_b])
    return Pairs(numbers, verdicts_a, verdicts_b, relations, whole, at_a, at_b)


def array(column: pa.ChunkedArray) -> Any:
    """A column as an array."""
    return column.combine_chunks().to_numpy(zero_copy_only=False)


def _codes(column: pa.ChunkedArray) -> Any:
    combined = column.combine_chunks()
    codes = np.array([VERDICTS.index(name) for name in combined.dictionary.to_pylist()], dtype=np.int8)
    return codes[combined.indices.to_numpy()] if len(codes) else np.zeros(0, np.int8)
