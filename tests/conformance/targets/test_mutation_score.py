"""Measuring power: what is told of each mutant, and when it is enough."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.conformance.targets import mutation_score
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.mutation_score import judge_mutant, measure
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import (
    EQUIVALENT,
    INTERRUPTED,
    KILLED,
    SURVIVED,
    Event,
    MutantJudged,
    PowerEnded,
    PowerStarted,
)


class Same(RemoteStore):
    """Nothing is wrong with it."""


HARMLESS = Mutant("harmless", "D01", "Nothing is wrong.", {"remote-store": Same})
HARMLESS_AND_KNOWN = Mutant("known", "D01", "Nothing is wrong.", {"remote-store": Same}, "nothing is wrong with it")


def measured(*names: str, cases: int = 50) -> tuple[int, list[Any]]:
    events: list[Event] = []
    code = measure(names, 1, cases, events.append)
    return code, events


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


def test_an_unknown_name_is_refused_before_anything_is_told() -> None:
    events: list[Event] = []
    with pytest.raises(KeyError, match="No mutant is called 'nobody'"):
        measure(["zero-is-none", "nobody"], 1, 10, events.append)
    assert events == []


def test_an_interrupted_measurement_is_not_enough() -> None:
    events: list[Any] = []

    def interrupts(event: Event) -> None:
        events.append(event)
        if isinstance(event, MutantJudged):
            raise KeyboardInterrupt

    assert measure(["zero-is-none", "python-split"], 1, 50, interrupts) == 3
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
