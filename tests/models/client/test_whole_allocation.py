"""Groups of whole push consumers among members that do not exist, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.whole_allocation import Crowded, WholeAllocationModel
from rocketmq_conformance.models.message_queue import sort_ids
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeAllocationModel(Profile(), ORDINARY)
FOUR, FIVE = (MODEL.divide, 4, "AVG"), (MODEL.divide, 5, "AVG_BY_CIRCLE")


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.kind


def places(*steps: Any) -> tuple[list[int], str]:
    """Who pulls each queue in the end, once a message has arrived in each."""
    (shown, _, _), kind = seen(*steps, (MODEL.send, EVERY))
    return [owner for owner, _ in shown], kind


def test_members_that_do_not_exist_get_their_share() -> None:
    assert places(FOUR, (MODEL.join, 0)) == ([0, 0, 0, 0], "alone")
    assert places(FOUR, (MODEL.join, 0), (MODEL.crowd, 1, 0)) == ([-1, -1, 0, 0], "even shares")
    assert places(FOUR, (MODEL.join, 0), (MODEL.crowd, 0, 2)) == ([0, 0, -1, -1], "uneven shares")
    assert places(FOUR, (MODEL.join, 0), (MODEL.crowd, 4, 0)) == ([-1, -1, -1, -1], "more members than queues")
    assert places((MODEL.crowd, 1, 1), (MODEL.join, 0), (MODEL.join, 1)) == ([-1, 0, 1, -1], "even shares")


@pytest.mark.parametrize("client", ["member-0", "!x", " x", "~x", "\uffff", "\U0001f600", ""])
def test_they_sort_before_and_after_the_members_that_were_seen(client: str) -> None:
    one, two, three, four = Crowded(2, 2).clients([client] if client else [])
    assert sort_ids([four, three, client or "x", two, one]) == (one, two, client or "x", three, four)
    joined = (lambda state: MODEL.join(MODEL.learn(state, (client,)), 0),)
    assert places(FOUR, joined, (MODEL.crowd, 2, 1)) == ([-1, -1, 0, -1], "even shares")


def test_queues_are_dealt_in_turn() -> None:
    assert places(FIVE, (MODEL.join, 0), (MODEL.crowd, 1, 1)) == ([-1, 0, -1, -1, 0], "uneven shares")
    assert places(FIVE, (MODEL.join, 0), FOUR, (MODEL.join, 2)) == ([0, 2, 0, 2, 0], "uneven shares")


def test_what_was_given_up_is_pulled_by_nobody_until_its_owner_comes_back() -> None:
    joined = FOUR, (MODEL.join, 0)
    assert seen(*joined)[0][1:] == (tuple((0, queue, 7, 5) for queue in range(4)), (12,) * 4)
    given_up = *joined, (MODEL.crowd, 1, 0)
    assert seen(*given_up)[0][0] == ((-1, -1), (-1, -1), (0, 12), (0, 12))
    back = seen(*given_up, (MODEL.send, EVERY), (MODEL.crowd, 0, 0))[0]
    assert back == (((0, 13),) * 4, ((0, 0, 12, 1), (0, 1, 12, 1)), (13,) * 4)


def test_without_members_nothing_is_pulled() -> None:
    assert seen((MODEL.crowd, 1, 1)) == ((((-1, -1),) * 4, (), (7,) * 4), "nobody is there")
