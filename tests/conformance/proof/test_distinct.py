"""The client releases that are enough to show every rule as each release has it."""

from __future__ import annotations

from rocketmq_conformance.conformance.proof import java
from rocketmq_conformance.models.client.switches import ClientRules
from rocketmq_conformance.models.profile import Profile


def rules(release: str) -> ClientRules:
    return ClientRules.of(Profile.of(client=release))


def test_one_release_stands_for_all_that_have_its_rules() -> None:
    chosen = [rules(release) for release in java.distinct()]
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) == {rules(release) for release in java.RELEASES}


def test_releases_that_are_asked_more_are_among_them() -> None:
    assert set(java.distinct()) >= java.STATEFUL | java.EXHAUSTIVE
