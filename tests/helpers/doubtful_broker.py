"""A fake broker that answers searches wrongly, and reports the properties that it is made with."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.mutants import BROKER_MUTANTS
from rocketmq_conformance.models.profile import Profile


def make(**properties: str) -> BrokerAdapter:
    """The adapter of the broker."""
    mutant = next(one for one in BROKER_MUTANTS.values() if one.suites[0] == "broker-search")
    return BrokerAdapter(FakeLocation(Profile(), mutant.parts, properties=properties))
