"""Histories of a broker: right, wrong and with what instead, and such that nothing is promised of."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models import linearizability
from rocketmq_conformance.models.broker.broker_concurrent import BrokerConcurrentModel, ConcurrentState
from rocketmq_conformance.models.broker.overlapping import Request
from rocketmq_conformance.models.outcome import agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason

MODEL, BEGIN = BrokerConcurrentModel(Profile()), ConcurrentState()
#: (kind, client, arguments, sent, answered, answer)
Line = tuple[str, int, tuple[Any, ...], int, int | None, Any]


def _observed(lines: list[Line]) -> tuple[Any, ...]:
    return tuple((by, str(Request(kind, by, args)), *moments) for kind, by, args, *moments in lines)


def _played(lines: list[Line], state: ConcurrentState = BEGIN) -> tuple[ConcurrentState, Any, Reason]:
    for kind, by, args, *_ in lines:
        state, answer, why = MODEL.ask(state, Request(kind, by, args))
        assert (answer, why.rules) == (None, ())
    return MODEL.at_once(state, _observed(lines))  # type: ignore[return-value]


def _right(lines: list[Line], state: ConcurrentState = BEGIN) -> tuple[ConcurrentState, Reason]:
    after, expected, why = _played(lines, state)
    assert agrees(expected, _observed(lines))
    return after, why


COMMITTED: list[Line] = [("commit", 0, (0, 3, True), 0, 1, None)]


def test_requests_that_overlap_may_be_answered_in_any_order_and_the_next_ones_in_one_that_fits() -> None:
    state, why = _right(COMMITTED)
    assert (why.rules, why.kind) == (("BQ-ONCE-OFFSET",), "one after the other")
    beside: list[Line] = [("commit", 0, (0, 4, True), 0, 2, None), ("query", 1, (0,), 1, 3, 3)]
    after, why = _right(beside, state)
    assert why.kind == "commit beside query"
    _right([("query", 2, (0,), 0, 1, 4)], after)
    lost, expected, why = _played([("query", 2, (0,), 0, 1, 3)], after)
    assert (expected, why.rules, lost.lost) == (((2, "query queue 0", 0, 1, "4"),), ("BQ-ONCE-OFFSET",), True)


def test_a_wrong_answer_is_shown_with_every_one_that_fits() -> None:
    state, _ = _right(COMMITTED)
    lines: list[Line] = [
        ("commit", 0, (0, 4, True), 0, 3, None),
        ("commit", 1, (0, 5, True), 1, 4, None),
        ("query", 2, (0,), 5, 6, 3),
    ]
    _, expected, why = _played(lines, state)
    assert expected[2] == (2, "query queue 0", 5, 6, "4 or 5")
    assert expected[:2] == _observed(lines)[:2]
    assert why.kind == "commit beside commit"


def test_where_no_single_answer_is_to_blame_the_last_one_is_named_without_another() -> None:
    state, _ = _right(COMMITTED)
    lines: list[Line] = [("query", 0, (0,), 0, 1, 8), ("query", 1, (0,), 2, 3, 9)]
    _, expected, _ = _played(lines, state)
    assert expected[1][4] == "an answer that fits the others"


def test_a_request_that_answered_nothing_it_should_have_is_done() -> None:
    _, expected, _ = _played([("commit", 0, (0, 3, True), 0, 1, "TOPIC_NOT_EXIST")])
    assert expected[0][4] == "done"


def test_a_commit_without_an_answer_may_take_effect_later_once() -> None:
    state, _ = _right(COMMITTED)
    state, why = _right([("commit", 0, (0, 5, False), 0, None, None), ("query", 1, (0,), 1, 2, 3)], state)
    assert why.kind == "commit beside query, one unanswered"
    state, _ = _right([("query", 1, (0,), 0, 1, 5)], state)
    _, expected, _ = _played([("query", 1, (0,), 0, 1, 3)], state)
    assert expected[0][4] == "5"


def test_first_commits_at_once_decide_nothing_when_one_is_lost() -> None:
    lost: list[Line] = [
        ("commit", 0, (0, 5, True), 0, 3, None),
        ("commit", 1, (1, 7, True), 1, 2, None),
        ("query", 1, (1,), 4, 5, "QUERY_NOT_FOUND"),
    ]
    state, expected, why = _played(lost)
    assert agrees(expected, _observed(lost))
    assert (why.rules, why.unpromised, state.lost) == (("BQ-ONCE-FIRST",), True, True)
    _, why = _right(lost[:2])
    assert why.rules == ("BQ-ONCE-FIRST", "BQ-ONCE-OFFSET")
    assert not why.unpromised
    known, _ = _right(COMMITTED)
    assert not _played(lost, known)[2].unpromised


def test_what_a_reset_or_the_last_member_tears_decides_nothing_either() -> None:
    torn: list[Line] = [
        ("reset", 0, (0, 0), 0, 1, None),
        ("query", 1, (0,), 2, 5, "SYSTEM_ERROR"),
        ("pull", 2, (0, 0), 3, 4, ("PULL_OFFSET_MOVED", 0, ())),
    ]
    _, _, why = _played(torn)
    assert (why.rules, why.unpromised) == (("BQ-ONCE-TORN",), True)
    _, why = _right([torn[0], ("query", 1, (0,), 0, 2, 0)])
    assert why.rules == ("BQ-ONCE-OFFSET", "BQ-ONCE-RESET", "BQ-ONCE-TORN")
    _, why = _right([torn[0], ("commit", 1, (0, 2, True), 0, 2, None)])
    assert why.kind == "reset beside commit"
    forgotten: list[Line] = [
        ("join", 0, (), 0, 1, None),
        ("leave", 0, (), 2, 5, None),
        ("join", 1, (), 3, 4, None),
        ("list", 2, (), 6, 7, "SYSTEM_ERROR"),
    ]
    _, _, why = _played(forgotten)
    assert (why.rules, why.unpromised) == (("BQ-ONCE-LEAVE",), True)
    _, why = _right(forgotten[1:3])
    assert why.rules == ("BQ-ONCE-LEAVE", "BQ-ONCE-MEMBERS")


def test_locks_have_no_excuse() -> None:
    lines: list[Line] = [("lock", 0, ((0,),), 0, 2, (0,)), ("lock", 1, ((0,),), 1, 3, (0,))]
    _, expected, why = _played(lines)
    assert (why.rules, expected[1][4]) == (("BQ-ONCE-LOCK",), "none")


def test_a_history_with_more_orders_than_can_be_tried_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    unheard: list[Line] = [("commit", by, (0, by + 1, False), by, None, None) for by in (0, 1, 2)]
    wrong: list[Line] = [*unheard, ("query", 0, (0,), 4, 5, 7)]
    tried = linearizability.MOST
    monkeypatch.setattr(linearizability, "MOST", 3)
    state, _, why = _played([*unheard, ("query", 0, (0,), 4, 5, 1)])
    assert (why.kind, why.unpromised, state.lost) == ("more orders than can be tried", True, True)
    monkeypatch.setattr(linearizability, "MOST", tried)
    assert _played(wrong)[1][3][4] == "1 or 2 or 3 or QUERY_NOT_FOUND"


@pytest.mark.parametrize(
    "observed",
    [
        None,
        (),
        (1,),
        ((0, "query queue 1", 0, 1, 3),),
        ((0, "query queue 0", "0", 1, 3),),
        ((0, "query queue 0", 0, True, 3),),
        ((0, "query queue 0", 5, 1, 3),),
    ],
)
def test_what_is_no_history_is_expected_to_be_one(observed: Any) -> None:
    state, _ = _right(COMMITTED)
    state, *_ = MODEL.ask(state, Request("query", 0, (0,)))
    _, expected, _ = MODEL.at_once(state, observed)
    assert isinstance(expected, tuple)
    assert expected[0][4] == 3


def test_the_example_of_a_plan_has_first_requests_overlap() -> None:
    state = ConcurrentState()
    for request in (Request("commit", 0, (0, 3, False)), Request("query", 0, (0,)), Request("query", 1, (0,))):
        state, *_ = MODEL.ask(state, request)
    _, expected, why = MODEL.at_once(state, None)
    assert expected == (
        (0, "commit 3 to queue 0", 0, None, None),
        (0, "query queue 0", 19, 28, 3),
        (1, "query queue 0", 2, 11, 3),
    )
    assert why.kind == "commit beside query, one unanswered"


# --- what befalls a broker --------------------------------------------------------------------------------------------


def _befallen(lines: list[Line], cut: int | None = None) -> tuple[Any, Any, Reason]:
    """The answer to requests and faults, of which a client's last request may be cut."""
    state = BEGIN
    for kind, by, args, *_ in lines:
        state, *_ = MODEL.ask(state, Request(kind, by, args))
    if cut is not None:
        state, answer, _ = MODEL.cut(state, cut)
        assert answer is None
    observed = tuple((one.by, str(one), *line[3:]) for one, line in zip(state.asked, lines, strict=True))
    _, expected, why = MODEL.at_once(state, observed)
    return agrees(expected, observed), expected, why


