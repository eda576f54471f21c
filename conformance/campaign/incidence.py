"""Incidence: which case of a block showed which behaviours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa


class Incidence(NamedTuple):
    """Cases against behaviours."""

    #: [cases of the range, behaviours]: did the case show it? A case's row is its number less ``begin``.
    shown: Any
    #: Ids of the behaviours, one per column; each is there once.
    ids: Any


def incidence(cases: pa.Table, begin: int, size: int, columns: Sequence[str]) -> Incidence:
    """The incidence of rows of ``cases``, all of them with numbers in ``[begin, begin + size)``.

    ``columns`` are those that hold behaviours, "answers" or "transitions". A case that was played on several
    addresses showed what it showed on any of them.
    """
    row = _numbers(cases["case"]) - begin
    rows, values = [], []
    for name in columns:
        lists = cases[name].combine_chunks()
        rows.append(np.repeat(row, np.diff(lists.offsets.to_numpy())))
        values.append(lists.flatten())
    behaviours = pa.concat_arrays(values).dictionary_encode()
    shown = np.zeros((size, len(behaviours.dictionary)), dtype=bool)
    shown[np.concatenate(rows), behaviours.indices.to_numpy()] = True
    return Incidence(shown, behaviours.dictionary.to_numpy())


def _numbers(column: pa.ChunkedArray) -> Any:
    return column.combine_chunks().to_numpy()
