"""The seeded sampler: case *i* of a suite is the same plan on every machine, Python version and partitioning.

Operations whose arguments can be listed are drawn from one table of 65,536 rows, laid out by weight: a step
costs two bytes of the case's stream and one look-up. The others are drawn argument by argument.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.choices import SeededChoices, stream
from rocketmq_conformance.suites.suite import Row, Suite

_TABLE = 1 << 16


class Sampler:
    """Draws the cases of one suite under one profile."""

    def __init__(self, suite: Suite, profile: Profile) -> None:
        self.suite = suite
        offered = suite.offered(profile)
        total = sum(suite.operations[at].form.weight for at in offered)
        self._table: list[Any] = []  # a row, or the position of an operation that is drawn
        for at in offered:
            form = suite.operations[at].form
            share = max(1, _TABLE * form.weight // total)
            rows = form.rows()
            if rows is None:
                self._table += [at] * share
            else:
                # one tuple object per distinct row; spread evenly over the operation's share
                made = [(at, row) for row in rows]
                self._table += [made[k * len(made) // share] for k in range(share)]
        while len(self._table) < _TABLE:
            self._table.append(self._table[-1])
        del self._table[_TABLE:]
        self._listed = all(type(entry) is tuple for entry in self._table)

    def case(self, seed: int, case: int, steps: int) -> list[Row]:
        """The plan of case number ``case``: ``steps`` rows."""
        label = f"{self.suite.name}/{case}".encode()
        words = struct.unpack(f"<{steps}H", stream(seed, label, 2 * steps))
        table = self._table
        if self._listed:
            return [table[word] for word in words]
        choices = SeededChoices(seed, self.suite.name, case)
        rows: list[Row] = []
        for word in words:
            entry = table[word]
            if type(entry) is int:
                entry = (entry, self.suite.operations[entry].form.draw(choices))
            rows.append(entry)
        return rows


@lru_cache(maxsize=64)
def sampler(suite: Suite, profile: Profile) -> Sampler:
    """The sampler of a suite; its table is built once."""
    return Sampler(suite, profile)