def test_a_request_that_was_cut_is_done_once_or_never() -> None:
    lines: list[Line] = [("commit", 0, (0, 3, True), 0, None, None), ("query", 1, (0,), 1, 2, 3)]
    right, _, why = _befallen(lines, cut=0)
    assert (right, why.rules, why.kind) == (True, ("BQ-ONCE-CUT",), "cut commit")
    assert _befallen([lines[0], ("query", 1, (0,), 1, 2, 9)], cut=0)[0] is False
    sent: list[Line] = [("send", 0, (0,), 0, None, None), ("max", 1, (0,), 1, 2, 2)]
    right, expected, _ = _befallen(sent, cut=0)
    assert (right, expected[1][4]) == (False, "0 or 1")
    # members are known by their connection, and an example shows no answer
    assert MODEL.cut(BEGIN, 0)[2].kind == "no request whose connection could be cut"
    state, *_ = MODEL.ask(BEGIN, Request("join", 0, ()))
    assert MODEL.cut(state, 0)[0] == state
    state, *_ = MODEL.ask(BEGIN, Request("commit", 0, (0, 3, True)))
    state, *_ = MODEL.cut(state, 0)
    assert MODEL.at_once(state, None)[1][0][3:] == (None, None)


def test_a_broker_that_is_frozen_changes_nothing() -> None:
    lines: list[Line] = [
        ("commit", 0, (0, 3, True), 0, 5, None),
        ("freeze", 1, (), 1, 4, None),
        ("query", 1, (0,), 6, 7, 3),
    ]
    right, _, why = _befallen(lines)
    assert (right, why.rules, why.kind) == (True, ("BQ-ONCE-FREEZE",), "freeze beside commit")
    right, expected, why = _befallen([*lines[:2], ("query", 1, (0,), 6, 7, 2)])
    assert (right, why.rules[0], expected[2][4]) == (False, "BQ-ONCE-FREEZE", "3")
    alone = [("freeze", 1, (), 1, 2, None), ("query", 1, (0,), 6, 7, "QUERY_NOT_FOUND")]
    assert _befallen(alone)[2].kind == "freeze beside nothing"  # type: ignore[arg-type]


