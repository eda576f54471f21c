"""Groups of whole lite pull consumers as their traffic and what is polled show them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole_lite import WholeLiteModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeLiteModel(Profile(), ORDINARY)
NOBODY = (-1, -1)
TWO_QUEUES = (MODEL.prepare, 2, "young", 7, LAST)


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.kind


def test_what_is_polled_is_committed() -> None:
    polled = ((0, 0, 7, 5), (0, 1, 7, 5))
    expected = (((0, 12), (0, 12)), polled, (12, 12), (-1, -1), polled)
    assert seen(TWO_QUEUES, (MODEL.join, 0)) == (expected, "messages are polled")


def test_who_is_sent_elsewhere_goes_on_there_and_stores_nothing() -> None:
    beyond = MODEL.prepare, 1, "young", 99, LAST
    assert seen(beyond, (MODEL.join, 1)) == ((((1, 12),), (), (99,), (-1,), ()), "sent elsewhere")
    polled = ((1, 0, 12, 1),)
    assert seen(beyond, (MODEL.join, 1), (MODEL.send, EVERY))[0] == (((1, 13),), polled, (13,), (-1,), polled)
    assert seen((MODEL.prepare, 1, "gone", NOTHING, FIRST), (MODEL.join, 0))[0][2] == (-1,)


def test_who_is_sent_on_to_where_nothing_has_expired_stores_what_it_read() -> None:
    old = WholeLiteModel(Profile.of("4.9.8", "4.9.7"), ORDINARY)
    state = old.prepare(old.initial(), 1, "gone", NOTHING, FIRST)[0]
    assert old.join(state, 0)[1] == (((0, 12),), (), (0,), (-1,), ())


def test_queues_change_hands_and_nothing_is_polled_twice() -> None:
    both = TWO_QUEUES, (MODEL.join, 0), (MODEL.join, 1)
    assert seen(*both) == ((((0, 12), (1, 12)), (), (12, 12), (-1, -1), ()), "queues change hands")
    for end in (MODEL.leave, MODEL.crash):
        assert seen(*both, (end, 0))[0][:2] == (((1, 12), (1, 12)), ())


def test_resets_are_for_push_consumers() -> None:
    outcome, kind = seen(TWO_QUEUES, (MODEL.join, 0), (MODEL.reset, 3))
    assert (outcome, kind) == ((((0, 12), (0, 12)), (), (12, 12), (-1, -1), ()), "told an offset")


def test_who_seeks_goes_on_there_and_commits_from_there() -> None:
    back, kind = seen(TWO_QUEUES, (MODEL.join, 0), (MODEL.seek, 0, 1, 3))
    polled = ((0, 1, 3, 9),)
    assert (back, kind) == ((((0, 12), (0, 12)), polled, (12, 12), (-1, -1), polled), "sought")
    at_end = (MODEL.prepare, 2, "expired", NOTHING, LAST), (MODEL.join, 0), (MODEL.seek, 0, 0, 12)
    assert seen(*at_end)[0] == (((0, 12), (0, 12)), (), (12, -1), (-1, -1), ())


def test_a_seek_beyond_the_bounds_or_elsewhere_changes_nothing() -> None:
    both = TWO_QUEUES, (MODEL.join, 0), (MODEL.join, 1)
    at_rest = seen(*both)[0]
    for refused in ((0, 0, 99), (0, 1, 3), (2, 0, 3), (0, 3, 3)):
        assert seen(*both, (MODEL.seek, *refused))[0] == at_rest


def test_nothing_happens_by_itself() -> None:
    assert seen((MODEL.look,)) == (((NOBODY,) * 4, (), (-1,) * 4, (-1,) * 4, ()), "nobody is there")
    empty = MODEL.prepare, 1, "empty", NOTHING, LAST
    assert seen(empty, (MODEL.join, 0), (MODEL.look,)) == ((((0, 0),), (), (-1,), (-1,), ()), "nothing is new")
