"""The releases that are enough to confirm what all of them confirm."""

from __future__ import annotations

import pytest
from places import ROOT

from rocketmq_conformance.conformance.proof import broker, java
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side


def rules(release: str) -> ClientRules:
    return ClientRules.of(Profile.of(client=release))


def test_one_client_stands_for_all_that_have_its_rules() -> None:
    chosen = [rules(release) for release in java.distinct()]
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) == {rules(release) for release in java.RELEASES}


def test_a_release_between_two_that_answer_the_same_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"4.9.2": 1, "4.9.3": 1, "4.9.4": 1, "4.9.5": 2, "4.9.6": 1, "4.9.8": 1, "5.0.0": 1, "5.1.0": 1}
    monkeypatch.setattr(java, "_answers", lambda suite, profile: answers[str(profile.client)])
    left = java.repeated(list(answers), java.covering(["5.0.0", "4.9.8"]), {"4.9.8", "5.0.0"})
    assert [release for release, suites in left.items() if suites] == ["4.9.3"]
    assert left["4.9.3"] == {suite.name for suite in SUITES.values() if suite.side in (Side.PURE, Side.CLIENT)}


def test_of_releases_that_answer_a_suite_the_same_the_newest_plays_covering_plans(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(java, "_answers", lambda suite, profile: str(profile.client) >= "5.0.0")
    monkeypatch.setattr(java, "_covering_answers", lambda suite, release: suite.name == "pull" and release == "5.1.4")
    covered = java.covering_among(["5.5.0", "4.9.3", "4.9.8", "5.0.0", "5.1.4"])
    of_clients = {suite.name for suite in SUITES.values() if suite.side is Side.CLIENT}
    assert covered == {"4.9.8": of_clients, "5.0.0": set(), "5.1.4": {"pull"}, "5.5.0": of_clients}


def test_answers_are_the_same_where_no_rule_of_the_suite_has_changed() -> None:
    def same(suite: str, *releases: str) -> bool:
        return len({java._answers(SUITES[suite], Profile.of(client=release)) for release in releases}) == 1

    assert same("allocation", "5.1.2", "5.3.1", "5.5.0")
    assert not same("allocation", "4.1.0", "5.5.0")
    assert same("local-store", "4.9.7", "4.9.8")
    assert not same("pull", "4.0.0-incubating", "5.5.0")


def test_small_allocations_are_all_tried_on_the_newest_of_those_that_allocate_the_same() -> None:
    assert java.exhaustive_among(java.RELEASES) == {"4.7.1", "5.5.0"}
    assert java.exhaustive_among(["4.9.8", "5.1.4", "5.2.0"]) == {"5.1.4"}


def test_clients_that_are_asked_more_are_among_them() -> None:
    assert set(java.distinct()) >= java.COVERED | java.EXHAUSTIVE


def test_few_brokers_confirm_nearly_every_rule_of_all() -> None:
    confirmed: dict[str, set[str]] = {}
    for row in KeptRows(ROOT / "docs" / "proof").rows():
        if row.side == Side.BROKER.value:
            confirmed.setdefault(row.release, set()).add(row.rule)
    few = set().union(*(confirmed[release] for release in broker.RELEASES))
    # which the tox environment broker looks at
    of_another = {"BQ-BACK-FENCE", "BQ-FILE-START"}
    assert of_another <= confirmed["5.0.0"]
    assert set().union(*confirmed.values()) - few == {"BQ-DEAD-ID", "BQ-INDEX-ZERO", "BQ-PULL-NEGATIVE"} | of_another
