"""Coverage of a campaign: in how many cases which rule met which kind of state and answered in which class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.campaign.analysis.behaviour_matrix import incidence
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign

#: Rule, kind of state and outcome class.
Cell = tuple[str, str, str]
#: The cell of behaviours whose meaning no block stores: the player that met them first died before that.
UNKNOWN: Cell = ("?", "?", "?")


def coverage(campaign: Campaign) -> dict[tuple[str, str], list[list[Any]]]:
    """By suite and address: rows [rule, kind of state, outcome class, cases], sorted."""
    return {(suite, address): rows for suite in campaign.suites for address, rows in _suite(campaign, suite).items()}


def _suite(campaign: Campaign, suite: str) -> dict[str, list[list[Any]]]:
    behaviours = campaign.read("behaviours", ["id", "kind", "rules", "state_kind", "outcome"], suite)
    cells = answer_cells(behaviours.to_pylist())
    counted: dict[str, Counter[Cell]] = {address: Counter() for address in campaign.addresses}
    for block in campaign.finished(suite):
        cases = campaign.read("cases", ["case", "address", "answers"], suite, block)
        for address, counter in counted.items():
            played = cases.filter(pc.equal(cases["address"], address))
            counter.update(count_cells(played, block * campaign.block, campaign.block, cells))
    return {
        address: [[*cell, times] for cell, times in sorted(counter.items())] for address, counter in counted.items()
    }


def answer_cells(behaviours: Iterable[Mapping[str, Any]]) -> dict[int, list[Cell]]:
    """The cells of every answer among rows of ``behaviours``, one per rule."""
    return {
        row["id"]: [(rule, row["state_kind"], row["outcome"]) for rule in row["rules"]]
        for row in behaviours
        if row["kind"] == "answer"
    }


def count_cells(cases: pa.Table, begin: int, size: int, cells: dict[int, list[Cell]]) -> dict[Cell, int]:
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
