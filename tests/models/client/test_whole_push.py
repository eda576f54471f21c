"""Groups of whole push consumers as their traffic shows them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.fixtures import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole_push import WholePushModel, WholePushState
from rocketmq_conformance.models.profile import Profile

MODEL = WholePushModel(Profile())
NOBODY = (-1, -1)


def after(*steps: Any) -> tuple[WholePushState, Any, Any]:
    """The state, the last answer and its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    return state, result, why


def test_one_member_pulls_every_queue_and_commits_what_it_was_given() -> None:
    _, seen, why = after((MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0))
    assert seen == (((0, 12), (0, 12)), ((0, 0, 7, 5), (0, 1, 7, 5)), (12, 12))
    assert why.rules == ("WHOLE-FIRST", "WHOLE-COMMIT")


def test_a_second_member_takes_the_second_half_and_is_given_nothing_again() -> None:
    steps = (MODEL.prepare, 4, "young", 7, LAST), (MODEL.join, 1), (MODEL.join, 0)
    _, seen, why = after(*steps)
    assert seen == (((0, 12), (0, 12), (1, 12), (1, 12)), (), (12, 12, 12, 12))
    assert "WHOLE-SHARE" in why.rules


def test_a_member_without_a_queue_changes_nothing() -> None:
    _, seen, why = after((MODEL.prepare, 1, "young", 7, LAST), (MODEL.join, 0), (MODEL.join, 1))
    assert (seen, why.kind) == ((((0, 12),), (), (12,)), "nothing is new")


def test_who_is_sent_elsewhere_stores_that_even_where_nothing_is() -> None:
    _, seen, why = after((MODEL.prepare, 1, "empty", 7, LAST), (MODEL.join, 0))
    assert (seen, why.kind) == ((((0, 0),), (), (0,)), "sent elsewhere")


def test_messages_wait_for_a_member() -> None:
    _, seen, why = after((MODEL.prepare, 2, "gone", NOTHING, LAST), (MODEL.send, 1))
    assert (seen, why.kind) == (((NOBODY, NOBODY), (), (-1, -1)), "without its owner")
    _, seen, why = after((MODEL.prepare, 2, "gone", NOTHING, FIRST), (MODEL.send, EVERY), (MODEL.join, 2))
    assert seen == (((2, 13), (2, 13)), ((2, 0, 12, 1), (2, 1, 12, 1)), (13, 13))
    assert why.kind == "sent elsewhere"


def test_leaving_and_crashing_leave_the_queues_to_the_others() -> None:
    both = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0), (MODEL.join, 1)
    for end in (MODEL.leave, MODEL.crash):
        _, seen, _ = after(*both, (end, 0))
        assert seen == (((1, 12), (1, 12)), (), (12, 12))


def test_who_is_told_an_offset_begins_there() -> None:
    joined = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0)
    _, seen, why = after(*joined, (MODEL.reset, 3))
    assert (seen, why.kind) == ((((0, 12), (0, 12)), ((0, 0, 3, 9),), (12, 12)), "told an offset")
    _, seen, why = after(joined[0], (MODEL.reset, 3))
    assert (seen, why.kind) == (((NOBODY, NOBODY), (), (7, 7)), "without its owner")


def test_one_that_is_frozen_is_late_and_loses_nothing() -> None:
    steps = (MODEL.prepare, 2, "young", 7, LAST), (MODEL.join, 0)
    assert after(*steps, (MODEL.freeze, 0))[1] == after(*steps, (MODEL.send, EVERY))[1]


def test_what_is_repeated_changes_nothing() -> None:
    begun, seen, _ = after((MODEL.join, 0), (MODEL.prepare, 1, "gone", 2, FIRST))
    assert seen is None
    assert begun.setting.queues == 4
    _, once, _ = after((MODEL.join, 0), (MODEL.look,))
    for again in ((MODEL.join, 0), (MODEL.leave, 1), (MODEL.crash, 2), (MODEL.send, 9)):
        assert after((MODEL.join, 0), again)[1] == once


def test_nothing_is_there_yet_for_one_that_begins_at_the_end() -> None:
    _, seen, why = after((MODEL.prepare, 1, "empty", NOTHING, LAST), (MODEL.join, 0))
    assert seen == (((0, 0),), (), (-1,))
    assert why.kind == "nothing is new"
