"""Coverage of a campaign: in how many cases which rule met which kind of state and answered in which class."""

from __future__ import annotations

from collections import Counter
from functools import partial
from operator import iadd, or_
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.analysis.behaviour_matrix import incidence
from rocketmq_conformance.conformance.campaign.analysis.parts import IN_PROCESS, Engine, Part, parts_of
from rocketmq_conformance.conformance.campaign.tables.behaviours import ANSWER
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign

#: Rule, kind of state and outcome class.
Cell = tuple[str, str, str]
#: The cell of behaviours whose meaning no block stores: the player that met them first died before that.
UNKNOWN: Cell = ("?", "?", "?")


def coverage(campaign: Campaign, engine: Engine = IN_PROCESS) -> dict[tuple[str, str], list[list[Any]]]:
    """By suite and address: rows [rule, kind of state, outcome class, cases], sorted."""
    explained = (Part(suite, (campaign.explained(suite),)) for suite in campaign.suites)
    cells = engine.by_suite([campaign], explained, ["behaviours"], _cells, or_)
    parts = parts_of(campaign, engine.size)
    counted = engine.by_suite([campaign], parts, ["cases"], partial(_count, cells=cells), iadd)
    found: dict[tuple[str, str], list[list[Any]]] = {
        (suite, address): [] for suite in campaign.suites for address in campaign.addresses
    }
    for suite, counts in counted.items():
        for (address, cell), times in sorted(counts.items()):
            found[suite, address].append([*cell, times])
    return found


def _cells(part: Part, campaign: Campaign) -> dict[int, list[Cell]]:
    """The cells of every answer, one per rule."""
    rows = campaign.read("behaviours", ["id", "kind", "rules", "state_kind", "outcome"], part.suite, part.blocks[0])
    return {
        row["id"]: [(rule, row["state_kind"], row["outcome"]) for rule in row["rules"]]
        for row in rows.filter(pc.equal(rows["kind"], ANSWER)).to_pylist()
    }


def _count(part: Part, campaign: Campaign, cells: dict[str, dict[int, list[Cell]]]) -> Counter[tuple[str, Cell]]:
    """Cases by address and cell."""
    found: Counter[tuple[str, Cell]] = Counter()
    for block in part.blocks[0]:
        cases = campaign.read("cases", ["case", "address", "answers"], part.suite, block)
        for address in campaign.addresses:
            played = cases.filter(pc.equal(cases["address"], address))
            counted = _in_block(played, block * campaign.block, campaign.block, cells.get(part.suite, {}))
            found.update({(address, cell): times for cell, times in counted.items()})
    return found


def _in_block(cases: pa.Table, begin: int, size: int, cells: dict[int, list[Cell]]) -> dict[Cell, int]:
    """Cases per cell, of rows with numbers in ``[begin, begin + size)``.

    A case that reached a cell by several answers counts once.
    """
    shown, ids = incidence(cases, begin, size, ("answers",))
    columns: dict[Cell, list[int]] = {}
    for column, behaviour in enumerate(ids.tolist()):
        for cell in cells.get(behaviour, [UNKNOWN]):
            columns.setdefault(cell, []).append(column)
    if not columns:
        return {}
    order = [column for together in columns.values() for column in together]
    starts = np.cumsum([0, *map(len, columns.values())])[:-1]
    reached = np.logical_or.reduceat(shown[:, order], starts, axis=1).sum(axis=0)
    return dict(zip(columns, reached.tolist(), strict=True))
