"""The port's allocator: what no suite shows of it."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.port.allocation import Allocation
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.allocation import SUITE, AllocateAveragely, AllocateByConsistentHash


def test_the_port_offers_every_operation() -> None:
    assert tuple(Allocation().calls()) == SUITE.operations


def test_the_port_forgets_old_rings() -> None:
    allocator = Allocation()
    allocator.RINGS = 2
    for member in ("a", "b", "c"):
        allocator.by_consistent_hash(member, (("T", "b0", 0),), (member,), 10)
    assert list(allocator.rings) == [(("c",), 10)]


def test_errors_are_answers() -> None:
    calls = Allocation().calls()
    assert calls[AllocateAveragely]("", (), ()) == Err("ILLEGAL_ARGUMENT")
    assert calls[AllocateByConsistentHash]("a", (("T", "b0", 0),), ("a",), -1) == Err("ILLEGAL_ARGUMENT")
