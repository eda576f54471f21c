"""The tables of a block, made of what players packed: byte strings laid end to end and given to Arrow as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from rocketmq_conformance.conformance.campaign.behaviours import RULES
from rocketmq_conformance.conformance.campaign.packing import Packed
from rocketmq_conformance.conformance.campaign.tables import CASES
from rocketmq_conformance.reports.event import VERDICTS


def cases_table(first: int, arm: str, parts: dict[str, list[Packed]]) -> pa.Table:
    """The rows of ``cases`` of a block, from what was packed for each address, in the order of the cases."""
    names = list(VERDICTS)
    tables = []
    for address, packed in parts.items():
        verdicts = b"".join(part["verdicts"] for part in packed)
        count = len(verdicts)
        columns = {
            "case": pa.array(np.arange(first, first + count, dtype=np.int64)),
            "address": _repeated(address, count),
            "arm": _repeated(arm, count),
            "verdict": pa.DictionaryArray.from_arrays(np.frombuffer(verdicts, np.int8).astype(np.int32), names),
            "digest": _numbers(packed, "digests", np.int64),
            "steps": _numbers(packed, "steps", np.int32),
            "seconds": _numbers(packed, "seconds", np.float32),
            "rules": _rules([bits for part in packed for bits in part["rules"]]),
            "answers": _lists(packed, "answers", "answer_ends"),
            "transitions": _lists(packed, "transitions", "transition_ends"),
            "reason": _sparse(packed, "reasons", count, "").dictionary_encode(),
            "unsupported": _sparse(packed, "unsupported", count, []),
        }
        tables.append(pa.table([columns[field.name].cast(field.type) for field in CASES], schema=CASES))
    return pa.concat_tables(tables)


def table(schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.Table:
    """A small table from its rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [
        pa.array(list(column), pa.string()).dictionary_encode()
        if pa.types.is_dictionary(field.type)
        # a list of text comes as tuples
        else pa.array(list(column), field.type)
        for field, column in zip(schema, columns, strict=True)
    ]
    return pa.table(arrays, schema=schema)


def _repeated(text: str, count: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), [text])


def _numbers(packed: list[Packed], name: str, type_: Any) -> pa.Array:
    return pa.array(np.frombuffer(b"".join(part[name] for part in packed), type_))


def _lists(packed: list[Packed], name: str, ends: str) -> pa.ListArray:
    values = _numbers(packed, name, np.int64)
    offsets, so_far = [np.zeros(1, np.int32)], 0
    for part in packed:
        offsets.append(np.frombuffer(part[ends], np.int32) + np.int32(so_far))
        so_far += len(part[name]) // 8
    return pa.ListArray.from_arrays(pa.array(np.concatenate(offsets)), values)


def _rules(bits: list[int]) -> pa.ListArray:
    """Few sets of rules recur in many cases: each is spelled out once."""
    spelled = {one: [name for at, name in enumerate(RULES) if one >> at & 1] for one in set(bits)}
    return pa.array([spelled[one] for one in bits], pa.list_(pa.string()))


def _sparse(packed: list[Packed], name: str, count: int, empty: Any) -> pa.Array:
    values: list[Any] = [empty] * count
    begun = 0
    for part in packed:
        for at, value in part[name]:
            values[begun + at] = value
        begun += len(part["verdicts"])
    return pa.array(values, pa.list_(pa.string()) if empty == [] else pa.string())
