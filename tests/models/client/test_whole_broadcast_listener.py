"""Broadcasting consumers whose listeners fail or hold, as their traffic shows them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.client.whole_broadcast_listener import WholeBroadcastListenerModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.whole_broadcast_listener import SUITE

MODEL = WholeBroadcastListenerModel(Profile(), ORDINARY)
JOIN, HOLD = (MODEL.join, 0), (MODEL.listen, 0, HOLDS)
HELD = JOIN, HOLD, (MODEL.send, 0)


def after(*steps: Any) -> tuple[Any, Any, Any]:
    """The state, the answer and the reason in the end."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    return state, result, why


def queue_0(*steps: Any) -> tuple[Any, ...]:
    """Who waits where in queue 0, what was given of it, and the rule that decides."""
    _, (places, given, *_), why = after(*steps)
    return places[0], tuple(one for one in given if one[1] == 0), why.rules[0]


def test_what_a_listener_fails_comes_no_second_time() -> None:
    failed = JOIN, (MODEL.listen, 0, FAILS), (MODEL.send, 0)
    assert queue_0(*failed) == (((0, 13),), ((0, 0, 12, 1),), "WHOLE-BC-FAIL")
    assert queue_0(*failed, (MODEL.come_back, 0, True)) == (((0, 14),), ((0, 0, 13, 1),), "WHOLE-BC-FAIL")
    # that was so of what it was given before it came back
    again = *failed, (MODEL.come_back, 0, True), (MODEL.come_back, 0, True)
    assert queue_0(*again) == (((0, 15),), ((0, 0, 14, 1),), "START-BC-1")


def test_what_a_listener_holds_comes_again_to_a_member_that_comes_back() -> None:
    assert queue_0(*HELD) == (((0, 13),), ((0, 0, 12, 1),), "WHOLE-BC-HOLD")
    twice = ((0, 0, 12, 2),)
    for crashes in (False, True):
        assert queue_0(*HELD, (MODEL.come_back, 0, crashes)) == (((0, 14),), twice, "WHOLE-BC-HOLD")
    for end in (MODEL.leave, MODEL.crash):
        assert queue_0(*HELD, (end, 0), (MODEL.send, 0), JOIN) == (((0, 14),), twice, "WHOLE-BC-HOLD")
    # one that runs does not begin anew
    assert queue_0(*HELD, JOIN)[:2] == (((0, 13),), ())
    # once only
    assert queue_0(*HELD, (MODEL.come_back, 0, True), (MODEL.come_back, 0, True))[1] == ((0, 0, 14, 1),)
    # those of others are not in its file
    assert queue_0(*HELD, (MODEL.join, 1))[1] == ()


def test_what_was_held_is_in_the_file_once_the_listener_returns_however_it_does() -> None:
    for how in (SUCCEEDS, FAILS):
        returned = *HELD, (MODEL.listen, 0, how)
        assert queue_0(*returned) == (((0, 13),), (), "WHOLE-BC-HOLD")
        assert queue_0(*returned, (MODEL.come_back, 0, True))[1] == ((0, 0, 13, 1),)


def test_how_a_member_ends_whose_listener_holds_is_not_said() -> None:
    assert after(*HELD, (MODEL.leave, 0))[1][3:] == (None, None, None, None)
    assert not any(rule.startswith("TIMER-") for rule in after(*HELD, (MODEL.leave, 0))[2].rules)
    assert after(JOIN, (MODEL.leave, 0))[1][3:] == (1, True, None, None)


def test_of_a_member_that_does_not_run_nothing_changes() -> None:
    assert after(HOLD, JOIN, (MODEL.send, EVERY))[2].rules[0] != "WHOLE-BC-HOLD"
    assert after((MODEL.come_back, 0, False))[1][1] == ()


def test_a_state_is_shown_with_what_listeners_do() -> None:
    assert SUITE.show is not None
    assert "holds {0: 12}" in SUITE.show(after(*HELD)[0])
