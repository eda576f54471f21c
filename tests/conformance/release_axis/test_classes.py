"""Classes of implementations: a difference counts where they part, and not again in what follows from it."""

from __future__ import annotations

from rocketmq_conformance.conformance.release_axis.classes import classes, partings
from rocketmq_conformance.conformance.release_axis.records import OPEN, CaseRecord, StepRecord, SuiteRecord


def record(*answers: str, left_out: int | None = None) -> SuiteRecord:
    """One case with these answers, of all steps of its plan but one."""
    places = [at for at in range(len(answers) + 1) if at != left_out]
    steps = tuple(StepRecord(at, answer, True, ("R",), answer) for at, answer in zip(places, answers, strict=False))
    return SuiteRecord({1: CaseRecord(steps)}, 0.0)


def test_each_class_goes_on_by_itself_after_a_parting() -> None:
    records = {"a": record("0", "1", "5"), "b": record("0", "2", "6"), "c": record("0", "2", "7")}
    found = list(partings("s", records))
    assert [(parting.at, parting.answers) for parting in found] == [
        (1, (("1", ("a",)), ("2", ("b", "c")))),
        (2, (("6", ("b",)), ("7", ("c",)))),
    ]
    assert classes(records, found) == (("a",), ("b",), ("c",))


def test_what_rules_leave_open_parts_nobody_from_anyone() -> None:
    records = {"a": record("0", "1"), "b": record(OPEN, "1")}
    assert list(partings("s", records)) == []
    assert classes(records, []) == (("a", "b"),)


def test_a_step_that_some_leave_out_is_compared_among_the_others() -> None:
    records = {"a": record("0", "1"), "b": record("0", "9", left_out=1), "c": record("0", "2")}
    found = list(partings("s", records))
    assert [(parting.at, parting.answers) for parting in found] == [(1, (("1", ("a",)), ("2", ("c",))))]
    assert found[0].parts("a", "c")
    assert not found[0].parts("a", "b")
