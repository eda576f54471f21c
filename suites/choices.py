"""Choices: where random decisions come from.

A domain draws its values through this one interface, so the same declaration serves the seeded sampler
(:class:`SeededChoices`) and Hypothesis (:class:`rocketmq_conformance.suites.machine.HypothesisChoices`).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
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


class SeededChoices:
    """Decisions from a keyed blake2b stream: the same on every machine, Python version and partitioning."""

    __slots__ = ("_block", "_bytes", "_key", "_label")

    def __init__(self, seed: int, *label: int | str) -> None:
        """``label`` names the stream (suite, case index): streams of one seed are independent."""
        self._key = seed.to_bytes(16, "big", signed=True)
        self._label = repr(label).encode()
        self._block = 0
        self._bytes = b""

    def below(self, n: int) -> int:
        """A whole number in ``[0, n)``; the bias of the modulus is below 2**-32."""
        if len(self._bytes) < 8:
            self._bytes = blake2b(self._label + self._block.to_bytes(8, "big"), key=self._key).digest()
            self._block += 1
        word, self._bytes = int.from_bytes(self._bytes[:8], "big"), self._bytes[8:]
        return word % n


def stream(seed: int, label: bytes, size: int) -> bytes:
    """``size`` bytes of the stream that ``seed`` and ``label`` name, in 64-byte blocks."""
    key = seed.to_bytes(16, "big", signed=True)
    if size <= 64:
        return blake2b(label, digest_size=size, key=key).digest()
    blocks = [blake2b(label + block.to_bytes(4, "big"), key=key).digest() for block in range((size + 63) // 64)]
    return b"".join(blocks)[:size]
