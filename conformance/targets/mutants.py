"""All mutants, by name: of the bundled port, and of the embedded broker; each is opened as what it is a mutant of."""

from __future__ import annotations

from typing import cast

from rocketmq_conformance.conformance.adapter import Adapter
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.embedded import Embedded
from rocketmq_conformance.conformance.targets.broker.mutants import catalogue as of_brokers
from rocketmq_conformance.conformance.targets.discovery import suite_modules
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port import mutants as of_ports
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_locks
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite

#: Those of the bundled port.
PORT_MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant for module in suite_modules(of_ports.__name__) for mutant in module.MUTANTS
}
MUTANTS: dict[str, Mutant] = {**PORT_MUTANTS, **{mutant.name: mutant for mutant in of_brokers.MUTANTS}}


def of_broker(mutant: Mutant) -> bool:
    """Is it a broker, rather than a port?"""
    return mutant.parts.keys() <= of_brokers.SUITES.keys()


def open_mutant(mutant: Mutant, profile: Profile, via: str = "call", pace: float | None = None) -> Adapter:
    """The adapter of a mutant; ``via`` is how a port is called, ``pace`` how fast its clock is when it is real, and
    ``profile`` whose broker a broker is like."""
    if of_broker(mutant):
        strict = bool(of_brokers.STRICT & mutant.parts.keys())
        return cast(Adapter, BrokerAdapter(Embedded(profile, mutant.parts, strict=strict)))
    return cast(Adapter, Port(mutant.parts, via=via, name=f"mutant {mutant.name}", pace=pace))


def suites_of(mutant: Mutant) -> list[Suite]:
    """The suites that it may be noticed by."""
    if of_broker(mutant):
        names = dict.fromkeys(name for part in mutant.parts for name in of_brokers.SUITES[part])
        if of_brokers.STRICT & mutant.parts.keys():
            return [broker_locks.STRICT]
        return [SUITES[name] for name in names]
    return [SUITES[name] for name in mutant.parts]
