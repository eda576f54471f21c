"""The seeded sampler: case *i* of a suite is the same plan on every machine, Python version and partitioning.

Operations whose argument tuples can be listed are drawn from one table of 65,536 rows, laid out by weight: a step
costs two bytes of the case's stream and one look-up. Where only the single arguments can be listed, each of them
costs two bytes and a look-up more. The others are drawn argument by argument.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, NamedTuple

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.choices import Choices, SeededChoices, stream
from rocketmq_conformance.suites.declare.suite import Row, Suite

_TABLE = 1 << 16


class _Columns(NamedTuple):
    """The values of every argument of an operation, by weight, and how many these are."""

    at: int
    columns: tuple[tuple[Sequence[Any], int], ...]


class _Drawn(NamedTuple):
    """An operation that is drawn argument by argument."""

    at: int
    draw: Callable[[Choices], tuple[Any, ...]]


class Sampler:
    """Draws the cases of one suite under one profile."""

    def __init__(self, suite: Suite, profile: Profile) -> None:
        self.suite = suite
        offered = suite.offered(profile)
        total = sum(suite.operations[at].spec.weight for at in offered)
        self._table: list[Any] = []
        drawn: list[_Columns | _Drawn] = []
        for at in offered:
            spec = suite.operations[at].spec
            share = max(1, _TABLE * spec.weight // total)
            rows = spec.rows()
            if rows is not None:
                # one tuple object per distinct row
                self._table += _spread([(at, row) for row in rows], share)
            else:
                columns = spec.columns()
                drawn.append(
                    _Drawn(at, spec.draw)
                    if columns is None
                    else _Columns(at, tuple((column, len(column)) for column in columns))
                )
                self._table += drawn[-1:] * share
        self._table += self._table[-1:] * (_TABLE - len(self._table))
        del self._table[_TABLE:]
        self._listed = not drawn
        self._most_columns = max((len(entry.columns) for entry in drawn if isinstance(entry, _Columns)), default=0)

    def case(self, seed: int, case: int, steps: int) -> list[Row]:
        """The plan of case number ``case``: ``steps`` rows."""
        label = f"{self.suite.name}/{case}"
        words = struct.unpack(f"<{steps}H", stream(seed, label, 2 * steps))
        table = self._table
        rows: list[Any] = [table[word] for word in words]
        if not self._listed:
            self._give_arguments(rows, seed, label)
        return rows

    def _give_arguments(self, rows: list[Any], seed: int, label: str) -> None:
        """Draw the arguments of the steps that have none yet."""
        open_steps = [(step, entry) for step, entry in enumerate(rows) if type(entry) is not tuple]
        choices = SeededChoices(seed, label, "drawn")
        size = self._most_columns * len(open_steps)
        words = iter(struct.unpack(f"<{size}H", stream(seed, f"{label}/columns", 2 * size)))
        for step, entry in open_steps:
            if type(entry) is _Columns:
                at, columns = entry
                # the product of a word and the length, less 16 bits, is a position: no modulus, no bias to speak of
                drawn = zip(columns, words)  # noqa: B905 - each takes as many words as it has columns
                rows[step] = at, tuple([column[word * length >> 16] for (column, length), word in drawn])
            else:
                rows[step] = entry.at, entry.draw(choices)


def _spread(entries: Sequence[Any], share: int) -> list[Any]:
    """``share`` entries, spread evenly: entry ``k * len(entries) // share`` at place ``k``."""
    ends = [-(-number * share // len(entries)) for number in range(len(entries) + 1)]
    return list(chain.from_iterable(repeat(entry, ends[at + 1] - ends[at]) for at, entry in enumerate(entries)))


@lru_cache(maxsize=256)
def sampler(suite: Suite, profile: Profile) -> Sampler:
    """The sampler of a suite; its table is built once."""
    return Sampler(suite, profile)
