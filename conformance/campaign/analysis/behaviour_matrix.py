"""The behaviours that each case of a block showed, as a matrix (cases × behaviours) or as a list of its true cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa


class Incidence(NamedTuple):
    """The matrix of cases and behaviours."""

    #: [cases of the range, behaviours]: did the case show it? A case's row is its number less ``begin``.
    shown: Any
    #: Ids of the behaviours, one per column; each is there once.
    ids: Any


class Occurrences(NamedTuple):
    """Every behaviour of every case, once; those of a behaviour are in the order of the cases."""

    #: The case, less ``begin``.
    at: Any
    #: Which of ``ids`` it showed.
    of: Any
    #: Ids of the behaviours; each is there once.
    ids: Any


def incidence(cases: pa.Table, begin: int, size: int, columns: Sequence[str]) -> Incidence:
    """The incidence of rows of ``cases``, all of them with numbers in ``[begin, begin + size)``.

    ``columns`` are those that hold behaviours, "answers" or "transitions". A case that was played on several
    addresses showed what it showed on any of them.
    """
    parts, ids = _encoded(cases, begin, columns)
    shown = np.zeros((size, len(ids)), dtype=bool)
    for at, of in parts:
        shown[at, of] = True
    return Incidence(shown, ids)


def occurrences(cases: pa.Table, begin: int, columns: Sequence[str]) -> Occurrences:
    """The same without a cell for what did not happen, which is most of it."""
    parts, ids = _encoded(cases, begin, columns)
    at, of = (np.concatenate(side) for side in zip(*parts, strict=True))
    # as a rule each of them is there once already, in order, and sorting would take longer than all the rest
    apart = all(one.max(initial=-1) < other.min(initial=len(ids)) for (_, one), (_, other) in pairwise(parts))
    if not apart or np.any(np.diff(_numbers(cases["case"])) <= 0):
        size = max(1, len(ids))
        keys = np.sort(at * size + of)
        at, of = np.divmod(keys[np.diff(keys, prepend=-1) > 0], size)
    return Occurrences(at, of, ids)


def _encoded(cases: pa.Table, begin: int, columns: Sequence[str]) -> tuple[list[tuple[Any, Any]], Any]:
    """Of every column the cases and which ids they showed, and the ids in the order in which they come first."""
    row = _numbers(cases["case"]) - begin
    rows, values = [], []
    for name in columns:
        lists = cases[name].combine_chunks()
        rows.append(np.repeat(row, np.diff(lists.offsets.to_numpy())))
        values.append(lists.flatten())
    behaviours = pa.concat_arrays(values).dictionary_encode()
    ends = np.cumsum([len(part) for part in rows])[:-1]
    return list(zip(rows, np.split(behaviours.indices.to_numpy(), ends), strict=True)), behaviours.dictionary.to_numpy()


def _numbers(column: pa.ChunkedArray) -> Any:
    return column.combine_chunks().to_numpy()
