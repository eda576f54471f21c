"""Which rule is responsible for a difference, and which parts of answers bind less than others."""

from __future__ import annotations

from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_listener, whole_orderly_listener, whole_push
from rocketmq_conformance.suites.declare.answer_parts import named_parts, responsible
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.step import Step


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
