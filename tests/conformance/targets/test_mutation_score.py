"""Measuring power: what is told of each mutant, and when it is enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketmq_conformance.conformance.engine import corpus, plan
from rocketmq_conformance.conformance.engine.corpus import StoredCase
from rocketmq_conformance.conformance.engine.runner import deliver
from rocketmq_conformance.conformance.targets import mutation_score
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.mutation_score import judge_mutant, measure, noticing_plan
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import INTERRUPTED, Event
from rocketmq_conformance.reports.measurement_event import (
    EQUIVALENT,
    KILLED,
    SURVIVED,
    MutantJudged,
    PowerEnded,
    PowerStarted,
)
from rocketmq_conformance.suites.declare.discovery import SUITES


class Same(RemoteStore):
    """Nothing is wrong with it."""


HARMLESS = Mutant("harmless", "D01", "Nothing is wrong.", {"remote-store": Same})
HARMLESS_AND_KNOWN = Mutant("known", "D01", "Nothing is wrong.", {"remote-store": Same}, "nothing is wrong with it")


def measured(*names: str, cases: int = 50) -> tuple[int, list[Any]]:
    events: list[Any] = list(measure(names, 1, cases))
    return events[-1].exit_code, events


@pytest.fixture
def with_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {mutant.name: mutant for mutant in (HARMLESS, HARMLESS_AND_KNOWN)}
    monkeypatch.setattr(mutation_score, "MUTANTS", {**MUTANTS, **more})


def test_mutants_that_are_noticed_are_enough() -> None:
    code, events = measured("zero-is-none", "python-split")
    assert code == 0
    assert [type(event) for event in events] == [PowerStarted, MutantJudged, MutantJudged, PowerEnded]
    header, first, second, footer = events
    assert (header.mutants, header.limit, header.seed) == (2, 50, 1)
    assert (first.status, first.suite, first.rule) == (KILLED, "remote-store", "OFF-R-READ")
    assert (second.status, second.suite) == (KILLED, "allocation")
    assert 1 <= first.cases <= 50
    assert first.steps > 0
    assert (footer.killed, footer.survived, footer.equivalent, footer.exit_code) == (2, 0, 0, 0)


@pytest.mark.usefixtures("with_harmless")
def test_one_that_survives_is_not() -> None:
    code, events = measured("zero-is-none", "harmless")
    assert code == 1
    assert (events[-2].name, events[-2].status, events[-2].cases) == ("harmless", SURVIVED, 50)
    assert (events[-1].killed, events[-1].survived, events[-1].exit_code) == (1, 1, 1)


@pytest.mark.usefixtures("with_harmless")
def test_one_that_nothing_can_notice_is_told_apart() -> None:
    code, events = measured("known")
    assert code == 0
    assert (events[1].status, events[1].reason) == (EQUIVALENT, "nothing is wrong with it")
    assert events[-1].equivalent == 1


def test_an_unknown_name_is_refused_before_anything_is_reported() -> None:
    with pytest.raises(KeyError, match="No mutant is called 'no-such-one', or matches it"):
        next(measure(["zero-is-none", "no-such-one"], 1, 10))


def test_an_interrupted_measurement_is_not_enough() -> None:
    events: list[Any] = []

    def interrupts(event: Event) -> None:
        events.append(event)
        if isinstance(event, MutantJudged):
            raise KeyboardInterrupt

    deliver(measure(["zero-is-none", "python-split"], 1, 50), interrupts)
    assert (events[-1].stopped, events[-1].exit_code) == (INTERRUPTED, 3)
    assert len(events) == 3


def test_the_same_seed_notices_at_the_same_step() -> None:
    one, again = (judge_mutant(MUTANTS["stays-frozen"], Profile(), seed=4, limit=200) for _ in range(2))
    other = judge_mutant(MUTANTS["stays-frozen"], Profile(), seed=5, limit=200)
    assert one == again
    assert (one.cases, one.steps) != (other.cases, other.steps)


def test_all_mutants_are_measured_when_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: MUTANTS[name] for name in ("zero-is-none", "python-split", "sends-next")}
    monkeypatch.setattr(mutation_score, "MUTANTS", few)
    code, events = measured()
    assert code == 0
    assert [event.name for event in events[1:-1]] == list(few)


def test_patterns_select_mutants_and_say_which() -> None:
    _, events = measured("python-split", "zero-is-n*", "zero-is-none")
    assert [event.name for event in events[1:-1]] == [
        "python-split",
        "zero-is-no-correction",
        "zero-is-none",
        "zero-is-not-stored",
    ]
    assert events[0].mutants == 4
    assert events[0].notes == ["'zero-is-n*' selects zero-is-no-correction, zero-is-none, zero-is-not-stored"]


@pytest.mark.usefixtures("with_harmless")
def test_the_plans_that_are_kept_are_minimal_and_kill(tmp_path: Path) -> None:
    names = ["zero-is-none", "python-split", "harmless", "known"]
    list(measure(names, 1, 50, tmp_path))
    kept = {path.name: [*path.iterdir()] for path in tmp_path.iterdir()}
    assert sorted(kept) == ["python-split", "zero-is-none"]
    for name, (path,) in kept.items():
        found = corpus.read(path)
        ((number, rows),) = found.cases.items()
        assert noticing_plan(MUTANTS[name], {found.suite.name: [StoredCase(path, number, 1, rows)]})
    assert len(plan.read(kept["zero-is-none"][0]).cases.popitem()[1]) == 1


def test_a_plan_that_does_not_kill_a_mutant_does_not_notice_it() -> None:
    own = corpus.cases([corpus.kit_folder()], [SUITES["remote-store"]])
    assert noticing_plan(MUTANTS["zero-is-none"], own)
    assert noticing_plan(HARMLESS, own) is None
