"""Broadcasting consumers as their traffic and their listeners show them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole_broadcast import WholeBroadcastModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.whole_broadcast import SUITE

MODEL = WholeBroadcastModel(Profile(), ORDINARY)
NO_LOCKS = (-1, -1)
TWO_QUEUES = (MODEL.prepare, 2, "young", 7, LAST)


def after(*steps: Any) -> tuple[Any, Any, Any]:
    """The state, the last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return state, result, why.kind


def test_every_member_has_every_queue_and_nobody_commits_to_the_broker() -> None:
    _, seen, kind = after(TWO_QUEUES, (MODEL.join, 0), (MODEL.join, 2), (MODEL.send, 1))
    given = ((0, 1, 12, 1), (2, 1, 12, 1))
    places = ((0, 12), (2, 12)), ((0, 13), (2, 13))
    assert (seen, kind) == ((places, given, (7, 7), NO_LOCKS, given), "messages are given")


def test_who_comes_back_goes_on_by_its_file() -> None:
    begun = TWO_QUEUES, (MODEL.join, 0), (MODEL.send, EVERY)
    given = ((0, 0, 13, 1), (0, 1, 13, 1))
    for back in (((MODEL.leave, 0), (MODEL.send, EVERY), (MODEL.join, 0)), ((MODEL.come_back, 0, True),)):
        _, seen, kind = after(*begun, *back)
        assert (seen[1], kind) == (given, "by its file")


def test_one_that_comes_back_under_another_client_id_has_no_file() -> None:
    state, _, _ = after(TWO_QUEUES, (MODEL.join, 0), (MODEL.send, EVERY), (MODEL.leave, 0), (MODEL.send, EVERY))
    for client, kind in (("", "by its file"), ("9-x", "no file, and others begin elsewhere")):
        assert MODEL.join(MODEL.learn(state, (client,)), 0)[2].kind == kind


def test_a_member_that_joins_shows_why_its_queues_begin_where_they_do() -> None:
    state, _, _ = after(TWO_QUEUES)
    assert MODEL.join(state, 0)[2].beneath == ("START-PUSH-1", "API-ADM-1")


def test_a_file_has_queues_in_which_nothing_was_found() -> None:
    given = ((0, 0, 12, 1), (0, 1, 12, 1))
    _, seen, kind = after(TWO_QUEUES, (MODEL.join, 0), (MODEL.come_back, 0, False))
    assert (seen, kind) == (((((0, 13),), ((0, 13),)), given, (7, 7), NO_LOCKS, given), "by its file")


def test_a_file_may_say_what_would_be_so_without_it() -> None:
    _, seen, kind = after(TWO_QUEUES, (MODEL.join, 0), (MODEL.crash, 0), (MODEL.join, 0))
    assert (seen[0], kind) == ((((0, 12),), ((0, 12),)), "by its file as without one")


def test_the_file_of_another_says_nothing_to_one_that_joins() -> None:
    young = MODEL.prepare, 1, "young", 7, LAST
    _, seen, kind = after(young, (MODEL.join, 0))
    assert kind == "no file"
    read = (MODEL.join, 0), (MODEL.send, EVERY), (MODEL.leave, 0), (MODEL.send, EVERY), (MODEL.join, 1)
    _, seen, kind = after(young, *read)
    assert (seen[0], kind) == ((((1, 14),),), "no file, and others begin elsewhere")


def test_the_others_are_given_what_arrives_while_one_is_away() -> None:
    _, seen, _ = after(TWO_QUEUES, (MODEL.join, 0), (MODEL.join, 1), (MODEL.send, 0), (MODEL.come_back, 0, False))
    assert seen[1] == ((0, 0, 13, 1), (0, 1, 12, 1), (1, 0, 13, 1), (1, 1, 12, 1))


def test_one_that_is_frozen_is_late_and_loses_nothing() -> None:
    begun = TWO_QUEUES, (MODEL.join, 0)
    assert after(*begun, (MODEL.freeze, 0)) == after(*begun, (MODEL.send, EVERY))


def test_one_that_is_sent_elsewhere_writes_that_into_its_file() -> None:
    state, seen, kind = after((MODEL.prepare, 1, "gone", NOTHING, FIRST), (MODEL.join, 1))
    assert (seen, kind) == (((((1, 12),),), (), (-1,), (-1,), ()), "sent elsewhere")
    assert dict(state.files["member-1"]) == {0: 12}


def test_one_that_is_sent_on_to_where_nothing_has_expired_writes_that_into_its_file() -> None:
    old = WholeBroadcastModel(Profile.of("4.9.8", "4.9.7"), ORDINARY)
    state, seen, _ = old.join(old.prepare(old.initial(), 1, "gone", NOTHING, FIRST)[0], 1)
    assert seen == ((((1, 12),),), (), (-1,), (-1,), ())
    assert dict(state.files["member-1"]) == {0: 12}


def test_what_is_repeated_changes_nothing() -> None:
    state, once, kind = after(TWO_QUEUES, (MODEL.join, 0), (MODEL.look,))
    assert kind == "nothing is new"
    for again in ((MODEL.join, 0), (MODEL.crash, 1), (MODEL.come_back, 2, True), (MODEL.send, 9)):
        assert after(TWO_QUEUES, (MODEL.join, 0), again)[1] == once
    assert after(TWO_QUEUES, (MODEL.join, 0), (MODEL.prepare, 1, "gone", 2, FIRST))[0] == state


def test_nobody_is_there_at_first() -> None:
    _, seen, kind = after(TWO_QUEUES, (MODEL.look,))
    assert (seen, kind) == ((((), ()), (), (7, 7), NO_LOCKS, ()), "nobody is there")


def test_a_reader_is_shown_members_and_files() -> None:
    assert SUITE.show(MODEL.initial()).endswith("no member")
    state, _, _ = after(TWO_QUEUES, (MODEL.join, 0))
    assert "member-0 waits at {0: 12, 1: 12}; file of member-0 {0: 12, 1: 12}" in SUITE.show(state)
