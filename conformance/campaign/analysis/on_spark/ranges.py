"""The cases of two folders, compared where they are: a task of Spark reads a range of numbers on both sides.

Blocks are ranges of numbers, so that nothing is sorted or sent: of a large campaign, most of whose cases are the same,
counts are all that leaves a task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from rocketmq_conformance.conformance.campaign.analysis.results import (
    OTHER,
    OTHER_VERDICT,
    RELATIONS,
    Results,
    cases_of,
    paired,
    results_of,
)
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, PlayedCampaign
from rocketmq_conformance.reports.event import VERDICTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames

#: Cases of a range, and ranges of a task.
SIZE, PER_TASK = 1 << 16, 16
_TYPES = {pa.string(): "string", pa.bool_(): "boolean", pa.int64(): "bigint"}
#: What leaves a task.
_COUNTED = pa.schema(
    [
        ("suite", pa.string()),
        ("verdict_a", pa.string()),
        ("verdict_b", pa.string()),
        ("relation", pa.string()),
        ("whole", pa.bool_()),
        ("case", pa.int64()),
        ("number", pa.int64()),
    ]
)
#: The same, as Spark writes it.
_SCHEMA = ", ".join(f"`{column.name}` {_TYPES[column.type]}" for column in _COUNTED)
#: What codes of verdicts and relations mean; a verdict beyond them all is that of no case.
_NAMES: tuple[Sequence[str | None], ...] = ([*VERDICTS, None], [*VERDICTS, None], RELATIONS)
_SIZES = tuple(len(names) for names in _NAMES)
_NO_CASE = len(VERDICTS)


class Range(NamedTuple):
    """Cases of a suite."""

    suite: str
    #: The first number, and the first one behind.
    begin: int
    end: int
    #: The finished blocks of either side that have some of them.
    blocks: tuple[list[int], list[int]]


def counted_in_ranges(
    frames: tuple[CampaignFrames, CampaignFrames], addresses: tuple[str, str], suites: Sequence[str]
) -> DataFrame:
    """What ``pairs.counted`` gives, of campaigns in folders."""
    ranges = [one for suite in suites for one in _ranges(suite, frames)]
    a, b = (
        (replace(one.campaign, folder=one.campaign.folder.absolute()), address)
        for one, address in zip(frames, addresses, strict=True)
    )
    tasks = max(1, -(-len(ranges) // PER_TASK))
    return frames[0].spark.range(0, len(ranges), 1, tasks).mapInArrow(_counting(ranges, a, b), _SCHEMA)


def _ranges(suite: str, frames: tuple[CampaignFrames, CampaignFrames]) -> Iterator[Range]:
    found: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for at, side in enumerate(frames):
        size = side.campaign.block
        for number in side.finished[suite]:
            for place in range(number * size // SIZE, -(-(number + 1) * size // SIZE)):
                found[place][at].append(number)
    for place, both in sorted(found.items()):
        yield Range(suite, place * SIZE, (place + 1) * SIZE, both)


def _counting(
    ranges: Sequence[Range], a: PlayedCampaign, b: PlayedCampaign
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The task: the rows of ranges, from their places in ``ranges``."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch["id"].to_pylist():
                one = ranges[place]
                yield from _counted(one, *(_results(one, *side, at) for at, side in enumerate((a, b)))).to_batches()

    return count


def _results(one: Range, campaign: Campaign, address: str, at: int) -> Results:
    """The results of a range on one side."""
    found = results_of(cases_of(campaign, one.suite, address, block=one.blocks[at]))
    begin, end = np.searchsorted(found.numbers, [one.begin, one.end])
    return Results(*(values[begin:end] for values in found))


def _counted(one: Range, a: Results, b: Results) -> pa.Table:
    """Rows of _COUNTED of a range: the counts, and then the cases that differ."""
    pairs = paired(a, b)
    apart = pairs.are(OTHER, OTHER_VERDICT)
    kinds = _kinds(pairs.verdicts_a, pairs.verdicts_b, pairs.relations)
    alone_a = _kinds(np.delete(a.verdicts, pairs.at_a), _NO_CASE, 0)
    alone_b = _kinds(_NO_CASE, np.delete(b.verdicts, pairs.at_b), 0)
    numbers = np.bincount(np.concatenate([kinds[~apart], alone_a, alone_b]))
    counted = np.flatnonzero(numbers)
    size, differing = len(counted), int(apart.sum())
    all_kinds = np.concatenate([counted, kinds[apart]])
    is_count = np.arange(size + differing) < size
    columns = [
        pa.repeat(one.suite, size + differing),
        *(pa.array(names).take(pa.array(codes)) for names, codes in zip(_NAMES, _parts(all_kinds), strict=True)),
        pa.array(np.concatenate([np.zeros(size, bool), pairs.whole[apart]]), mask=is_count),
        pa.array(np.concatenate([np.zeros(size, np.int64), pairs.numbers[apart]]), mask=is_count),
        pa.array(np.concatenate([numbers[counted], np.ones(differing, np.int64)])),
    ]
    return pa.Table.from_arrays(columns, schema=_COUNTED)


def _kinds(verdicts_a: Any, verdicts_b: Any, relations: Any) -> Any:
    """One number for either verdict and the relation."""
    return np.ravel_multi_index(np.broadcast_arrays(verdicts_a, verdicts_b, relations), _SIZES)


def _parts(kinds: Any) -> Any:
    return np.unravel_index(kinds, _SIZES)
