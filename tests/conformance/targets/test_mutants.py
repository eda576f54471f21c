"""The mutants: each one changes one thing, is told apart by its name, and is noticed."""

from __future__ import annotations

import pytest
from places import ROOT

from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets import port
from rocketmq_conformance.conformance.targets.discovery import part_of
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.mutation_score import judge_mutant
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DIVERGES, EQUIVALENT, KILLED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.sampler import sampler

DEFECTS = {f"D{number:02}" for number in range(1, 97)}
CASES = 2000
SEED = 11


def named(equivalent: bool) -> list[str]:
    return [name for name, mutant in MUTANTS.items() if bool(mutant.equivalent) is equivalent]


def verdict(mutant: Mutant, name: str, number: int) -> str:
    """The verdict of one case on its own: what a mutant remembers of the cases before must not matter."""
    suite, stage = SUITES[name], Stage(Port(mutant.parts), Profile())
    try:
        stage.begin(suite, number)
        rows = sampler(suite, Profile()).case(SEED, number, suite.steps)
        return Judge(suite, Profile()).judge(rows, lambda row: stage.do(suite, row)).verdict
    finally:
        stage.close()


@pytest.mark.parametrize("name", named(equivalent=False))
def test_a_mutant_is_noticed_within_2000_cases(name: str) -> None:
    judged = judge_mutant(MUTANTS[name], Profile(), seed=SEED, limit=CASES)
    assert judged.status == KILLED
    assert judged.rule
    assert verdict(MUTANTS[name], judged.suite, judged.cases - 1) == DIVERGES


@pytest.mark.parametrize("name", named(equivalent=True))
def test_nothing_tells_an_equivalent_mutant_from_the_port(name: str) -> None:
    judged = judge_mutant(MUTANTS[name], Profile(), seed=SEED, limit=CASES)
    assert judged.status == EQUIVALENT


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: mutant.name)
def test_a_mutant_changes_one_thing(mutant: Mutant) -> None:
    assert mutant.parts
    for part, changed in mutant.parts.items():
        played = part_of(port.__name__, part)
        assert played in changed.__mro__
        written = changed if changed.__base__ is played else changed.__base__
        assert written.__base__ in played.__mro__
        assert 1 <= sum(callable(value) for value in vars(written).values()) <= 4


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: mutant.name)
def test_a_mutant_says_what_is_wrong_and_where_that_was_seen(mutant: Mutant) -> None:
    assert mutant.defect in DEFECTS
    assert mutant.sentence[0].isupper() or not mutant.sentence[0].isalpha()
    assert mutant.sentence.endswith(".")
    assert mutant.sentence.count(". ") == 0
    assert mutant.name == mutant.name.lower().replace(" ", "-")


def test_no_name_and_no_sentence_is_used_twice() -> None:
    folder = ROOT / "conformance" / "targets" / "port" / "mutants"
    declared = sum(path.read_text().count("    _mutant(") for path in folder.glob("*.py"))
    assert len(MUTANTS) == declared
    assert len({mutant.sentence for mutant in MUTANTS.values()}) == len(MUTANTS)


def test_every_part_of_the_port_has_mutants() -> None:
    parts = {part for mutant in MUTANTS.values() for part in mutant.parts}
    assert parts == {name for name, suite in SUITES.items() if suite.side is not Side.BROKER}


def test_the_port_itself_is_not_noticed() -> None:
    parts = {name: kind for name in SUITES if (kind := part_of(port.__name__, name))}
    unchanged = Mutant("port", "D01", "Nothing is wrong.", parts)
    judged = judge_mutant(unchanged, Profile(), seed=SEED, limit=50)
    assert judged.status != KILLED
