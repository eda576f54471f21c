"""The proof of broadcasting listeners: what is expected, and that real consumers are asked."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.proof import whole_broadcasting
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.proof.whole_broadcasting import CASES, expected
from rocketmq_conformance.models.client import whole_broadcast_listener
from rocketmq_conformance.models.profile import Profile


def test_the_cases_are_about_every_rule() -> None:
    rules = {rule for case in CASES for rule in expected(Profile(), case)[1].rules}
    assert rules == {rule.id for rule in whole_broadcast_listener.RULES}


def test_what_is_held_is_given_again_and_what_failed_is_not() -> None:
    looks, _ = expected(Profile(), CASES[-1])
    # the last move is that the one comes back whose listener held; two messages arrived in each queue
    assert looks[-1] == ((("a", ()), ("b", ((0, 12, 2), (1, 12, 2)))), (("a", (14, 14)), ("b", (14, 14))), 0)


@pytest.mark.java
def test_a_consumer_that_does_otherwise_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocketmq_conformance.conformance.targets.java_client.whole import quick_release

    # its listener returns, though it is to hold
    monkeypatch.setattr(whole_broadcasting, "HOLDS", "")
    monkeypatch.setattr(whole_broadcasting, "LOOK_LIMIT", 3.0)
    tally = Tally("scripted", "4.9.8")
    whole_broadcasting.prove_broadcasting(tally, quick_release("4.9.8"), "WHOLE-BC-HOLD")
    assert (tally.cases, tally.differences) == (3, 3)
