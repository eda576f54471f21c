"""A mutant is declared at its class, and has the class's name."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
from rocketmq_conformance.conformance.targets.broker.mutant import declared as declared_of_broker
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared


def test_a_mutant_has_the_name_of_its_class_unless_it_is_given_one() -> None:
    found: list[Mutant] = []
    mutant = declared(found, "timers")

    @mutant("D01", "Beats every ten seconds.")
    class BeatsEvery10Seconds:
        pass

    @mutant("D02", "By CRC32.", name="crc32", equivalent="it is the same")
    class ByChecksum:
        pass

    assert found == [
        Mutant("beats-every-10-seconds", "D01", "Beats every ten seconds.", {"timers": BeatsEvery10Seconds}),
        Mutant("crc32", "D02", "By CRC32.", {"timers": ByChecksum}, "it is the same"),
    ]


def test_a_class_within_a_part_changes_the_part() -> None:
    found: list[Mutant] = []

    class Changed:
        pass

    within = declared(found, "consume").of(lambda changed: type(changed.__name__, (), {"queue": changed}))
    assert within("D01", "Changed.")(Changed) is Changed
    assert found[0].parts["consume"].queue is Changed


def test_a_mutant_of_brokers_has_its_suites_and_configuration() -> None:
    found: list[BrokerMutant] = []
    held = declared_of_broker(found, "pulls", "broker-polling", "broker-admin", upgraded_from="4.9.7", holds="false")

    @held("D01", "No pull is held.")
    class NeverHeld:
        pass

    (mutant,) = found
    assert (mutant.name, mutant.parts, mutant.suites) == (
        "never-held",
        {"pulls": NeverHeld},
        ("broker-polling", "broker-admin"),
    )
    assert (mutant.configuration, mutant.upgraded_from) == ((("holds", "false"),), "4.9.7")
