"""The mutants of brokers: each one changes one part of the fake broker, and is noticed."""

from __future__ import annotations

from itertools import count

import noticing_cases
import pytest
from simulated_clock import SimulatedClock

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.fakes.broker import PARTS
from rocketmq_conformance.conformance.targets import mutation_score
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.broker import mutants
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
from rocketmq_conformance.conformance.targets.discovery import suite_modules
from rocketmq_conformance.conformance.targets.mutants import (
    BROKER_MUTANTS,
    PORT_MUTANTS,
    open_mutant,
    profile_of,
)
from rocketmq_conformance.conformance.targets.mutants import MUTANTS as ALL
from rocketmq_conformance.conformance.targets.mutation_score import judge_mutant
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS
from rocketmq_conformance.reports.measurement_event import KILLED
from rocketmq_conformance.suites.declare import discovery
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.sampler import sampler

MUTANTS = tuple(BROKER_MUTANTS.values())


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation_score, "open_mutant", noticing_cases.open_settled)


def test_every_mutant_is_noticed_within_200_cases_or_by_a_covering_plan() -> None:
    by = noticing_cases.kept()
    unnoticed = [mutant.name for mutant in MUTANTS if not noticing_cases.noticed(mutant, by)]
    assert unnoticed == [], "`rocketmq-conformance regenerate` looks for other cases that notice them"


def replaces_one_part(mutant: BrokerMutant) -> bool:
    """Is one part of the fake broker replaced by a kind of it?"""
    ((part, changed),) = mutant.parts.items()
    return issubclass(changed, PARTS[part]) and changed is not PARTS[part]


def test_every_mutant_replaces_one_part_by_a_kind_of_it() -> None:
    assert [mutant.name for mutant in MUTANTS if not replaces_one_part(mutant)] == []


def test_every_mutant_has_suites_and_a_sentence_and_is_noticeable() -> None:
    whole = [mutant for mutant in MUTANTS if mutant.suites and mutant.sentence.endswith(".") and not mutant.equivalent]
    assert [mutant.name for mutant in MUTANTS if mutant not in whole] == []


def test_names_are_distinct_and_separate_brokers_from_ports() -> None:
    declared = [mutant for module in suite_modules(mutants.__name__) for mutant in module.MUTANTS]
    assert sorted(mutant.name for mutant in MUTANTS) == sorted(mutant.name for mutant in declared)
    assert len(ALL) == len(PORT_MUTANTS) + len(MUTANTS), "a name is used twice"
    assert list(MUTANTS) == [one for one in ALL.values() if isinstance(one, BrokerMutant)]
    assert len({mutant.parts[part] for mutant in MUTANTS for part in mutant.parts}) == len(MUTANTS)


def test_every_suite_has_its_mutants_in_its_file() -> None:
    files = {module.__name__.rpartition(".")[2]: module.MUTANTS for module in suite_modules(mutants.__name__)}
    suites = {name.replace("-", "_"): name for name, suite in SUITES.items() if suite.side is Side.BROKER}
    # a suite may have several, which begin with its name
    of = {file: max((suite for suite in suites if file.startswith(suite)), key=len) for file in files}
    assert {*of.values()} == {*suites}
    strangers = [
        (file, mutant.name)
        for file, found in files.items()
        for mutant in found
        if suites[of[file]] not in mutant.suites
    ]
    assert strangers == []


#: Suites in which each of so many mutants is noticed by itself, and how many cases that may take.
ALONE = {
    "broker-expired": ("stop-writes-one", "start-clamps", "start-min-zero", "start-anew"),
    "broker-restart": ("stop-loses", "kill-loses-messages", "kill-forgets-groups", "start-min-old"),
    "broker-process": ("stop-loses", "resume-rereads", "stop-of-frozen", "late-is-zero", "late-for-all"),
}


@pytest.mark.parametrize("suite", ALONE)
def test_a_suite_notices_its_mutants_by_itself(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation_score, "suites_of", lambda mutant: [discovery.SUITES[suite]])
    judged = [judge_mutant(BROKER_MUTANTS[name], Profile(), 11, 20, clock=SimulatedClock()) for name in ALONE[suite]]
    assert [one.name for one in judged if one.status != KILLED or not one.rule] == []


#: By suite and profile.
MADE_FOR = {(name, str(profile_of(mutant, Profile()))): mutant for mutant in MUTANTS for name in mutant.suites}


@pytest.mark.parametrize(("name", "described"), sorted(MADE_FOR))
def test_the_broker_that_they_are_made_of_conforms(name: str, described: str) -> None:
    suite, profile = discovery.SUITES[name], profile_of(MADE_FOR[name, described], Profile())
    clock = noticing_cases.clock_of(profile)
    adapter = BrokerAdapter(FakeLocation(profile, clock=clock), clock)
    adapter.hello()
    stage = Stage(adapter, profile)
    try:
        plans = [sampler(suite, profile).case(11, number, suite.steps) for number in range(12)]
        played = list(Player(stage, Judge(suite, profile)).play(zip(count(), plans, strict=False)))
    finally:
        stage.close()
    assert [one.verdict for one in played] == [CONFORMS] * 12


def test_a_mutant_is_opened_as_what_it_is_a_mutant_of() -> None:
    broker = open_address("mutant:lock-any-is-all")
    assert isinstance(broker, BrokerAdapter)
    assert broker.hello().broker == str(Profile().broker)
    broker.close()
    port = open_mutant(ALL["zero-is-none"], Profile())
    assert isinstance(port, Port)
    with pytest.raises(AddressError, match="takes no options"):
        open_address("mutant:lock-any-is-all?via=tcp")


def test_properties_of_a_broker_mutant_are_set_beside_its_own() -> None:
    def configured(*pairs: str) -> list[str]:
        broker = open_address(f"mutant:late-never?{'&'.join(f'set={pair}' for pair in pairs)}")
        found = [str(one) for one in broker.hello().properties]
        broker.close()
        return found

    assert configured("longPollingEnable=false") == ["lockInStrictMode=true", "longPollingEnable=false"]
    assert configured("lockInStrictMode=false") == []
    with pytest.raises(AddressError, match="cannot be configured by maxMessageSize"):
        configured("maxMessageSize=70000")
    with pytest.raises(AddressError, match="is a port, which has no properties to set"):
        open_address("mutant:zero-is-none?set=longPollingEnable=false")


def test_an_embedded_broker_that_is_gone_is_an_error() -> None:
    source = FakeLocation(Profile())
    adapter = BrokerAdapter(source)
    adapter.hello()
    source.close()
    assert "closed the connection" in source.describe_end()
    with pytest.raises(AdapterError, match="cannot be reached any more"):
        source.open()
    adapter.close()
