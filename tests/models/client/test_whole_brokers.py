"""Groups of whole push consumers of a topic on two brokers, as their traffic at both shows them, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.whole_brokers import (
    WholeBrokersModel,
    is_mended,
    may_fail,
    number_of,
    numbers,
    place_of,
)
from rocketmq_conformance.models.client.whole_moves import COMMIT, PULL, QUERY
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeBrokersModel(Profile(), ORDINARY)
NOBODY = (-1, -1)
BEGUN = (MODEL.prepare, 2, 2, "young", 12, LAST)
TWO = BEGUN, (MODEL.join, 0), (MODEL.join, 1)


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    assert len(set(why.rules)) == len(why.rules)
    return result, why.kind


def test_queues_have_numbers_by_their_brokers() -> None:
    assert numbers((2, 1), away=False) == (0, 1, 3)
    assert numbers((2, 1), away=True) == (0, 1)
    assert [place_of(number) for number in (0, 2, 3, 4)] == [(0, 0), (0, 2), (1, 0), (1, 1)]
    assert number_of(1, 1) == 4


def test_queues_of_both_brokers_are_divided_in_the_order_of_the_client_ids() -> None:
    state, _, _ = MODEL.prepare(MODEL.initial(), 1, 1, "young", 12, LAST)
    state, _, _ = MODEL.join(MODEL.learn(state, ("9-x",)), 0)
    assert MODEL.join(MODEL.learn(state, ("9-x", "10-x")), 1)[1][0] == ((1, 12), NOBODY, NOBODY, (0, 12), NOBODY)


def test_one_member_has_the_queues_of_both_brokers() -> None:
    places = ((0, 12), (0, 12), NOBODY, (0, 12), (0, 12))
    assert seen(BEGUN, (MODEL.join, 0)) == ((places, (), (12,) * 5), "nothing is new")
    assert seen(BEGUN, (MODEL.join, 0), (MODEL.join, 0))[0][0] == places
    answer, kind = seen(BEGUN, (MODEL.join, 0), (MODEL.send, 3))
    assert answer == ((*places[:3], (0, 13), (0, 12)), ((0, 3, 12, 1),), (12, 12, 12, 13, 12))
    assert kind == "messages of one broker"
    assert seen(BEGUN, (MODEL.join, 0), (MODEL.send, EVERY))[1] == "messages of both brokers"
    assert seen(*TWO, (MODEL.send, EVERY))[1] == "messages of both brokers among several"


def test_members_divide_them_by_the_names_of_brokers() -> None:
    assert seen(*TWO) == ((((0, 12), (0, 12), NOBODY, (1, 12), (1, 12)), (), (12,) * 5), "queues change hands")
    uneven = (MODEL.prepare, 3, 1, "young", 12, LAST), *TWO[1:]
    assert seen(*uneven)[0][0] == ((0, 12), (0, 12), (1, 12), (1, 12), NOBODY)


def test_a_broker_that_goes_away_takes_its_queues_along_and_brings_them_back() -> None:
    away = *TWO, (MODEL.go_away,)
    assert seen(*away) == ((((0, 12), (1, 12), NOBODY, NOBODY, NOBODY), (), (12,) * 5), "goes away among several")
    assert seen(*away, (MODEL.send, EVERY))[0][1] == ((0, 0, 12, 1), (1, 1, 12, 1))
    assert seen(*away, (MODEL.send, 3))[0][1] == ()
    assert seen(*away, (MODEL.go_away,))[1] == "nothing is new among several"
    assert seen(*away, (MODEL.route, 1, 1))[0][0] == ((0, 12), (1, 12), NOBODY, NOBODY, NOBODY)
    back, kind = seen(*away, (MODEL.leave, 0), (MODEL.come_back,))
    assert (back[0], kind) == (((1, 12), (1, 12), NOBODY, (1, 12), (1, 12)), "comes back")
    assert seen(BEGUN, (MODEL.go_away,), (MODEL.join, 0))[0][0][3] == (0, 12)
    assert seen(*TWO, (MODEL.come_back,))[1] == "nothing is new among several"


def test_a_route_moves_queues_from_one_broker_to_the_other() -> None:
    more = (MODEL.prepare, 2, 2, "young", 7, LAST), (MODEL.join, 0), (MODEL.route, 3, 1)
    answer, kind = seen(*more)
    assert answer == (((0, 12), (0, 12), (0, 12), (0, 12), NOBODY), ((0, 2, 7, 5),), (12,) * 5)
    assert kind == "the route changes, messages of one broker"
    assert seen(*more, (MODEL.route, 3, 1))[1] == "nothing is new"
    assert seen(*TWO, (MODEL.route, 1, 2))[1] == "the route changes among several"


def test_who_ends_leaves_its_queues() -> None:
    nobody = (NOBODY,) * 5, (), (12,) * 5
    assert seen(BEGUN, (MODEL.join, 0), (MODEL.leave, 0))[0] == nobody
    assert seen(BEGUN, (MODEL.join, 0), (MODEL.crash, 0)) == (nobody, "without its owner")
    assert seen(BEGUN, (MODEL.leave, 0), (MODEL.look,)) == (nobody, "without its owner")


def test_nothing_is_chosen_later() -> None:
    assert seen(BEGUN, (MODEL.join, 0), (MODEL.prepare, 1, 1, "young", 7, LAST), (MODEL.look,))[0][2] == (12,) * 5


def test_a_queue_of_which_everything_expired_begins_where_its_broker_says() -> None:
    answer, kind = seen((MODEL.prepare, 1, 1, "gone", NOTHING, FIRST), (MODEL.join, 0))
    assert (answer[0], kind) == (((0, 12), NOBODY, NOBODY, (0, 12), NOBODY), "sent elsewhere")


def test_pulls_that_one_broker_refuses_leave_the_other_alone() -> None:
    fails = BEGUN, (MODEL.join, 0), (MODEL.fail_at, 1, PULL), (MODEL.send, EVERY)
    answer, kind = seen(*fails)
    assert answer == (
        ((0, 13), (0, 13), NOBODY, NOBODY, NOBODY),
        ((0, 0, 12, 1), (0, 1, 12, 1)),
        (13, 13, 12, 12, 12),
    )
    assert kind == "PULL_MESSAGE at one broker, messages of one broker"
    answer, kind = seen(*fails, (MODEL.mend,))
    assert (answer[1], kind) == (
        ((0, 3, 12, 1), (0, 4, 12, 1)),
        "answered again at one broker, messages of one broker",
    )
    assert seen(*fails, (MODEL.fail_at, 0, PULL))[0][1] == ((0, 3, 12, 1), (0, 4, 12, 1))


def test_commits_that_one_broker_refuses_are_repeated_there() -> None:
    fails = BEGUN, (MODEL.join, 0), (MODEL.fail_at, 0, COMMIT), (MODEL.send, EVERY)
    assert seen(*fails)[0][2] == (12, 12, 12, 13, 13)
    assert seen(*fails, (MODEL.mend,))[0][2] == (13, 13, 12, 13, 13)


def test_where_one_broker_does_not_say_what_is_stored_the_queues_of_the_other_are_taken() -> None:
    fails = *TWO, (MODEL.fail_at, 1, QUERY)
    assert seen(*fails, (MODEL.leave, 1))[0][0] == ((0, 12), (0, 12), NOBODY, NOBODY, NOBODY)
    assert seen(*fails, (MODEL.leave, 1), (MODEL.mend,))[0][0][3:] == ((0, 12), (0, 12))
    one_and_two = (MODEL.prepare, 1, 2, "young", 12, LAST), (MODEL.join, 1), (MODEL.fail_at, 0, QUERY)
    answer, kind = seen(*one_and_two, (MODEL.join, 0))
    assert answer[0] == (NOBODY, NOBODY, NOBODY, (0, 12), (1, 12))
    assert kind == "QUERY_CONSUMER_OFFSET at one broker, others are taken"
    assert seen(BEGUN, (MODEL.mend,))[1] == "without its owner"


def test_a_request_can_fail_while_a_member_runs_and_both_brokers_are_there() -> None:
    state = MODEL.prepare(MODEL.initial(), 2, 2, "young", 12, LAST)[0]
    assert not may_fail(state)
    state = MODEL.join(state, 0)[0]
    assert may_fail(state)
    assert is_mended(state)
    assert not is_mended(MODEL.fail_at(state, 0, PULL)[0])
    assert not may_fail(MODEL.go_away(state)[0])
    assert is_mended(None)
