"""The proof of a master and its slave: what is expected, and that real consumers are asked."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.conformance.proof import whole_slaves
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.models.profile import Profile

RULES = {"WHOLE-SLV-GONE", "WHOLE-SLV-STORE", "WHOLE-SLV-PULL"}


def test_every_rule_shows_and_what_the_slave_alone_has_comes_again() -> None:
    found: list[Any] = whole_slaves.expected(Profile())
    assert {rule for _, why in found for rule in why.rules} == RULES
    (_, at_slave, _), (_, again, stored) = found[-4][0], found[-1][0]
    assert (at_slave, again, stored[:2]) == (((1, 0, 15, 1), (1, 1, 15, 1)),) * 2 + ((16, 16),)


@pytest.mark.java
def test_a_consumer_that_is_not_asked_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocketmq_conformance.conformance.targets.java_client.whole import quick_release

    monkeypatch.setattr(whole_slaves, "_LIMIT", 2.0)
    monkeypatch.setattr(whole_slaves._Played, "_start", lambda *_: None)
    monkeypatch.setattr(whole_slaves._Played, "_end", lambda *_: None)
    tally = Tally("scripted", "4.9.8")
    whole_slaves.prove_slaves(tally, quick_release("4.9.8"), "WHOLE-FILE")
    assert tally.cases == 0
    whole_slaves.prove_slaves(tally, quick_release("4.9.8"), "WHOLE-SLV-PULL")
    assert (tally.cases, tally.differences) == (1, 1)
