"""All mutants of the bundled port and of the fake broker, by name, and how each is opened.

They are found by listing the packages of mutants: every module in them has its own as ``MUTANTS``.
"""

from __future__ import annotations

import time
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import Adapter
from rocketmq_conformance.conformance.targets.broker import mutants as of_brokers
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
from rocketmq_conformance.conformance.targets.discovery import suite_modules
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port import mutants as of_ports
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite

#: Those of the bundled port, and of brokers.
PORT_MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant for module in suite_modules(of_ports.__name__) for mutant in module.MUTANTS
}
BROKER_MUTANTS: dict[str, BrokerMutant] = {
    mutant.name: mutant for module in suite_modules(of_brokers.__name__) for mutant in module.MUTANTS
}
MUTANTS: dict[str, Mutant] = {**PORT_MUTANTS, **BROKER_MUTANTS}


def open_mutant(
    mutant: Mutant, profile: Profile, via: str = "call", pace: float | None = None, clock: SteadyClock = time
) -> Adapter:
    """The adapter of a mutant.

    Of a port, ``via`` is how its operations are done and ``pace`` how fast its clock is when it is real; of a broker,
    ``profile`` says which release it is like. ``clock`` is what either measures time with.
    """
    if isinstance(mutant, BrokerMutant):
        return BrokerAdapter(FakeLocation(profile_of(mutant, profile), mutant.parts, clock=clock), clock)
    return Port(mutant.parts, via=via, name=f"mutant {mutant.name}", pace=pace, clock=clock)


def suites_of(mutant: Mutant) -> list[Suite]:
    """The suites that may kill it."""
    return [SUITES[name] for name in (mutant.suites if isinstance(mutant, BrokerMutant) else mutant.parts)]


def profile_of(mutant: Mutant, profile: Profile) -> Profile:
    """The profile that judges the mutant: of its release and configuration, and with the one it takes turns with."""
    if not isinstance(mutant, BrokerMutant):
        return profile
    older = Release.parse(mutant.upgraded_from) if mutant.upgraded_from else None
    if mutant.release:
        profile = replace(profile, broker=Release.parse(mutant.release))
    return replace(profile.configured(dict(mutant.configuration)), upgraded_from=older)
