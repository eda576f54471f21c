"""The unit of a proof: one kind of proof on one release, or on a pair of releases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: The kinds, in the order in which ``prove all`` goes through them; each is a folder of rows.
KINDS = ("java", "clock", "scripted", "whole", "pairs", "broker")
JAVA, CLOCK, SCRIPTED, WHOLE, PAIRS, BROKER = KINDS
_BETWEEN = "-on-"
_SHARD = re.compile(r"([0-9]+)/([0-9]+)")


@dataclass(frozen=True, slots=True)
class Unit:
    """``release`` is as it was published ("4.0.0-incubating"). ``against`` is the broker's release in a pair, else
    "". It is passed between processes."""

    kind: str
    release: str
    against: str = ""

    @property
    def name(self) -> str:
        """The name of its file, without suffix."""
        return f"{self.release}{_BETWEEN}{self.against}" if self.against else self.release

    def __str__(self) -> str:
        return f"{self.kind} {self.release} on {self.against}" if self.against else f"{self.kind} {self.release}"

    @classmethod
    def named(cls, kind: str, name: str) -> Unit:
        """The unit of a file, by the name that ``name`` gave it."""
        release, _, against = name.partition(_BETWEEN)
        return cls(kind, release, against)

    @property
    def shared(self) -> tuple[str, str]:
        """What it shares with other units and a shard should not separate: the broker of pairs."""
        return self.kind, self.against or self.release


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` (from 1) of ``of`` equal parts of a proof."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard of "i/n"; ValueError with one sentence otherwise."""
        found = _SHARD.fullmatch(text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"{text!r} is no shard: write i/n with i from 1 to n, such as 2/4")
        return cls(int(found[1]), int(found[2]))

    def of_units(self, units: Sequence[Unit]) -> list[Unit]:
        """Its units, in their order. Every unit is in exactly one shard, and units that share a broker in the same."""
        groups = dict.fromkeys(unit.shared for unit in units)
        mine = set(list(groups)[self.number - 1 :: self.of])
        return [unit for unit in units if unit.shared in mine]


ALL_OF_IT = Shard()
