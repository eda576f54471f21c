"""Groups of whole orderly consumers as their traffic, their locks and their listeners show them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole_orderly import WholeOrderlyModel
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeOrderlyModel(Profile(), ORDINARY)
NOBODY = (-1, -1)
TWO_QUEUES = (MODEL.prepare, 2, "young", 7, LAST)


def learn(state: WholePushState, client: str) -> Answer[WholePushState]:
    """The client id of the first member was seen."""
    return MODEL.look(MODEL.learn(state, (client,)))


def seen(*steps: Any, model: WholeOrderlyModel = MODEL) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = model.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.kind


def test_who_has_the_locks_pulls_consumes_in_order_and_commits() -> None:
    given = ((0, 0, 7, 5), (0, 1, 7, 5))
    assert seen(TWO_QUEUES, (MODEL.join, 0)) == (
        (((0, 12), (0, 12)), given, (12, 12), (0, 0), given),
        "messages are given",
    )


def test_a_lock_goes_with_its_queue() -> None:
    places = ((0, 12), (1, 12))
    expected = (places, (), (12, 12), (0, 1), ()), "queues change hands"
    assert seen(TWO_QUEUES, (MODEL.join, 0), (MODEL.join, 1)) == expected
    assert seen(TWO_QUEUES, (MODEL.join, 0), (MODEL.leave, 0)) == (
        ((NOBODY, NOBODY), (), (12, 12), 1, True, "one way", "awaited", (-1, -1), ()),
        "unlocked at the end",
    )


def test_who_leaves_without_the_lock_of_a_queue_was_refused_it_until_then() -> None:
    refused = (MODEL.prepare, 1, "young", 7, LAST), (MODEL.join, 0), (MODEL.crash, 0), (MODEL.join, 1)
    answer, kind = seen(*refused, (MODEL.leave, 1))
    assert (answer[2], kind) == ((12,), "nothing is new")
    assert seen(*refused, (MODEL.expire_locks,), (MODEL.leave, 1))[1] == "unlocked at the end"


def test_the_locks_of_one_that_crashed_stay_for_a_minute() -> None:
    both = TWO_QUEUES, (MODEL.join, 0), (MODEL.join, 1), (MODEL.crash, 0), (MODEL.send, EVERY)
    assert seen(*both) == (
        ((NOBODY, (1, 13)), ((1, 1, 12, 1),), (12, 13), (0, 1), ((1, 1, 12, 1),)),
        "messages are given",
    )
    after, _ = seen(*both, (MODEL.expire_locks,))
    assert after == (((1, 13), (1, 13)), ((1, 0, 12, 1),), (13, 13), (1, 1), ((1, 0, 12, 1),))
    back, _ = seen(*both, (MODEL.join, 0))
    assert back == (((0, 13), (1, 13)), ((0, 0, 12, 1),), (13, 13), (0, 1), ((0, 0, 12, 1),))


def test_a_lost_lock_stops_a_queue_until_it_is_granted_again() -> None:
    lost = TWO_QUEUES, (MODEL.join, 0), (MODEL.take_locks,)
    stopped = (NOBODY, NOBODY), (), (12, 12), (-2, -2), ()
    assert seen(*lost) == (stopped, "locks are lost, or granted again")
    assert seen(*lost, (MODEL.send, EVERY)) == (stopped, "locks are lost, or granted again")
    given = ((0, 0, 12, 1), (0, 1, 12, 1))
    assert seen(*lost, (MODEL.send, EVERY), (MODEL.expire_locks,)) == (
        (((0, 13), (0, 13)), given, (13, 13), (0, 0), given),
        "locks are lost, or granted again",
    )


def test_one_that_is_back_under_another_id_waits_for_the_locks_of_the_first() -> None:
    crashed = TWO_QUEUES, (learn, "7-x"), (MODEL.join, 0), (MODEL.crash, 0)
    same = (((0, 12), (0, 12)), (), (12, 12), (0, 0), ())
    waits = ((NOBODY, NOBODY), (), (12, 12), (-2, -2), ())
    assert [seen(*crashed, (learn, client), (MODEL.join, 0))[0] for client in ("7-x", "9-x")] == [same, waits]
    assert seen(*crashed, (learn, "9-x"), (MODEL.join, 0), (MODEL.expire_locks,))[0] == same


def test_who_joins_while_another_client_has_the_locks_gets_nothing() -> None:
    assert seen(TWO_QUEUES, (MODEL.take_locks,)) == (((NOBODY, NOBODY), (), (7, 7), (-2, -2), ()), "nobody is there")
    waiting, kind = seen(TWO_QUEUES, (MODEL.take_locks,), (MODEL.join, 2))
    assert (waiting, kind) == (((NOBODY, NOBODY), (), (7, 7), (-2, -2), ()), "nothing is new")


def test_a_minute_changes_nothing_for_members_that_confirm_their_locks() -> None:
    confirmed, kind = seen(TWO_QUEUES, (MODEL.join, 0), (MODEL.expire_locks,))
    assert (confirmed[3], kind) == ((0, 0), "nothing is new")


def test_one_that_is_sent_elsewhere_locks_the_queue_anew() -> None:
    moved, kind = seen((MODEL.prepare, 1, "gone", NOTHING, FIRST), (MODEL.join, 0))
    assert (moved, kind) == ((((0, 12),), (), (12,), (0,), ()), "sent elsewhere")


def test_who_is_told_an_offset_begins_there_in_order() -> None:
    again, kind = seen(TWO_QUEUES, (MODEL.join, 0), (MODEL.reset, 3))
    given = ((0, 0, 3, 9),)
    assert (again, kind) == ((((0, 12), (0, 12)), given, (12, 12), (0, 0), given), "told an offset")


def test_who_is_told_an_offset_without_the_lock_waits_for_it() -> None:
    reset = TWO_QUEUES, (MODEL.join, 0), (MODEL.take_locks,), (MODEL.reset, 3)
    assert seen(*reset)[0] == ((NOBODY, NOBODY), (), (3, 12), (-2, -2), ())
    assert seen(*reset, (MODEL.expire_locks,))[0][1] == ((0, 0, 3, 9),)


def test_a_queue_whose_start_is_unknown_is_locked_all_the_same() -> None:
    model = WholeOrderlyModel(Profile.of(client="5.0.0-ALPHA"), ORDINARY)
    places, _, _, locks, _ = seen((model.prepare, 1, "expired", NOTHING, LAST), (model.join, 0), model=model)[0]
    assert (places, locks) == ((NOBODY,), (0,))


def test_who_is_refused_a_lock_begins_once_it_is_granted() -> None:
    steps = TWO_QUEUES, (MODEL.refuse_locks, "SYSTEM_ERROR"), (MODEL.join, 0), (MODEL.send, 1)
    assert seen(*steps)[0] == ((NOBODY, NOBODY), (), (7, 7), (-1, -1), ())
    given = ((0, 0, 7, 5), (0, 1, 7, 6))
    assert seen(*steps, (MODEL.mend,)) == (
        (((0, 12), (0, 13)), given, (12, 13), (0, 0), given),
        "messages are given",
    )
