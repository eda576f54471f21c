"""The port's allocator against the model, and the deliberate faults that the suite must notice."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.allocation import Allocation
from rocketmq_conformance.conformance.targets.port.mutants.allocation import MUTANTS
from rocketmq_conformance.models.outcome import Err, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.allocation import SUITE, AllocateAveragely, AllocateByConsistentHash
from rocketmq_conformance.suites.declare.sampler import sampler

PROFILE = Profile()


def first_difference(allocator: Allocation, cases: int) -> str | None:
    """The first operation that the allocator answers otherwise than the model, within so many cases."""
    bound, drawn = SUITE.bind(PROFILE), sampler(SUITE, PROFILE)
    named = allocator.calls()
    calls = [named[op] for op in SUITE.operations]
    for case in range(cases):
        for at, args in drawn.case(11, case, SUITE.steps):
            expected = bound.by_position[at](bound.initial, *args)[1]
            if not agrees(expected, calls[at](*args)):
                return str(SUITE.operation((at, args)))
    return None


def test_the_port_offers_every_operation() -> None:
    assert tuple(Allocation().calls()) == SUITE.operations


def test_the_port_is_the_model() -> None:
    cases = 1500
    assert cases * SUITE.steps >= 20_000
    assert first_difference(Allocation(), cases) is None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_noticed_within_2000_cases(mutant: Mutant) -> None:
    assert first_difference(mutant.parts["allocation"](), 2000) is not None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_one_thing(mutant: Mutant) -> None:
    part = mutant.parts["allocation"]
    assert part.__base__ is Allocation
    changed = [name for name, value in vars(part).items() if callable(value)]
    assert 1 <= len(changed) <= 2
    assert mutant.sentence.endswith(".")
    assert mutant.defect.startswith("D")


def test_mutants_have_distinct_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


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
