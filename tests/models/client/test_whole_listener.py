"""Groups of whole push consumers whose listeners fail or hold, as their traffic shows them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS, NOTHING, SUCCEEDS
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.whole_listener import (
    WholeListenerModel,
    retry_begins,
    takes_back,
    takes_back_of_one,
)
from rocketmq_conformance.models.client.whole_moves import CUT, LATE, SILENT, TWICE, UNKNOWN
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeListenerModel(Profile(), ORDINARY)
ONE_QUEUE, TWO_QUEUES = (MODEL.prepare, 1, "young", 12, LAST), (MODEL.prepare, 2, "young", 12, LAST)
JOINED = ONE_QUEUE, (MODEL.join, 0)
FAILED = *JOINED, (MODEL.listen, 0, FAILS), (MODEL.send, 0)
REFUSED = MODEL.refuse, True
HELD = TWO_QUEUES, (MODEL.join, 0), (MODEL.listen, 0, HOLDS), (MODEL.send, EVERY)


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    assert len(set(why.rules)) == len(why.rules)
    return result, why.kind


def after(*steps: Any) -> Any:
    """The state."""
    state = MODEL.initial()
    for handler, *arguments in steps:
        state = handler(state, *arguments)[0]
    return state


def test_who_joins_has_the_retry_queue_too() -> None:
    assert seen(*JOINED) == ((((0, 12),), (), (12,), (0, 0, 0, 0)), "nothing is new")
    assert seen(*JOINED, (MODEL.join, 1))[0][3] == (0, 0, 0, 0)
    assert seen(*JOINED, (MODEL.send, 0)) == (
        (((0, 13),), ((0, 0, 12, 1),), (13,), (0, 0, 0, 0)),
        "messages are given",
    )
    assert seen(ONE_QUEUE, (MODEL.listen, 0, FAILS)) == ((((-1, -1),), (), (12,), (-1, -1, 0, 0)), "nothing is new")


def test_a_group_that_has_stored_nothing_of_its_retry_queue_begins_at_0_or_by_time_at_max() -> None:
    assert [retry_begins(where, NOTHING) for where in (LAST, FIRST, TIMESTAMP)] == [0, 0, -1]
    assert [retry_begins(where, 3) for where in (LAST, FIRST, TIMESTAMP)] == [3, 3, 3]


def test_what_fails_is_committed_sent_back_and_comes_again() -> None:
    assert seen(*FAILED) == ((((0, 13),), ((0, 0, 12, 1),), (13,), (0, 0, 0, 1)), "sent back")
    again = *FAILED, (MODEL.deliver,)
    assert seen(*again) == ((((0, 13),), ((0, -1, 0, 1),), (13,), (0, 1, 1, 1)), "sent back again")
    assert seen(*FAILED, (MODEL.listen, 0, SUCCEEDS), (MODEL.deliver,)) == (
        (((0, 13),), ((0, -1, 0, 1),), (13,), (0, 1, 1, 0)),
        "come again",
    )


def test_what_the_broker_does_not_take_back_goes_there_as_a_copy() -> None:
    refused = *JOINED, (MODEL.listen, 0, FAILS), (MODEL.refuse, True), (MODEL.send, 0)
    assert seen(*refused) == ((((0, 13),), ((0, 0, 12, 1),), (13,), (0, 0, 0, 1)), "sent back as copies")
    assert seen(*refused, (MODEL.deliver,))[1] == "sent back again"
    assert seen(*refused, (MODEL.refuse, False), (MODEL.send, 0))[1] == "sent back"


def test_what_waits_at_the_broker_is_given_to_who_comes_next() -> None:
    alone = *FAILED, (MODEL.crash, 0)
    assert seen(*alone) == ((((-1, -1),), (), (13,), (-1, -1, 0, 1)), "nobody is there")
    assert seen(*alone, (MODEL.deliver,), (MODEL.join, 1)) == (
        (((1, 13),), ((1, -1, 0, 1),), (13,), (1, 1, 1, 0)),
        "come again",
    )


def test_what_is_held_is_pulled_and_not_committed() -> None:
    assert seen(*HELD) == ((((0, 13), (0, 13)), ((0, 0, 12, 1), (0, 1, 12, 1)), (12, 12), (0, 0, 0, 0)), "held")
    assert seen(*HELD, (MODEL.send, 0))[0][2] == (12, 12)
    assert seen(*HELD, (MODEL.send, 0), (MODEL.listen, 0, SUCCEEDS))[0][2:] == ((14, 13), (0, 0, 0, 0))
    assert seen(*HELD, (MODEL.send, 0), (MODEL.listen, 0, FAILS)) == (
        (((0, 14), (0, 13)), (), (14, 13), (0, 0, 0, 3)),
        "sent back",
    )
    held_again = *HELD, (MODEL.listen, 0, FAILS), (MODEL.listen, 0, HOLDS), (MODEL.deliver,)
    assert seen(*held_again) == (
        (((0, 13), (0, 13)), ((0, -1, 0, 2),), (13, 13), (0, 2, 0, 0)),
        "come again, and held",
    )


def test_a_pull_that_finds_nothing_commits_nothing_of_what_is_held() -> None:
    places, rest = ((0, 13), (0, 13)), ((12, 12), (0, 0, 0, 0))
    assert seen(*HELD, (MODEL.look,)) == ((places, (), *rest), "held, and pulls find nothing")
    _, _, why = MODEL.look(after(*HELD))
    assert why.rules[0] == "PULL-NON-1"


def test_what_a_listener_returns_for_a_lost_queue_is_discarded() -> None:
    lost = *HELD, (MODEL.join, 1)
    assert seen(*lost) == ((((0, 13), (1, 13)), ((1, 1, 12, 1),), (12, 13), (0, 0, 0, 0)), "held, and lost")
    assert seen(*lost, (MODEL.listen, 0, FAILS))[0][2:] == ((13, 13), (0, 0, 0, 1))


def test_who_holds_is_not_shut_down() -> None:
    assert seen(*HELD, (MODEL.leave, 0))[0][0] == ((0, 13), (0, 13))
    assert seen(*HELD, (MODEL.crash, 0))[0] == (((-1, -1), (-1, -1)), (), (12, 12), (-1, -1, 0, 0))
    assert seen(*JOINED, (MODEL.leave, 0))[0][0] == ((-1, -1),)


def test_queues_change_hands_and_are_sent_elsewhere_as_ever() -> None:
    assert seen(TWO_QUEUES, (MODEL.join, 0), (MODEL.join, 1))[1] == "queues change hands"
    assert seen((MODEL.prepare, 1, "gone", NOTHING, FIRST), (MODEL.join, 0))[1] == "sent elsewhere"


FAILS_AT_TWO = TWO_QUEUES, (MODEL.join, 0), (MODEL.listen, 0, FAILS)


def test_a_message_that_alone_is_not_taken_back_is_sent_as_a_copy_and_the_others_are_taken() -> None:
    given, waiting = ((0, 0, 12, 1), (0, 1, 12, 1)), (0, 0, 0, 2)
    for how, kind in (
        (UNKNOWN, "one alone is sent back as a copy"),
        (CUT, "one alone is sent back as a copy"),
        (LATE, "one alone is answered late, or twice"),
        (TWICE, "one alone is answered late, or twice"),
    ):
        alone = *FAILS_AT_TWO, (MODEL.refuse_one, 1, how)
        assert seen(*alone) == ((((0, 13), (0, 13)), given, (13, 13), waiting), kind)
        # the next one is taken back as ever
        assert seen(*alone, (MODEL.send, 1))[1] == "sent back"
    again = *FAILS_AT_TWO, (MODEL.refuse_one, 0, UNKNOWN), (MODEL.deliver,)
    assert seen(*again)[0][3] == (0, 2, 2, 2)
    assert seen(*HELD, (MODEL.listen, 0, FAILS), (MODEL.refuse_one, 5, UNKNOWN))[1] == "sent back"
    assert seen(TWO_QUEUES, (MODEL.join, 0), (MODEL.refuse_one, 0, UNKNOWN))[1] == "messages are given"


def test_who_lost_its_connection_for_a_message_may_have_had_two() -> None:
    for how, connections in ((SILENT, None), (CUT, None), (UNKNOWN, 1)):
        answer, _ = seen(*FAILS_AT_TWO, (MODEL.refuse_one, 0, how), (MODEL.leave, 0))
        assert answer[3] == connections


def test_one_message_alone_is_refused_while_others_are_taken_and_a_connection_is_lost_while_one_member_runs() -> None:
    refused, alone, both = (after(*FAILS_AT_TWO, *more) for more in ((REFUSED,), (), ((MODEL.join, 1),)))
    assert [takes_back(state) for state in (refused, alone, both)] == [False, True, True]
    assert [takes_back_of_one(state) for state in (refused, alone, both)] == [False, True, False]
