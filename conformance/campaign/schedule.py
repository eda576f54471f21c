"""The schedule of a campaign: which blocks of cases it plays, in which order.

Without steering there is one wave, in which every suite gets as many cases as the others, block by block in turn. With
steering, the random arm is cut into waves, and from the second on each gets further blocks of the suites that still
find new behaviour. What a wave holds depends on nothing but the cases of the waves before it, so a campaign that is
resumed, or played on other machines, plays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from rocketmq_conformance.conformance.campaign.spec import CampaignSpec

RANDOM, STEERED = "random", "steered"
#: Waves of a campaign that is steered.
WAVES = 8


class Block(NamedTuple):
    """Cases ``[first, first + cases)`` of a suite."""

    suite: str
    number: int
    first: int
    cases: int
    arm: str


class BlockSchedule:
    """Hands out the waves of a campaign, in order."""

    def __init__(self, spec: CampaignSpec) -> None:
        self._spec = spec
        steered = round(spec.cases * spec.steer)
        self._random = list(_in_turn(spec, spec.cases - steered))
        #: Cases of the steered arm that no block has yet, and its blocks, all waves together.
        self._open = steered
        self._steered = -(-steered // spec.block)
        #: The number of the next block of every suite.
        self._next = {name: sum(block.suite == name for block in self._random) for name in spec.suites}
        self._given = 0
        self.waves = WAVES if self._steered else 1

    def wave(self, number: int, chances: Mapping[str, float]) -> list[Block]:
        """The blocks of a wave; to be called for every wave in turn.

        ``chances`` says of every suite how likely its next case is to show something new, after all waves before.
        """
        size = len(self._random)
        blocks = self._random[number * size // self.waves : (number + 1) * size // self.waves]
        if number:
            goal = number * self._steered // (self.waves - 1)
            shares = _shares(goal - self._given, {name: chances.get(name, 0.0) for name in self._spec.suites})
            self._given = goal
            blocks = [*blocks, *self._further(shares)]
        return blocks

    def _further(self, shares: Mapping[str, int]) -> Iterator[Block]:
        size = self._spec.block
        for name, count in shares.items():
            for _ in range(count):
                number = self._next[name]
                self._next[name] += 1
                cases = min(size, self._open)
                self._open -= cases
                yield Block(name, number, number * size, cases, STEERED)


def _in_turn(spec: CampaignSpec, cases: int) -> Iterator[Block]:
    """The blocks of the random arm: the first of every suite, the second of every suite …"""
    each, more = divmod(cases, len(spec.suites))
    columns = [_blocks(name, each + (at < more), spec.block) for at, name in enumerate(spec.suites)]
    for row in zip_longest(*columns):
        yield from (block for block in row if block is not None)


def _blocks(suite: str, cases: int, size: int) -> list[Block]:
    return [
        Block(suite, number, first, min(size, cases - first), RANDOM)
        for number, first in enumerate(range(0, cases, size))
    ]


def _shares(blocks: int, chances: Mapping[str, float]) -> dict[str, int]:
    """So many blocks by chance, the largest remainders rounded up; evenly when nothing new is to be expected."""
    total = sum(chances.values())
    parts = {name: blocks * (chance / total if total else 1 / len(chances)) for name, chance in chances.items()}
    shares = {name: int(part) for name, part in parts.items()}
    largest = sorted(parts, key=lambda name: shares[name] - parts[name])
    for name in largest[: blocks - sum(shares.values())]:
        shares[name] += 1
    return shares
