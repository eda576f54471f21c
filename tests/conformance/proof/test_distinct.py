"""The releases that are enough to confirm what all of them confirm."""

from __future__ import annotations

from places import ROOT

from rocketmq_conformance.conformance.proof import broker, java
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.models.client.switches import ClientRules
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import Side


def rules(release: str) -> ClientRules:
    return ClientRules.of(Profile.of(client=release))


def test_one_client_stands_for_all_that_have_its_rules() -> None:
    chosen = [rules(release) for release in java.distinct()]
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) == {rules(release) for release in java.RELEASES}


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
    assert set().union(*confirmed.values()) - few == {"BQ-DEAD-ID", "BQ-PULL-NEGATIVE"} | of_another
