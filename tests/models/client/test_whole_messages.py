"""Groups of whole push consumers that are given messages of several forms, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.whole_messages import WholeMessagesModel, has_members, is_settled
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.message_forms import BIG, BROKEN, LONG_HOSTS, LONG_NAME, PROPERTIES
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeMessagesModel(Profile(), ORDINARY)
MENDED = WholeMessagesModel(Profile().mended(), ORDINARY)
JOIN = (MODEL.join, 0)
BAD = (MODEL.send_as, 0, BROKEN)


def after(*steps: Any) -> tuple[WholePushState, Any, Any]:
    """The state, the answer and the reason in the end."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    return state, result, why


def queue_0(*steps: Any) -> tuple[Any, ...]:
    """Where queue 0 waits, what was given, what is stored, and what was read."""
    _, (places, given, stored, read), _ = after(*steps)
    return places[0], given, stored[0], read


def test_a_message_is_given_between_two_plain_ones_and_read_as_it_was_sent() -> None:
    read = ((0, 0, 13, 15, "one two"),)
    assert queue_0(JOIN, (MODEL.send_as, 0, PROPERTIES)) == ((0, 15), ((0, 0, 12, 3),), 15, read)


def test_the_messages_of_a_batch_have_offsets_of_their_own() -> None:
    read = (0, 0, 13, 10, ""), (0, 0, 14, 10, "")
    assert queue_0(JOIN, (MODEL.send_batch, 0)) == ((0, 16), ((0, 0, 12, 4),), 16, read)


@pytest.mark.parametrize(("send", "form"), [(MODEL.send_from_afar, LONG_HOSTS), (MODEL.send_named, LONG_NAME)])
def test_long_hosts_and_names_change_nothing(send: Any, form: str) -> None:
    assert after(JOIN, (send, 0))[:2] == after(JOIN, (MODEL.send_as, 0, form))[:2]
    assert queue_0(JOIN, (send, 0))[:3] == ((0, 15), ((0, 0, 12, 3),), 15)


def test_what_comes_behind_a_message_that_cannot_be_read_is_passed_over_and_committed_later() -> None:
    assert queue_0(JOIN, BAD) == ((0, 15), ((0, 0, 12, 1),), 13, ())
    assert queue_0(JOIN, BAD, (MODEL.look,)) == ((0, 15), (), 15, ())
    assert queue_0(JOIN, BAD, BAD) == ((0, 18), ((0, 0, 15, 1),), 16, ())


def test_whoever_takes_a_queue_at_such_a_message_is_given_nothing() -> None:
    assert queue_0(JOIN, BAD, (MODEL.leave, 0), (MODEL.join, 1)) == ((1, 15), (), 13, ())
    state, _, _ = after(JOIN, BAD)
    assert [has_members(state), is_settled(state)] == [True, False]
    assert is_settled(after(JOIN, BAD, (MODEL.look,))[0])


def test_a_client_without_the_accident_passes_over_the_message_alone() -> None:
    assert queue_0(JOIN, (MENDED.send_as, 0, BROKEN)) == ((0, 15), ((0, 0, 12, 1), (0, 0, 14, 1)), 15, ())
    whys = [model.send_as(after(JOIN)[0], 0, BROKEN)[2] for model in (MODEL, MENDED)]
    assert [(why.quirk, why.either, why.rules[0]) for why in whys] == [
        (True, True, "WHOLE-MSG-BAD"),
        (False, False, "WHOLE-MSG-BAD"),
    ]


def test_every_queue_is_given_its_message_and_a_reason_is_that_of_the_form() -> None:
    _, (_, given, _, read), why = after(JOIN, (MODEL.send_as, EVERY, BIG))
    assert [(queue, first, count) for _, queue, first, count in given] == [(queue, 12, 3) for queue in range(4)]
    assert [one[1:4] for one in read] == [(queue, 13, 300_000) for queue in range(4)]
    assert (why.rules[0], why.kind) == ("WHOLE-MSG-READ", BIG)
    _, _, why = after((MODEL.send_as, 0, BIG))
    assert "WHOLE-MSG-READ" not in why.rules
