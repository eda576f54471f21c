"""Groups of whole push consumers that subscribe to another topic, by hand."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.whole_moves import COMMIT, PULL, QUERY, ROUTE
from rocketmq_conformance.models.client.whole_subscriptions import (
    WholeSubscriptionsModel,
    is_mended,
    may_fail,
    may_join,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MODEL = WholeSubscriptionsModel(Profile(), ORDINARY)
JOIN, BOTH = (MODEL.join, 0), ((MODEL.join, 0), (MODEL.join, 1))
SUBSCRIBE, UNSUBSCRIBE, SEND, LOOK = (MODEL.subscribe,), (MODEL.unsubscribe,), (MODEL.send, EVERY), (MODEL.look,)
#: Queues begin behind what is there.
AT_END = (MODEL.choose, "expired", NOTHING, LAST)
NO_PULL = (-1, -1)
ONE, TWO = (0,), (0, 1)


def seen(*steps: Any) -> tuple[Any, str]:
    """The last answer, and the kind of state of its reason."""
    state, result, why = MODEL.initial(), None, None
    for handler, *arguments in steps:
        state, result, why = handler(state, *arguments)
    assert why is not None
    return result, why.kind


def owners(*steps: Any) -> list[int]:
    """Who pulls each queue in the end."""
    return [owner for owner, _ in seen(*steps)[0][0]]


def given(*steps: Any) -> list[tuple[int, ...]]:
    """What was given last: member, queue, first offset, messages."""
    return list(seen(*steps)[0][1])


def test_one_that_subscribes_takes_the_queues_and_goes_on_in_the_first_topic() -> None:
    before = ((0, 12),) * 4, tuple((0, queue, 0, 12) for queue in range(4)), (12,) * 4
    places, brought, stored = before
    assert seen(JOIN) == (
        ((*places, NO_PULL, NO_PULL), brought, (*stored, -1, -1), (ONE, (), ())),
        "messages are given",
    )
    assert seen(JOIN, SUBSCRIBE) == (
        (((0, 12),) * 6, ((0, 4, 0, 12), (0, 5, 0, 12)), (12,) * 6, (TWO, (), ())),
        "subscribed, and given messages",
    )
    assert seen(JOIN, SUBSCRIBE, SEND) == (
        (((0, 13),) * 6, tuple((0, queue, 12, 1) for queue in range(6)), (13,) * 6, (TWO, (), ())),
        "messages are given, of both topics",
    )


def test_the_queues_of_both_topics_are_divided_among_the_members() -> None:
    assert owners(*BOTH, SUBSCRIBE) == [0, 0, 1, 1, 0, 1]
    assert owners(SUBSCRIBE, *BOTH) == [0, 0, 1, 1, 0, 1]
    assert owners(*BOTH, SUBSCRIBE, (MODEL.join, 2)) == [0, 0, 1, 2, 0, 1]
    for gone in (MODEL.leave, MODEL.crash):
        assert owners(*BOTH, SUBSCRIBE, (gone, 0)) == [1] * 6
    assert seen(*BOTH, SUBSCRIBE)[1] == "subscribed among several, and given messages"


def test_one_that_unsubscribes_is_given_the_first_topic_alone_and_later_what_waited() -> None:
    left = (JOIN, SUBSCRIBE, UNSUBSCRIBE)
    assert seen(*left) == (
        ((*((0, 12),) * 4, NO_PULL, NO_PULL), (), (12,) * 6, (ONE, (), ())),
        "unsubscribed",
    )
    answer, kind = seen(*left, SEND)
    assert answer[1:] == (
        tuple((0, queue, 12, 1) for queue in range(4)),
        (*(13,) * 4, 12, 12),
        (ONE, (), ()),
    )
    assert kind == "messages are given, and messages of the other topic wait"
    assert given(*left, SEND, SUBSCRIBE) == [(0, 4, 12, 1), (0, 5, 12, 1)]
    assert given(*left, (MODEL.send, 5), SUBSCRIBE) == [(0, 5, 12, 1)]


def test_where_nothing_was_found_the_other_topic_goes_on_too() -> None:
    begun = (AT_END, JOIN, SUBSCRIBE)
    assert seen(*begun)[1] == "subscribed"
    assert given(*begun, UNSUBSCRIBE, SEND, SUBSCRIBE) == [(0, 4, 12, 1), (0, 5, 12, 1)]
    assert given(*begun, SEND, UNSUBSCRIBE, SEND, SUBSCRIBE) == [(0, 4, 13, 1), (0, 5, 13, 1)]


def test_what_was_stored_counts_for_both_topics() -> None:
    assert given((MODEL.choose, "expired", 7, LAST), JOIN, SUBSCRIBE) == [(0, 4, 7, 5), (0, 5, 7, 5)]


def test_to_do_so_twice_or_without_members_changes_nothing() -> None:
    nobody = seen(SUBSCRIBE)
    assert nobody == (((NO_PULL,) * 6, (), (-1,) * 6, ((), (), ())), "without its owner")
    assert seen(UNSUBSCRIBE) == nobody
    assert seen(JOIN, SUBSCRIBE, SUBSCRIBE)[0] == seen(JOIN, SUBSCRIBE, LOOK)[0]
    assert seen(JOIN, UNSUBSCRIBE)[0] == seen(JOIN, LOOK)[0]


def test_a_case_is_chosen_before_anyone_joins_and_goes_on_from_what_was_said() -> None:
    assert owners(SUBSCRIBE, AT_END, JOIN) == [0] * 6
    assert owners(JOIN, AT_END, LOOK)[:4] == [0] * 4
    assert seen(JOIN, SUBSCRIBE, AT_END, LOOK)[0][3] == (TWO, (), ())
    assert owners(AT_END, JOIN) == [0, 0, 0, 0, -1, -1]


def test_one_that_is_shut_down_says_nothing_more() -> None:
    answer, _ = seen(*BOTH, SUBSCRIBE, (MODEL.leave, 1))
    assert answer[3:] == (1, True, "one way", None, (TWO, (), ()))


def test_what_fails_of_one_topic_leaves_the_other_alone() -> None:
    begun = (AT_END, JOIN, SUBSCRIBE)
    pulls = (*begun, (MODEL.fail_of, 1, PULL), SEND)
    assert given(*pulls) == [(0, queue, 12, 1) for queue in range(4)]
    assert seen(*pulls)[1] == "PULL_MESSAGE fails for one topic"
    assert given(*pulls, (MODEL.mend,)) == [(0, 4, 12, 1), (0, 5, 12, 1)]
    assert seen(*pulls, (MODEL.mend,))[1] == "answered again: PULL_MESSAGE"
    commits = (*begun, (MODEL.fail_of, 0, COMMIT), SEND)
    assert seen(*commits)[0][2] == (*(12,) * 4, 13, 13)
    assert seen(*commits, (MODEL.mend,))[0][2] == (13,) * 6
    assert owners(*begun, (MODEL.fail_of, 0, QUERY), (MODEL.join, 1)) == [0, 0, -1, -1, 0, 1]
    assert given(*begun, (MODEL.fail_of, 0, ROUTE), SEND) == [(0, queue, 12, 1) for queue in range(6)]
    assert seen((MODEL.mend,))[1] == "without its owner"


def test_it_can_fail_while_both_topics_are_subscribed_to() -> None:
    state = MODEL.join(MODEL.initial(), 0)[0]
    assert not may_fail(state)
    state = MODEL.subscribe(state)[0]
    assert may_fail(state)
    assert is_mended(state)
    assert may_join(state)
    pulls, routes = (MODEL.fail_of(state, 0, request)[0] for request in (PULL, ROUTE))
    assert may_join(pulls)
    assert not is_mended(pulls)
    assert not may_join(routes)