@pytest.mark.parametrize("offset", [3, 4, "QUERY_NOT_FOUND"])
def test_a_broker_that_was_killed_has_an_offset_from_before_or_none(offset: Any) -> None:
    lines: list[Line] = [
        ("commit", 0, (0, 3, True), 0, 1, None),
        ("commit", 0, (0, 4, True), 2, None, None),
        ("kill", 1, (), 3, 6, None),
        ("query", 1, (0,), 7, 8, offset),
    ]
    right, _, why = _befallen(lines)
    assert (right, why.rules, why.kind) == (True, ("BQ-ONCE-KILL",), "kill beside commit")


def test_a_broker_that_was_killed_has_what_it_acknowledged_and_neither_locks_nor_members() -> None:
    kill: Line = ("kill", 1, (), 2, 3, None)
    assert _befallen([("commit", 0, (0, 3, True), 0, 1, None), kill, ("query", 1, (0,), 4, 5, 9)])[0] is False
    assert _befallen([("send", 0, (0,), 0, 1, 0), kill, ("send", 1, (0,), 4, 5, 0)])[0] is False
    assert _befallen([("send", 0, (0,), 0, 1, 0), kill, ("send", 1, (0,), 4, 5, 1)])[0] is True
    assert _befallen([("lock", 0, ((0,),), 0, 1, (0,)), kill, ("lock", 1, ((0,),), 4, 5, (0,))])[0] is True
    assert _befallen([("lock", 0, ((0,),), 0, 1, (0,)), kill, ("lock", 1, ((0,),), 4, 5, ())])[0] is False
    assert _befallen([("join", 0, (), 0, 1, None), kill, ("list", 1, (), 4, 5, ("one",))])[0] is False


def test_an_example_goes_on_after_a_kill() -> None:
    state = BEGIN
    for request in (Request("kill", 0, ()), Request("query", 0, (0,)), Request("freeze", 1, ())):
        state, *_ = MODEL.ask(state, request)
    assert [line[1] for line in MODEL.at_once(state, None)[1]] == ["kill", "query queue 0", "freeze"]
