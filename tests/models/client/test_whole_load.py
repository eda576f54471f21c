"""Groups of whole push consumers under load, whose listeners may hang, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.whole_load import (
    WholeLoadModel,
    hangs,
    has_members,
    is_busy,
    is_dry,
    nothing_hangs,
)
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeLoadModel(Profile(), ORDINARY)
JOIN, HANG, FREE = (MODEL.join, 0), (MODEL.hang, 0), (MODEL.free,)
BEHIND = JOIN, HANG, (MODEL.send, 0)


def after(*steps: Any) -> tuple[WholePushState, Any, Reason]:
    """The state, the answer and the reason in the end."""
    state, result, why = MODEL.initial(), None, Reason((), "")
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
        assert len(set(why.rules)) == len(why.rules)
    return state, result, why


def queue_0(*steps: Any) -> tuple[Any, ...]:
    """Where queue 0 waits, what was given of it, what is stored, and the rule that decides."""
    _, (places, given, stored, *_), why = after(*steps)
    return places[0], tuple(one for one in given if one[1] == 0), stored[0], why.rules[0]


def test_behind_a_message_that_hangs_messages_are_given_and_none_is_committed() -> None:
    assert queue_0(JOIN, HANG) == ((0, 13), ((0, 0, 12, 1),), 12, "WHOLE-LOAD-HANG")
    assert queue_0(*BEHIND) == ((0, 14), ((0, 0, 13, 1),), 12, "WHOLE-LOAD-HANG")
    assert after(*BEHIND, (MODEL.send, 3))[1][2] == (12, 12, 12, 13)
    assert queue_0(*BEHIND, (MODEL.look,)) == ((0, 14), (), 12, "WHOLE-FIRST")
    assert queue_0(*BEHIND, FREE) == ((0, 14), (), 14, "WHOLE-LOAD-HANG")
    assert after(JOIN, (MODEL.join, 2), (MODEL.hang, 3), (MODEL.free,))[1][2] == (12, 12, 12, 13)
    assert queue_0(*BEHIND, (MODEL.stay,)) == ((0, 14), (), 12, "WHOLE-LOAD-LONG")


def test_who_takes_the_queue_meanwhile_is_given_the_message_again_and_what_returns_then_is_discarded() -> None:
    taken = (MODEL.join, 2), HANG, (MODEL.send, 0), JOIN
    assert queue_0(*taken) == ((0, 14), ((0, 0, 12, 2),), 14, "CONS-1-DROPPED")
    assert queue_0(*taken, FREE) == ((0, 14), (), 14, "CONS-1-DROPPED")
    again = ((2, 0, 12, 2),)
    assert queue_0(*BEHIND, (MODEL.crash, 0), (MODEL.join, 2)) == ((2, 14), again, 14, "WHOLE-FIRST")
    assert queue_0(*BEHIND, (MODEL.leave, 0)) == ((-1, -1), (), 12, "WHOLE-LOAD-END")
    assert queue_0(*BEHIND, (MODEL.leave, 0), (MODEL.join, 2)) == ((2, 14), again, 14, "WHOLE-FIRST")


def test_how_a_member_ends_whose_listener_hangs_is_not_said() -> None:
    assert after(JOIN, HANG, (MODEL.leave, 0))[1][3:] == (None, None, None, None)
    assert after(JOIN, HANG, (MODEL.reset, 3), (MODEL.leave, 0))[1][3:] == (None, None, None, None)
    assert after(JOIN, HANG, FREE, (MODEL.leave, 0))[1][3:] == (1, True, "one way", None)
    assert after((MODEL.leave, 0))[1][3:] == (None, None, None, None)


def test_a_reset_begins_anew_while_a_listener_hangs() -> None:
    assert queue_0(*BEHIND, (MODEL.reset, 9)) == ((0, 14), ((0, 0, 9, 5),), 14, "WHOLE-RESET")
    assert queue_0(*BEHIND, (MODEL.reset, 9), FREE) == ((0, 14), (), 14, "CONS-1-DROPPED")


def test_a_queue_with_too_much_is_pulled_on_once_listeners_return() -> None:
    full = JOIN, (MODEL.fill, 0)
    assert queue_0(*full) == ((-1, -1), (), 12, "WHOLE-LOAD-STOP")
    assert queue_0(*full, FREE) == ((0, 1512), ((0, 0, 12, 1500),), 1512, "WHOLE-LOAD-STOP")
    far = *BEHIND, (MODEL.stretch,)
    assert queue_0(JOIN, (MODEL.stretch,)) == queue_0(JOIN, (MODEL.look,))
    assert queue_0(*far) == ((-1, -1), (), 12, "WHOLE-LOAD-STOP")
    assert queue_0(*far, FREE) == ((0, 2514), ((0, 0, 14, 2500),), 2514, "WHOLE-LOAD-STOP")


def test_under_a_steady_load_of_one_queue_the_others_are_given_theirs() -> None:
    _, (places, given, stored), why = after(JOIN, (MODEL.load, 3))
    assert places == ((0, 13), (0, 13), (0, 13), (0, 62))
    assert given == ((0, 0, 12, 1), (0, 1, 12, 1), (0, 2, 12, 1), (0, 3, 12, 50))
    assert stored == (13, 13, 13, 62)
    assert why.rules[0] == "WHOLE-LOAD-FAIR"


def test_what_was_given_is_committed_by_the_next_timer() -> None:
    assert after((MODEL.look,))[2].kind == "nothing is new"
    assert "TIMER-PERSIST" in after(JOIN, (MODEL.send, EVERY))[2].rules


def test_moves_make_sense_by_what_listeners_do() -> None:
    guards = has_members, nothing_hangs, hangs, is_busy, is_dry
    moves: dict[str, tuple[Any, ...]] = {
        "nobody": (),
        "idle": (JOIN,),
        "hangs": (JOIN, HANG),
        "lost": (JOIN, HANG, (MODEL.reset, 3)),
        "full": (JOIN, (MODEL.fill, 0)),
    }
    states = {name: after(*steps)[0] for name, steps in moves.items()}
    assert {name: [guard(state) for guard in guards] for name, state in states.items()} == {
        "nobody": [False, False, False, False, True],
        "idle": [True, True, False, False, True],
        "hangs": [True, False, True, True, True],
        "lost": [True, False, False, True, True],
        "full": [False, False, False, True, False],
    }
