"""Simple consumers of the gRPC protocol, by hand: what a proxy is to see of them."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.grpc_push import ACK, CHANGE, RECEIVE, TERMINATED
from rocketmq_conformance.models.client.grpc_simple import BEATS, IN_TURN, SETTINGS, GrpcSimpleModel
from rocketmq_conformance.models.client.plan_words import EVERY

MODEL = GrpcSimpleModel()
JOIN, SEND, TAKE = (MODEL.join,), (MODEL.send, EVERY), (MODEL.receive, 1, 20)
ACKNOWLEDGE, LATER, UP = (MODEL.acknowledge, 0, 0), (MODEL.change, 0, 0, 30), (MODEL.time_is_up,)
ERROR = "INTERNAL_SERVER_ERROR"
ASKED, GIVEN, ENDED, CALLS, TURN, SAYS, BEAT = range(7)
DONE, STALE = "acknowledged", "acknowledged by a stale handle"


def seen(*steps: Any) -> tuple[Any, frozenset[str]]:
    """The last answer, and the rules of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, frozenset(why.rules)


def ended(*steps: Any) -> list[str]:
    """What became of messages in the last step."""
    return [how for _, _, how in seen(JOIN, SEND, TAKE, *steps)[0][ENDED]]


def test_a_receive_asks_for_what_its_caller_says_and_brings_what_came_first() -> None:
    answer, rules = seen(JOIN, SEND, TAKE)
    assert answer[ASKED] == ((1, False, "2 s", "*", "20 s"),)
    assert (answer[GIVEN], answer[CALLS], answer[TURN]) == (((0, 0, 1),), ((RECEIVE, 1),), None)
    assert (answer[SAYS], answer[BEAT]) == (SETTINGS, BEATS)
    assert {"GP-SIM-2", "GP-SIM-3", "GP-TEL-1", "GP-HB-1"} <= rules
    assert seen(JOIN, SEND, TAKE, TAKE)[0][GIVEN] == ((1, 0, 1),)
    assert seen(JOIN, (MODEL.send, 1), TAKE)[0][GIVEN] == ((1, 0, 1),)
    assert seen(JOIN, TAKE)[0][GIVEN] == ()
    assert seen(SEND, TAKE)[0][:SAYS] == ((), (), (), (), None)


def test_receives_go_round_the_queues() -> None:
    answer, rules = seen(JOIN, TAKE, TAKE)
    assert answer[TURN] == IN_TURN
    assert "GP-SIM-1" in rules
    assert seen(JOIN, TAKE, TAKE, (MODEL.leave,), JOIN)[0][TURN] is None


def test_a_message_ends_by_the_handle_that_counts() -> None:
    assert ended(ACKNOWLEDGE) == [DONE]
    assert ended(ACKNOWLEDGE, ACKNOWLEDGE) == [STALE]
    assert ended(LATER) == ["comes again after 30 s"]
    assert ended(LATER, ACKNOWLEDGE) == [DONE]
    assert ended(UP, ACKNOWLEDGE) == [STALE]
    assert ended(UP, TAKE, ACKNOWLEDGE) == [DONE]
    assert ended(LATER, UP, LATER) == ["comes again after 30 s by a stale handle"]
    assert "GP-SIM-4" in seen(JOIN, SEND, TAKE, ACKNOWLEDGE)[1]
    assert seen(JOIN, SEND, TAKE, UP, TAKE)[0][GIVEN] == ((0, 0, 2),)
    # what was never given, is not there, or was given to a member that is gone
    for steps in (
        (JOIN, SEND, ACKNOWLEDGE),
        (JOIN, ACKNOWLEDGE),
        (JOIN, SEND, TAKE, (MODEL.leave,), JOIN, ACKNOWLEDGE),
    ):
        assert seen(*steps)[0][CALLS] == ()


def test_what_is_refused_is_called_once_and_changes_nothing() -> None:
    for call, step in ((ACK, ACKNOWLEDGE), (CHANGE, LATER)):
        answer, _ = seen(JOIN, SEND, TAKE, (MODEL.refuse, call, ERROR), step)
        assert (answer[CALLS], answer[ENDED]) == (((call, 1),), ())
    assert ended((MODEL.refuse, CHANGE, ERROR), LATER, ACKNOWLEDGE) == [DONE]
    assert ended((MODEL.refuse, ACK, ERROR), ACKNOWLEDGE, (MODEL.mend,), ACKNOWLEDGE) == [DONE]
    answer, _ = seen(JOIN, SEND, (MODEL.refuse, RECEIVE, ERROR), TAKE)
    assert (answer[GIVEN], answer[CALLS]) == ((), ((RECEIVE, 1),))


def test_one_that_is_shut_down_says_so() -> None:
    answer, rules = seen(JOIN, (MODEL.leave,))
    assert (answer[SAYS], answer[-1]) == (None, TERMINATED)
    assert "GP-END-1" in rules
    assert seen((MODEL.leave,))[0][-1] is None
    assert seen(JOIN, JOIN, (MODEL.look,))[0][SAYS] == SETTINGS
