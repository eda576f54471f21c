"""Doubt: requests whose answers never came, and what later answers say of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, outcome_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNDECIDED
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.hypothesis_machine import machine
from rocketmq_conformance.suites.declare.indeterminate import (
    MOST,
    UNKNOWN,
    Possibility,
    TooMany,
    after_step,
    allowing,
    answers,
    unanswered,
)
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

PUT, GOT = Reason(("R-PUT",), "put"), Reason(("R-GET",), "got")
LOST = Err("TIMEOUT", definite=False)


@operation("Put a number.", side=Side.BROKER, may_be_indeterminate=True)
class Put(Operation):
    number: Annotated[int, Values(*range(9))]


@operation("Get the number.", side=Side.BROKER)
class Get(Operation):
    pass


@operation("Get the number once it is large.", side=Side.BROKER, guard=lambda state: state > 4)
class GetLarge(Operation):
    pass


def _put(state: int, number: int) -> Answer[int]:
    return number, None, PUT


def _get(state: int) -> Answer[int]:
    return state, state, GOT


BOUND = BoundModel(0, {Put: _put, Get: _get, GetLarge: _get})
SUITE = Suite(name="cell", sentence="A cell.", side=Side.BROKER, bind=lambda profile: BOUND)
GET: Row = (1, ())
GET_LARGE: Row = (2, ())


def put(number: int) -> Row:
    return 0, (number,)


def judged(rows: Sequence[Row], outcomes: Sequence[Outcome]) -> Judged:
    given = iter(outcomes)
    return Judge(SUITE, Profile()).judge(rows, lambda row: next(given))


def states(possible: Sequence[Possibility]) -> set[tuple[int, int]]:
    """Each possible number, and how many requests are open then."""
    return {(one.state, len(one.open)) for one in possible}


# --- possibilities ----------------------------------------------------------------------------------------------


def test_a_request_without_answer_was_handled_or_may_be_yet() -> None:
    assert states(unanswered(BOUND, [Possibility(0)], put(5))) == {(0, 1), (5, 0)}


def test_two_of_them_are_handled_in_any_order() -> None:
    both = unanswered(BOUND, unanswered(BOUND, [Possibility(0)], put(5)), put(7))
    assert states(both) == {(0, 2), (5, 1), (7, 1), (5, 0), (7, 0)}


def test_an_answer_rules_out_states_that_do_not_allow_it() -> None:
    possible = unanswered(BOUND, [Possibility(0)], put(5))
    possible_answers = answers(BOUND, possible, GET, 5, observes=False)
    assert sorted(one.expected for one in possible_answers) == [0, 5]
    assert after_step(allowing(possible_answers, 5)) == [Possibility(5)]
    assert allowing(possible_answers, 4) == []


def test_a_request_may_be_handled_after_others_that_were_sent_later() -> None:
    possible = unanswered(BOUND, [Possibility(0)], put(5))
    possible = after_step(allowing(answers(BOUND, possible, put(3), None, observes=False), None))
    assert states(possible) == {(3, 1), (3, 0)}
    assert states(after_step(allowing(answers(BOUND, possible, GET, 5, observes=False), 5))) == {(5, 0)}


def test_the_number_of_followed_states_is_limited() -> None:
    followed = unanswered(BOUND, [Possibility(0, tuple(put(number) for number in range(6)))], put(6))
    assert MOST // 4 < len(followed) < MOST
    with pytest.raises(TooMany):
        unanswered(BOUND, followed, put(7))


# --- judging ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seen", [(0, 0), (0, 5), (5, 5)])
def test_an_answer_that_one_possible_state_explains_conforms(seen: tuple[int, int]) -> None:
    ended = judged([put(5), GET, GET], [LOST, *map(Ok, seen)])
    assert ended.verdict == CONFORMS
    assert [step.observed for step in ended.steps] == [LOST, *seen]
    assert ended.steps[0].why is UNKNOWN


@pytest.mark.parametrize(
    ("rows", "outcomes", "expected"),
    [
        ([put(5), GET], [LOST, Ok(4)], {0, 5}),
        ([put(5), GET, GET], [LOST, Ok(5), Ok(0)], {5}),
        ([put(5), GET, put(3), GET, GET], [LOST, Ok(5), Ok(None), Ok(3), Ok(5)], {3}),
        ([put(5), put(7), GET, GET, GET], [LOST, LOST, Ok(7), Ok(5), Ok(7)], {5}),
    ],
    ids=["neither", "taken back", "handled twice", "handled twice in turn"],
)
def test_what_none_explains_diverges(rows: list[Row], outcomes: list[Outcome], expected: set[int]) -> None:
    ended = judged(rows, outcomes)
    assert (ended.verdict, len(ended.steps)) == (DIVERGES, len(rows))
    last = ended.steps[-1]
    assert {last.expected, *(one.expected for one in last.others)} == expected
    assert last.why is GOT


def test_an_accident_of_java_that_is_not_judged_allows_every_answer() -> None:
    def get(state: int) -> Answer[int]:
        return state, state, Reason(("R-GET",), "got", quirk=state == 5)

    suite = replace(SUITE, bind=lambda profile: BoundModel(0, {Put: _put, Get: get}))

    def verdict(*seen: int, quirks: bool) -> str:
        given = iter([LOST, *map(Ok, seen)])
        return Judge(suite, Profile(), quirks=quirks).judge([put(5), GET, GET], lambda row: next(given)).verdict

    assert verdict(4, 4, quirks=True) == DIVERGES
    assert verdict(4, 4, quirks=False) == CONFORMS
    assert verdict(0, 4, quirks=False) == CONFORMS  # the 5 may have come first, or meanwhile


def test_doubt_ends_with_an_answer_that_only_one_possibility_allows() -> None:
    ended = judged([put(5), GET, GET], [LOST, Ok(5), Ok(5)])
    assert [len(step.others) for step in ended.steps] == [0, 0, 0]


def test_a_guard_must_allow_an_operation_in_every_possible_state() -> None:
    assert judged([put(3), put(5), GET_LARGE], [Ok(), LOST]).rows == [put(3), put(5)]
    assert judged([put(6), put(5), GET_LARGE], [Ok(), LOST, Ok(5)]).rows == [put(6), put(5), GET_LARGE]


def test_a_case_of_which_nothing_is_known_decides_nothing() -> None:
    ended = judged([put(5), put(6)], [LOST, LOST])
    assert (ended.verdict, ended.reason) == (
        UNDECIDED,
        "every operation in this test case had an indeterminate outcome",
    )


def test_an_operation_that_changes_nothing_decides_nothing_without_answer() -> None:
    ended = judged([put(5), GET], [Ok(), LOST])
    assert (ended.verdict, ended.reason) == (UNDECIDED, "get() ended in TIMEOUT, which decides nothing")


def test_a_case_with_too_much_in_doubt_decides_nothing() -> None:
    ended = judged([put(number) for number in range(9)], [LOST] * 9)
    assert ended.verdict == UNDECIDED
    assert ended.reason.endswith(f"there are more than {MOST} possibilities")


# --- under Hypothesis -------------------------------------------------------------------------------------------


#: Time is no measure of a machine that others use too.
UNHURRIED = settings(
    max_examples=60, database=None, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


class Cell:
    """Puts of 8 are never answered; ``late`` tells what becomes of them."""

    profile = Profile()
    times = None

    def __init__(self, late: Callable[[int], int]) -> None:
        self.late = late

    def begin(self, suite: Suite, number: int) -> None:
        self.number = 0

    def do(self, suite: Suite, row: Row) -> Outcome:
        if row[0]:
            return outcome_of(self.number)
        self.number = self.late(self.number) if row[1][0] == 8 else row[1][0]
        return LOST if row[1][0] == 8 else Ok()


def search(late: Callable[[int], int]) -> None:
    made: Any = machine(SUITE, Cell(late))
    run_state_machine_as_test(made, settings=UNHURRIED)


def test_hypothesis_accepts_either() -> None:
    search(lambda number: 8)
    search(lambda number: number)


def test_hypothesis_finds_an_answer_that_no_state_explains() -> None:
    with pytest.raises(AssertionError, match=r"get\(\): expected 0 or 8, observed 1"):
        search(lambda number: number + 1)
