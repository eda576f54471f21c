"""The corpus: every plan of it notices a mutant, and every mutant is noticed by one."""

from __future__ import annotations

from simulated_clock import SimulatedClock

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import BROKER_MUTANTS, PORT_MUTANTS, open_mutant, suites_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Row, Suite

PROFILE = Profile()
OWN = corpus.cases([corpus.kit_folder()], SUITES.values())


def noticing(mutant: Mutant) -> set[str]:
    """The plans that notice a mutant of a port."""
    stage = Stage(open_mutant(mutant, PROFILE), PROFILE)
    try:
        return {
            case.path.name
            for suite in suites_of(mutant)
            for case in OWN[suite.name]
            if Player(stage, Judge(suite, PROFILE)).one(1, case.rows).verdict == DIVERGES
        }
    finally:
        stage.close()


def noticing_broker(mutant: BrokerMutant) -> set[str]:
    """The plans that notice a mutant of a broker, each on one that has played nothing before."""
    return {
        case.path.name
        for suite in suites_of(mutant)
        for case in OWN[suite.name]
        if verdict_on_broker(mutant, suite, case.rows) == DIVERGES
    }


def verdict_on_broker(mutant: BrokerMutant, suite: Suite, rows: list[Row]) -> str:
    """The verdict of a plan on a broker that has handled everything it received whenever time passes."""
    clock = SimulatedClock()
    location = FakeLocation(PROFILE, mutant.parts, clock=clock)
    clock.meanwhile = location.settle
    stage = Stage(BrokerAdapter(location, clock), PROFILE)
    try:
        return Player(stage, Judge(suite, PROFILE)).one(1, rows).verdict
    finally:
        stage.close()


def test_every_plan_of_a_broker_notices_a_mutant_and_every_mutant_is_noticed() -> None:
    # no plan can ask for the configuration in which some faults show
    noticed = {name: noticing_broker(mutant) for name, mutant in BROKER_MUTANTS.items() if not mutant.configuration}
    assert [name for name, plans in noticed.items() if not plans] == []
    suites = {name for mutant in BROKER_MUTANTS.values() for name in mutant.suites}
    assert {case.path.name for name in suites for case in OWN[name]} - set().union(*noticed.values()) == set()


def test_every_plan_of_a_port_notices_a_mutant_and_every_mutant_is_noticed() -> None:
    noticed = {name: noticing(mutant) for name, mutant in PORT_MUTANTS.items()}
    assert [name for name, plans in noticed.items() if not plans and not PORT_MUTANTS[name].equivalent] == []
    suites = {name for mutant in PORT_MUTANTS.values() for name in mutant.parts}
    assert {case.path.name for name in suites for case in OWN[name]} - set().union(*noticed.values()) == set()
