"""The mutants of brokers: each one changes one part of the fake broker, and is noticed."""

from __future__ import annotations

import re
from itertools import count

import pytest
from places import ROOT

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.fakes.broker import PARTS
from rocketmq_conformance.conformance.targets import mutation_score
from rocketmq_conformance.conformance.targets.address import AddressError, open_address
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
from rocketmq_conformance.conformance.targets.mutants import BROKER_MUTANTS, PORT_MUTANTS, open_mutant, suites_of
from rocketmq_conformance.conformance.targets.mutants import MUTANTS as ALL
from rocketmq_conformance.conformance.targets.mutation_score import judge_mutant
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, KILLED
from rocketmq_conformance.suites import broker_locks
from rocketmq_conformance.suites.declare import discovery
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

MUTANTS = tuple(BROKER_MUTANTS.values())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_noticed_within_200_cases(mutant: BrokerMutant) -> None:
    judged = judge_mutant(mutant, Profile(), seed=11, limit=200)
    assert judged.status == KILLED
    assert judged.suite in {suite.name for suite in suites_of(mutant)}
    assert judged.rule


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_replaces_one_part_by_a_kind_of_it(mutant: BrokerMutant) -> None:
    ((part, changed),) = mutant.parts.items()
    assert issubclass(changed, PARTS[part])
    assert changed is not PARTS[part]
    assert mutant.suites
    assert mutant.sentence.endswith(".")
    assert not mutant.equivalent


def test_names_are_distinct_and_tell_brokers_from_ports() -> None:
    folder = ROOT / "conformance" / "targets" / "broker" / "mutants"
    assert len(MUTANTS) == sum(len(re.findall(r'"D\d{2,3}"', path.read_text())) for path in folder.glob("*.py"))
    assert len(ALL) == len(PORT_MUTANTS) + len(MUTANTS), "a name is used twice"
    assert list(MUTANTS) == [one for one in ALL.values() if isinstance(one, BrokerMutant)]
    assert len({mutant.parts[part] for mutant in MUTANTS for part in mutant.parts}) == len(MUTANTS)


#: Suites in which each of so many mutants is noticed by itself, and how many cases that may take.
ALONE = {
    "broker-expired": ("stop-writes-one", "start-clamps", "start-min-zero", "start-anew"),
    "broker-restart": ("stop-loses", "kill-loses-messages", "kill-forgets-groups", "start-min-old"),
    "broker-process": ("stop-loses", "resume-rereads", "stop-of-frozen", "late-is-zero", "late-for-all"),
}


@pytest.mark.parametrize(("suite", "name"), [(suite, name) for suite, names in ALONE.items() for name in names])
def test_a_suite_notices_a_mutant_by_itself(suite: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation_score, "suites_of", lambda mutant: [discovery.SUITES[suite]])
    judged = judge_mutant(ALL[name], Profile(), seed=11, limit=20)
    assert (judged.status, judged.suite) == (KILLED, suite)


MADE_FOR = [(discovery.SUITES[name], False) for name in sorted({name for mutant in MUTANTS for name in mutant.suites})]


@pytest.mark.parametrize(("suite", "strict"), [*MADE_FOR, (broker_locks.STRICT, True)])
def test_the_broker_that_they_are_made_of_conforms(suite: Suite, strict: bool) -> None:
    profile = Profile()
    stage = Stage(BrokerAdapter(FakeLocation(profile, strict=strict)), profile)
    try:
        plans = [sampler(suite, profile).case(11, number, suite.steps) for number in range(32)]
        played = list(Player(stage, Judge(suite, profile)).play(zip(count(), plans, strict=False)))
    finally:
        stage.close()
    assert [one.verdict for one in played] == [CONFORMS] * 32


def test_a_mutant_is_opened_as_what_it_is_a_mutant_of() -> None:
    broker = open_address("mutant:lock-any-is-all")
    assert isinstance(broker, BrokerAdapter)
    assert broker.hello().broker == str(Profile().broker)
    broker.close()
    port = open_mutant(ALL["zero-is-none"], Profile())
    assert isinstance(port, Port)
    with pytest.raises(AddressError, match="takes no options"):
        open_address("mutant:lock-any-is-all?via=tcp")


def test_an_embedded_broker_that_is_gone_is_told() -> None:
    source = FakeLocation(Profile())
    adapter = BrokerAdapter(source)
    adapter.hello()
    source.close()
    assert "closed the connection" in source.describe_end()
    with pytest.raises(AdapterError, match="cannot be reached any more"):
        source.open()
    adapter.close()
