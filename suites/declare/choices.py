"""Choices: where random decisions come from.

A domain draws its values through this one interface, so the same declaration serves the seeded sampler
(:class:`SeededChoices`) and Hypothesis (``hypothesis_machine.HypothesisChoices``).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import shake_128
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """A source of decisions."""

    def below(self, n: int) -> int:
        """A whole number in ``[0, n)``; 0 is the simplest."""
        ...


def pick(choices: Choices, items: Sequence[T]) -> T:
    """One of ``items``; the first is the simplest."""
    return items[choices.below(len(items))]


#: Bytes that SeededChoices take from the stream at a time.
_BLOCK = 512


class SeededChoices:
    """Decisions from a stream: the same on every machine, Python version and partitioning."""

    __slots__ = ("_at", "_bytes", "_label", "_number", "_seed")

    def __init__(self, seed: int, *label: int | str) -> None:
        """``label`` names the stream (suite, case index): streams of one seed are independent."""
        self._seed = seed
        self._label = repr(label)
        self._number = 0
        self._bytes = b""
        self._at = 0

    def below(self, n: int) -> int:
        """A whole number in ``[0, n)``; the bias of the modulus is below 2**-32."""
        at = self._at
        if at == len(self._bytes):
            self._bytes = stream(self._seed, f"{self._label}/{self._number}", _BLOCK)
            self._number += 1
            at = 0
        self._at = at + 8
        return int.from_bytes(self._bytes[at : at + 8], "big") % n


def stream(seed: int, label: str, size: int) -> bytes:
    """``size`` bytes of the stream that ``seed`` and ``label`` name; a longer one begins with a shorter one."""
    return shake_128(f"{seed}/{label}".encode()).digest(size)
