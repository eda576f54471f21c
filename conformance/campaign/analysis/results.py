"""What the tables say of the cases of a suite on one address, and how the results of two sides relate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, without_dictionaries
from rocketmq_conformance.reports.event import DIVERGES, UNDECIDED, VERDICTS

#: What is known of a divergence from the model.
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
#: Codes of verdicts, their places in VERDICTS: that of a case that diverges, and the first one that decides nothing.
DIVERGING, UNDECIDING = VERDICTS.index(DIVERGES), VERDICTS.index(UNDECIDED)
#: How two results relate, where both sides decided: equal digests, other digests; without digests: the same verdict,
#: another one.
RELATIONS = UNDECIDED_PAIR, SAME, OTHER, SAME_VERDICT, OTHER_VERDICT = range(5)


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
    #: Each one of RELATIONS.
    relations: Any
    #: Did both sides play all of it?
    whole: Any
    #: Where the cases are in the results of either side.
    at_a: Any
    at_b: Any


def cases_of(campaign: Campaign, suite: str, address: str, blocks: Sequence[int], more: Sequence[str] = ()) -> pa.Table:
    """An address's cases of some blocks: their numbers, what is compared of them, and ``more`` columns."""
    columns = ["case", "verdict", "steps", "digest", "unsupported", *more]
    if len(campaign.addresses) == 1:
        return campaign.read("cases", columns, suite, blocks)
    rows = campaign.read("cases", [*columns, "address"], suite, blocks)
    return rows.filter(pc.equal(rows["address"], address)).select(columns)


def divergences_of(campaign: Campaign, suite: str, address: str, blocks: Sequence[int]) -> pa.Table:
    """An address's divergences from the model in some blocks: ``case`` and the columns of DIVERGENCE."""
    rows = campaign.read("divergences", ["case", "address", "against", *DIVERGENCE], suite, blocks)
    mine = pc.and_(pc.equal(rows["address"], address), pc.equal(rows["against"], "model"))
    return without_dictionaries(rows.filter(mine).select(["case", *DIVERGENCE]))


def results_of(rows: pa.Table, within: Sequence[int]) -> Results:
    """The results in rows of ``cases_of``, of the numbers from the first of ``within`` to before the second."""
    numbers = _array(rows["case"])
    if not np.all(numbers[:-1] <= numbers[1:]):
        rows = rows.take(pa.array(np.argsort(numbers, kind="stable")))
        numbers = _array(rows["case"])
    begin, end = np.searchsorted(numbers, within)
    rows = rows.slice(begin, end - begin)
    left_out = _array(pc.greater(pc.list_value_length(rows["unsupported"]), 0))
    return Results(numbers[begin:end], _codes(rows["verdict"]), _array(rows["digest"]), left_out)


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
        [np.int8(relation) for relation in (UNDECIDED_PAIR, SAME, OTHER, SAME_VERDICT)],
        np.int8(OTHER_VERDICT),
    )
    whole = ~(a.left_out[at_a] | b.left_out[at_b])
    return Pairs(numbers, verdicts_a, verdicts_b, relations, whole, at_a, at_b)


def _array(column: pa.ChunkedArray) -> Any:
    return column.combine_chunks().to_numpy(zero_copy_only=False)


def _codes(column: pa.ChunkedArray) -> Any:
    combined = column.combine_chunks()
    codes = np.array([VERDICTS.index(name) for name in combined.dictionary.to_pylist()], dtype=np.int8)
    return codes[combined.indices.to_numpy()] if len(codes) else np.zeros(0, np.int8)
