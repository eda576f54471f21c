"""Coverage, counted batch by batch where the rows are, and added up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.analysis.coverage import Cell, answer_cells, count_cells
from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import analysing
from rocketmq_conformance.conformance.campaign.tables.behaviours import ANSWER

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames

_CELL = ("rule", "state_kind", "outcome")
_COUNTED = "suite string, address string, rule string, state_kind string, outcome string, cases bigint"


def coverage(frames: CampaignFrames) -> dict[tuple[str, str], list[list[Any]]]:
    """By suite and address: rows [rule, kind of state, outcome class, cases], sorted."""
    campaign = frames.campaign
    with analysing(frames.spark, campaign):
        cells: dict[str, dict[int, list[Cell]]] = defaultdict(dict)
        meanings = frames.rows("behaviours", ["id", "kind", "rules", "state_kind", "outcome"])
        for row in meanings.filter(sf.col("kind") == ANSWER).distinct().collect():
            cells[row.suite] |= answer_cells([row.asDict()])
        cases = frames.rows("cases", ["address", "answers"])
        counted = cases.mapInArrow(_counting(dict(cells)), _COUNTED)
        rows = counted.groupBy("suite", "address", *_CELL).agg(sf.sum("cases").alias("cases")).collect()
    found: dict[tuple[str, str], list[list[Any]]] = {
        (suite, address): [] for suite in campaign.suites for address in campaign.addresses
    }
    for row in rows:
        if (row.suite, row.address) in found:
            found[row.suite, row.address].append([row.rule, row.state_kind, row.outcome, row.cases])
    return {part: sorted(covered) for part, covered in found.items()}


def _counting(
    cells: dict[str, dict[int, list[Cell]]],
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The task: cases by suite, address and cell."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for suite, address, rows in parted(batch, "suite", "address"):
                numbered = rows.append_column("case", pa.array(np.arange(rows.num_rows, dtype=np.int64)))
                counted = count_cells(numbered, 0, rows.num_rows, cells.get(suite, {}))
                found = [
                    {"suite": suite, "address": address, **dict(zip(_CELL, cell, strict=True)), "cases": times}
                    for cell, times in counted.items()
                ]
                yield from pa.Table.from_pylist(found).to_batches()

    return count


def parted(batch: pa.RecordBatch, *names: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a batch by the values of some columns: these values, and a table."""
    table = pa.Table.from_batches([batch])
    for key in table.select(list(names)).group_by(list(names)).aggregate([]).to_pylist():
        mine = pc.and_(*(pc.equal(table[name], key[name]) for name in names))
        yield *(key[name] for name in names), table.filter(mine)
