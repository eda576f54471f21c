"""The tables of a block as Arrow tables, from the bytes that players packed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rocketmq_conformance.conformance.campaign.tables.behaviour_columns import CaseBehaviours, Lists
from rocketmq_conformance.conformance.campaign.tables.behaviours import RULES
from rocketmq_conformance.conformance.campaign.tables.packing import Packed
from rocketmq_conformance.conformance.campaign.tables.schema import CASES
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, VERDICTS


def cases_table(first: int, arm: str, parts: Mapping[str, Sequence[tuple[Packed, CaseBehaviours]]]) -> pa.Table:
    """The rows of ``cases`` of a block, from what was packed and shown on each address, in the order of the cases."""
    names = list(VERDICTS)
    tables = []
    for address, played in parts.items():
        packed, shown = [one for one, _ in played], [one for _, one in played]
        verdicts = b"".join(part["verdicts"] for part in packed)
        count = len(verdicts)
        codes, digests = np.frombuffer(verdicts, np.int8), _numbers(packed, "digests", np.int64)
        voices = _voices(packed, codes, digests.to_numpy())
        columns = {
            "case": pa.array(np.arange(first, first + count, dtype=np.int64)),
            "address": _repeated(address, count),
            "arm": _repeated(arm, count),
            "verdict": pa.DictionaryArray.from_arrays(codes.astype(np.int32), names),
            "digest": digests,
            "steps": _numbers(packed, "steps", np.int32),
            "seconds": _numbers(packed, "seconds", np.float32),
            "rules": _rules(np.concatenate([part.rules for part in shown])),
            "answers": _lists([part.answers for part in shown]),
            "transitions": _lists([part.transitions for part in shown]),
            "reason": _sparse(packed, "reasons", count, "").dictionary_encode(),
            "unsupported": _sparse(packed, "unsupported", count, []),
            "voice": pa.array(voices[0]),
            "rules_voice": pa.array(voices[1]),
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


def _voices(packed: list[Packed], verdicts: Any, digests: Any) -> Any:
    """[2, cases]: the voice of every case, and that of its rules. Where nobody parts, all that conform have voice 1."""
    known = digests != 0
    conforms, diverges = ((verdicts == VERDICTS.index(verdict)) & known for verdict in (CONFORMS, DIVERGES))
    voices = np.stack([conforms | diverges, conforms + 2 * diverges]).astype(np.int16)
    start = 0
    for part in packed:
        for at, *numbers in part["voices"]:
            voices[:, start + at] = numbers
        start += len(part["verdicts"])
    return voices


def _lists(parts: Sequence[Lists]) -> pa.ListArray:
    offsets, so_far = [np.zeros(1, np.int32)], 0
    for part in parts:
        offsets.append(part.ends + np.int32(so_far))
        so_far += len(part.values)
    return pa.ListArray.from_arrays(pa.array(np.concatenate(offsets)), np.concatenate([part.values for part in parts]))


def _rules(bits: Any) -> pa.ListArray:
    """The names of the rules of every case, in the order of the rule book."""
    each = np.unpackbits(bits.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(each.sum(axis=1), dtype=np.int32)])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(RULES).take(pa.array(np.nonzero(each)[1])))


def _sparse(packed: list[Packed], name: str, count: int, empty: Any) -> pa.Array:
    values: list[Any] = [empty] * count
    start = 0
    for part in packed:
        for at, value in part[name]:
            values[start + at] = value
        start += len(part["verdicts"])
    return pa.array(values, pa.list_(pa.string()) if empty == [] else pa.string())
