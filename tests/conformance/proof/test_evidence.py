"""The counts of a proof."""

from __future__ import annotations

from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.models.outcome import UNDEFINED, Err
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.reports.proof import ProofRow

ONE = Reason(("A-1",), "one")
BOTH = Reason(("A-1", "B-1"), "both")


def test_a_case_counts_for_each_of_its_rules() -> None:
    tally = Tally("pure", "5.5.0")
    assert tally.add(1, ONE, 1, lambda: "x")
    assert tally.add((), BOTH, (), lambda: "x")
    assert tally.rows() == [ProofRow("A-1", "pure", "5.5.0", 2, 0), ProofRow("B-1", "pure", "5.5.0", 1, 0)]
    assert (tally.cases, tally.differences) == (2, 0)


def test_a_difference_is_kept_with_its_first_example() -> None:
    tally = Tally("client", "4.9.8")
    assert not tally.add(1, BOTH, Err("CLIENT"), lambda: "read(0)")
    assert not tally.add(1, ONE, 2, lambda: "read(1)")
    first, second = tally.rows()
    assert (first.rule, first.cases, first.differences, second.differences) == ("A-1", 2, 2, 1)
    assert first.example.startswith("read(0): the model says 1, 4.9.8 says Err(")
    assert len(tally.examples) == tally.differences == 2


def test_the_type_of_an_answer_counts() -> None:
    tally = Tally("pure", "5.5.0")
    assert not tally.add(True, ONE, 1, lambda: "x")


def test_what_is_not_promised_proves_nothing() -> None:
    tally = Tally("pure", "5.5.0")
    assert tally.add(UNDEFINED, ONE, Err("RUNTIME"), lambda: "x")
    assert (tally.rows(), tally.cases, tally.undefined) == ([], 0, 1)


def test_only_the_first_examples_are_kept() -> None:
    tally = Tally("pure", "5.5.0")
    for number in range(100):
        tally.add(0, ONE, 1, lambda number=number: f"x({number})")  # type: ignore[misc]
    assert (len(tally.examples), tally.differences) == (20, 100)
