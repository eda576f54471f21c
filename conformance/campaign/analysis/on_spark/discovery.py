"""Discovery: behaviours counted batch by batch where the rows are; the driver gets them by suite and arm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.analysis.behaviour_matrix import occurrences
from rocketmq_conformance.conformance.campaign.analysis.discovery import (
    BEHAVIOURS,
    BehaviourCounter,
    count_occurrences,
)
from rocketmq_conformance.conformance.campaign.analysis.on_spark.coverage import parted
from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import analysing
from rocketmq_conformance.reports import event

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames

_COUNTED = "suite string, arm string, id bigint, times bigint, first bigint"
#: Suite and arm.
_Part = tuple[str, str]
_Bits = dict[int, tuple[Any, int]]


def discovery(frames: CampaignFrames) -> list[event.Discovery]:
    """What the cases of a campaign showed, by suite and arm."""
    counter = BehaviourCounter(frames.campaign.suites, frames.campaign.block)
    with analysing(frames.spark, frames.campaign):
        behaviours = _behaviours(frames, counter)
        touched = {int(place) for rows in behaviours.values() for place in rows["first"] // frames.campaign.block}
        blocks = _blocks(frames, counter, {place * frames.campaign.block for place in touched})
    for part, counted in blocks.items():
        rows = behaviours.get(part) or dict.fromkeys(("id", "times", "first"), np.zeros(0, np.int64))
        counter.merge(*part, rows["id"], rows["times"], rows["first"], counted)
    return counter.results()


def _behaviours(frames: CampaignFrames, counter: BehaviourCounter) -> dict[_Part, dict[str, Any]]:
    """By suite and arm: behaviours, how many cases showed each, and the place of the first of them."""
    cases = _judged(frames, *BEHAVIOURS)
    if len(frames.campaign.addresses) > 1:  # a case counts once, whatever address showed the behaviour
        together = [sf.array_distinct(sf.flatten(sf.collect_list(name))).alias(name) for name in BEHAVIOURS]
        cases = cases.groupBy("suite", "arm", "case").agg(*together)
    block = frames.campaign.block
    starts = {suite: counter.place(suite, 0) for suite in frames.campaign.suites}
    stride = block * len(starts)
    counted = cases.mapInArrow(_counting(starts, block, stride), _COUNTED)
    counted = counted.groupBy("suite", "arm", "id").agg(sf.sum("times").alias("times"), sf.min("first").alias("first"))
    table = counted.toArrow()
    found: dict[_Part, dict[str, Any]] = {}
    for batch in table.to_batches():
        for suite, arm, rows in parted(batch, "suite", "arm"):
            columns = {name: rows[name].to_numpy() for name in ("id", "times", "first")}
            before = found.get((suite, arm))
            found[suite, arm] = (
                {name: np.concatenate([before[name], column]) for name, column in columns.items()}
                if before
                else columns
            )
    return found


def _judged(frames: CampaignFrames, *columns: str) -> DataFrame:
    return frames.rows("cases", ["case", "arm", "steps", *columns]).filter(sf.col("steps") > 0).drop("steps")


def _counting(
    starts: Mapping[str, int], block: int, stride: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The task: of every behaviour how many cases showed it, and the place of the first; every case is in one row."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for suite, arm, rows in parted(batch, "suite", "arm"):
                rows = rows.sort_by("case")
                numbers = rows["case"].to_numpy()
                places = starts[suite] + numbers // block * stride + numbers % block
                order = pa.array(np.arange(rows.num_rows, dtype=np.int64))
                at, of, ids = occurrences(
                    rows.set_column(rows.column_names.index("case"), "case", order), 0, BEHAVIOURS
                )
                times, first = count_occurrences(at, of, len(ids))
                columns = {"id": ids, "times": times, "first": places[first]}
                found = pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})
                found = found.add_column(0, "arm", pa.repeat(arm, len(ids)))
                yield from found.add_column(0, "suite", pa.repeat(suite, len(ids))).to_batches()

    return count


def _blocks(frames: CampaignFrames, counter: BehaviourCounter, touched: set[int]) -> dict[_Part, _Bits]:
    """The blocks by suite and arm: how many of their cases count; and which of them, of the ``touched`` places."""
    size = frames.campaign.block
    block = sf.floor(sf.col("case") / sf.lit(size)).alias("block")
    offset = sf.col("case") % sf.lit(size)
    cases = _judged(frames)
    if len(frames.campaign.addresses) > 1:
        cases = cases.distinct()
    counted = cases.groupBy("suite", "arm", block).agg(sf.count("*").alias("count"), sf.max(offset).alias("last"))
    found: dict[_Part, _Bits] = defaultdict(dict)
    holes: dict[str, list[int]] = defaultdict(list)
    nothing = np.packbits(np.zeros(size, dtype=bool))
    for suite, arm, number, count, last in counted.toLocalIterator():
        place = counter.place(suite, number)
        bits = nothing
        if place in touched and last + 1 == count:
            bits = np.packbits(np.arange(size) < count)
        elif place in touched:
            holes[suite].append(number)
        found[suite, arm][place] = bits, count
    if holes:
        some = frames.rows("cases", ["case", "arm", "steps"], list(holes), holes).filter(sf.col("steps") > 0)
        sets = some.groupBy("suite", "arm", block).agg(sf.collect_set(offset).alias("offsets"))
        for suite, arm, number, offsets in sets.toLocalIterator():
            counting = np.zeros(size, dtype=bool)
            counting[offsets] = True
            found[suite, arm][counter.place(suite, number)] = np.packbits(counting), int(counting.sum())
    return dict(found)
