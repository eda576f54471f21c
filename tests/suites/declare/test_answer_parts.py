"""Which rule is responsible for a difference, and which parts of answers bind less than others."""

from __future__ import annotations

from rocketmq_conformance.models.client.plan_words import EVERY, FAILS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_listener
from rocketmq_conformance.suites.declare.answer_parts import responsible
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
