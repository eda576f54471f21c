"""Which rule is responsible for a difference, and which parts of answers bind less than others."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import (
    whole_answers,
    whole_listener,
    whole_load,
    whole_messages,
    whole_orderly,
    whole_orderly_listener,
    whole_pause,
    whole_push,
    whole_subscriptions,
)
from rocketmq_conformance.suites.declare.answer_parts import named_parts, responsible
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Suite


def test_a_refused_message_that_its_client_gives_again_is_a_copy_that_was_not_sent() -> None:
    suite = whole_listener.SUITE
    bound, expected, why = suite.bind(Profile()), None, None
    state = bound.initial
    for name, *args in (("join", 0), ("listen", 0, FAILS), ("refuse", True), ("send", EVERY)):
        at = suite.index[name]
        state, expected, why = bound.by_position[at](state, *args)
    assert why is not None
    assert isinstance(expected, tuple)
    places, brought, stored, _ = expected
    assert isinstance(brought, tuple)
    assert isinstance(stored, tuple)
    again = (places, (*brought, *brought), tuple(12 for _ in stored), (0, 0, 0, 0))
    assert (
        responsible(suite, Step((suite.index["send"], (EVERY,)), None, None, expected, again, why)) == "CONS-BACK-COPY"
    )


def test_the_rule_of_a_request_that_fails_decides_and_not_the_one_that_says_when_a_round_begins() -> None:
    fails = whole_push.Fail("QUERY_CONSUMER_OFFSET", "SYSTEM_ERROR")
    members = whole_push.Fail("GET_CONSUMER_LIST_BY_GROUP", "SYSTEM_ERROR")
    joins = whole_push.Join(0), whole_push.Join(1)
    assert blamed(*joins) == "REB-SVC-WAKE"
    assert blamed(joins[0], fails, joins[1]) == "WHOLE-UNREAD"
    assert blamed(joins[0], members, joins[1]) == "WHOLE-LIST"


def blamed(*plan: Operation) -> str:
    """The rule that is responsible when after a plan the last member pulls no queue, or all of them."""
    suite = whole_push.SUITE
    (*_, last) = Judge(suite, Profile()).expected([suite.row(one) for one in plan])
    places, *others = last.expected  # type: ignore[misc]
    owner = 1 - max(owner for owner, _ in places)
    return responsible(suite, last._replace(observed=(((owner, 0),) * len(places), *others)))


def test_queues_that_stay_where_they_were_are_the_notification_s_and_else_how_they_are_divided() -> None:
    for suite in (whole_push.SUITE, whole_answers.SUITE, whole_pause.SUITE, whole_load.SUITE, whole_messages.SUITE):
        joins = ("join", 0), ("join", 1)
        assert blamed_for_owners(suite, (0, 0, 0, 0), *joins) == "REB-SVC-WAKE"
        assert blamed_for_owners(suite, (0, 1, 0, 1), *joins) == "WHOLE-SHARE"
        assert blamed_for_owners(suite, (0, 0, -1, -1), *joins) == "WHOLE-SHARE", "who had them has let go"
    crash = ("prepare", 5, "young", -1, LAST), ("join", 0), ("join", 1), ("join", 2), ("crash", 0)
    assert blamed_for_owners(whole_push.SUITE, (-1, -1, 1, 1, 2), *crash) == "REB-SVC-WAKE"


def blamed_for_owners(suite: Suite, owners: Sequence[int], *plan: tuple[object, ...]) -> str:
    """The rule that is responsible when after a plan these members have the queues."""
    (*_, last) = Judge(suite, Profile()).expected([(suite.index[str(name)], tuple(args)) for name, *args in plan])
    places, *others = last.expected  # type: ignore[misc]
    seen = tuple((owner, offset) for owner, (_, offset) in zip(owners, places, strict=True))
    return responsible(suite, last._replace(observed=(seen, *others)))


def test_a_message_of_a_lost_queue_that_is_sent_back_is_one_that_was_to_be_discarded() -> None:
    suite = whole_listener.SUITE
    names = ("join", 0), ("listen", 0, HOLDS), ("send", 3), ("join", 1), ("listen", 0, FAILS)
    (*_, last) = Judge(suite, Profile()).expected([(suite.index[name], tuple(args)) for name, *args in names])
    *parts, (owner, at, stored, waiting) = last.expected  # type: ignore[misc]
    assert waiting == 0
    assert responsible(suite, last._replace(observed=(*parts, (owner, at, stored, 1)))) == "CONS-1-DROPPED"


def test_a_queue_that_stays_locked_is_the_lock_s_and_not_that_of_what_other_listeners_do() -> None:
    suite = whole_orderly_listener.SUITE
    names = ("join", 0), ("join", 1), ("listen", 0, FAILS), ("send", EVERY), ("leave", 1)
    (*_, last) = Judge(suite, Profile()).expected([(suite.index[name], tuple(args)) for name, *args in names])
    answer = named_parts(suite.operations[last.row[0]].spec, last.expected)
    assert answer is not None
    assert last.why.rules[0] != "REB-LOCK-4"
    places, locks = list(answer["places"]), list(answer["locks"])  # type: ignore[arg-type]
    places[-1], locks[-1] = (-1, -1), 1
    observed = tuple({**answer, "places": tuple(places), "locks": tuple(locks), "commits": "awaited"}.values())
    assert responsible(suite, last._replace(observed=observed)) == "REB-LOCK-4"


def test_what_an_orderly_member_stores_of_a_queue_without_a_lock_is_the_lock_s_and_else_the_commit_s() -> None:
    for suite in (whole_orderly.SUITE, whole_orderly_listener.SUITE):
        refused = ("prepare", 2, "young", 12, FIRST), ("join", 0), ("crash", 0), ("join", 1), ("leave", 1)
        assert blamed_for_stored(suite, *refused) == "WHOLE-LOCK"
        assert blamed_for_stored(suite, ("join", 0), ("leave", 0)) == "WHOLE-COMMIT"
        assert blamed_for_stored(suite, ("look",)) == "WHOLE-COMMIT"


def blamed_for_stored(suite: Suite, *plan: tuple[object, ...]) -> str:
    """The rule that is responsible when after a plan nothing differs but what is stored."""
    (*_, last) = Judge(suite, Profile()).expected([(suite.index[str(name)], tuple(args)) for name, *args in plan])
    answer = named_parts(suite.operations[last.row[0]].spec, last.expected)
    assert answer is not None
    return responsible(suite, last._replace(observed=tuple({**answer, "stored": (0, 0)}.values())))


def test_places_of_both_topics_are_the_notification_s_and_of_the_other_topic_alone_the_subscription_s() -> None:
    suite = whole_subscriptions.SUITE
    names = ("join", 0), ("join", 1), ("subscribe",), ("leave", 1)
    (*_, last) = Judge(suite, Profile()).expected([(suite.index[name], tuple(args)) for name, *args in names])
    answer = named_parts(suite.operations[last.row[0]].spec, last.expected)
    assert answer is not None
    places = answer["places"]
    assert isinstance(places, tuple)
    for kept, rule in ((2, "REB-SVC-WAKE"), (4, "WHOLE-SUBSCRIBE")):
        observed = {**answer, "places": (*places[:kept], *[(-1, -1)] * (6 - kept))}
        assert responsible(suite, last._replace(observed=tuple(observed.values()))) == rule
