"""The most memory that a process took is in bytes, and never less than before."""

from __future__ import annotations

from rocketmq_conformance.conformance.engine.peak_memory import peak_memory


def test_memory_that_was_taken_counts_and_stays_counted() -> None:
    before = peak_memory()
    assert 1 << 20 < before < 1 << 40
    block = bytearray(before)
    block[:: 1 << 10] = b"x" * len(block[:: 1 << 10])
    after = peak_memory()
    assert after > before
    del block
    assert peak_memory() >= after
