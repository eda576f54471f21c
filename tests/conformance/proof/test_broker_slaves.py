"""The proof of slaves: its plans meet every rule, conform on the fake broker, and differ on one with a fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rocketmq_conformance.conformance.proof import broker_slaves
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.mutants.broker_slave import SlaveKeepsNewer
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release, Releases
from rocketmq_conformance.models.rulebook import RULES


@contextmanager
def fake(tally: Tally, properties: dict[str, str], *faults: type) -> Iterator[tuple[BrokerAdapter, Profile]]:
    profile = Profile.of(broker=tally.release).configured(properties)
    adapter = BrokerAdapter(FakeLocation(profile, dict.fromkeys(("replication",), *faults) if faults else None))
    try:
        adapter.hello()
        yield adapter, profile
    finally:
        adapter.close()


def proven(release: str, monkeypatch: pytest.MonkeyPatch, *faults: type) -> Tally:
    tally = Tally("broker", release)
    monkeypatch.setattr(broker_slaves, "own_broker", fake)
    with fake(tally, {}, *faults) as (adapter, profile):
        broker_slaves.prove_pair(adapter, profile, tally)
    broker_slaves.prove_read_slaves(tally)
    if tally.release >= "5":
        broker_slaves.prove_acting_slaves(tally)
    return tally


@pytest.mark.parametrize("release", ["4.0.0", "4.9.7", "5.0.0", "5.5.0"])
def test_the_plans_meet_every_rule_of_slaves(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = proven(release, monkeypatch)
    here = Release.parse(release)
    rules = {name for name, rule in RULES.items() if name.startswith("SLV-") and here in Releases.parse(rule.releases)}
    if here < Release(5, 2, 0):
        rules -= {"SLV-RESET", "SLV-SYNC-RESETS"}  # resets are made by way of the members
    assert (tally.differences, rules - {row.rule for row in tally.rows()}) == (0, set())


def test_a_slave_with_a_fault_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proven("5.5.0", monkeypatch, SlaveKeepsNewer).differences
