"""Outcomes, results and their classes; rules and reasons."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from every import every

from rocketmq_conformance.models.outcome import (
    UNDEFINED,
    Err,
    Expected,
    Ok,
    Result,
    Undefined,
    agrees,
    outcome_class,
    outcome_of,
    result_of,
)
from rocketmq_conformance.models.rule import Level, Origin, Reason, Rule


@every("result", [None, False, 0, -3, "text", (), (1, ("T", 2)), Err("CLIENT")])
def test_a_result_survives_being_wrapped_and_unwrapped(result: Result) -> None:
    outcome = outcome_of(result)
    assert isinstance(outcome, Err if isinstance(result, Err) else Ok)
    assert result_of(outcome) == result


def test_the_detail_of_an_error_is_never_compared() -> None:
    assert Err("CLIENT", detail="broker-a is full") == Err("CLIENT")
    assert agrees(Err("CLIENT"), Err("CLIENT", detail="broker-a is full"))
    assert "full" not in repr(Err("CLIENT", detail="broker-a is full"))


def test_an_error_that_may_have_taken_effect_is_another_error() -> None:
    assert Err("REMOTING", definite=False) != Err("REMOTING")
    assert not agrees(Err("REMOTING"), Err("REMOTING", definite=False))


@every(
    ("expected", "observed"),
    [(1, True), (0, False), (None, 0), ((1,), (True,)), (5, "5"), (-1, Err("CLIENT")), ((), None), ("", None)],
)
def test_results_of_different_types_never_agree(expected: Expected, observed: Result) -> None:
    assert not agrees(expected, observed)


@pytest.mark.parametrize("observed", [None, 7, Err("SYSTEM_BUSY"), (1, 2)])
def test_where_nothing_is_promised_everything_agrees(observed: Result) -> None:
    assert agrees(UNDEFINED, observed)


@every(
    ("result", "name"),
    [
        (Undefined(), "undefined"),
        (Err("QUERY_NOT_FOUND"), "QUERY_NOT_FOUND"),
        (True, "true"),
        (False, "false"),
        (-1, "negative"),
        (0, "zero"),
        (2**53 + 1, "positive"),
        ((), "empty"),
        ((0,), "items"),
        ("", "text"),
        (None, "done"),
    ],
)
def test_coverage_counts_results_by_class(result: Expected, name: str) -> None:
    assert outcome_class(result) == name


def test_outcomes_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Ok(1).value = 2  # type: ignore[misc]


def test_a_rule_is_binding_and_derived_from_source_by_default() -> None:
    rule = Rule("X-1", "Always.", "C#m @ 5.5.0")
    assert (rule.releases, rule.level, rule.origin) == ("all", Level.MUST, Origin.DERIVED)


def test_two_reasons_with_the_same_words_are_two_reasons() -> None:
    one, other = Reason(("X-1",), "kind"), Reason(("X-1",), "kind")
    assert one != other
    assert len({one, other}) == 2
