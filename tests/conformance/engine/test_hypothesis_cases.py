"""Cases that Hypothesis draws for a run: valid plans, one at a time; those that diverge come first the next time."""

from __future__ import annotations

import threading
from math import perm
from pathlib import Path

import pytest
from broken_adapters import Slow

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.api import run
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.hypothesis_cases import HypothesisCases
from rocketmq_conformance.conformance.engine.model_tour import Tours
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, CaseEnded, DivergenceFound, SuiteEnded
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.indeterminate import FEW_REQUESTS, MOST
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row


class NeverReads(Slow):
    """Answers every read with an offset that nothing has."""

    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        return Ok(77) if operation.spec.name == "read" else outcome


class SecondRead(NeverReads):
    """The second read of a case is wrong."""

    def reset(self, case: Case) -> None:
        super().reset(case)
        self.reads = 0

    def answer(self, operation: Operation, outcome: Outcome) -> Outcome:
        self.reads += operation.spec.name == "read"
        return super().answer(operation, outcome) if self.reads > 1 else outcome


STORE, GUARDED = SUITES["remote-store"], SUITES["broker-process"]
READ = STORE.index["read"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example database is in the current folder."""
    monkeypatch.chdir(tmp_path)


def reads_twice(rows: list[Row]) -> bool:
    return sum(at == READ for at, _ in rows) > 1


def test_plans_are_distinct_and_every_step_is_allowed() -> None:
    for suite in (STORE, GUARDED):
        cases = HypothesisCases(suite, Profile(), 15, 1)
        plans = [rows for _, rows in cases]
        cases.close()
        assert 5 < len(plans) <= 15
        assert len({tuple(rows) for rows in plans}) == len(plans)
        assert [rows for rows in plans if len(Tours(suite, Profile()).play(rows)) != len(rows)] == []


def test_what_diverged_is_drawn_first_the_next_time() -> None:
    """Verdicts may come at the end, as they do from cases that are played side by side."""
    diverging = []
    for seed in (1, 2):
        cases = HypothesisCases(STORE, Profile(), 10, seed)
        plans = dict(cases)
        numbers = [number for number, rows in plans.items() if reads_twice(rows)]
        diverging.append((numbers, plans))
        for number in numbers:
            cases.diverges(number)
        cases.close()
    (first, plans), (again, later) = diverging
    assert (again[0], later[0]) == (0, plans[first[0]])
    assert 0 < len(first) < len(plans)


def test_what_no_longer_diverges_is_forgotten() -> None:
    begins = []
    for diverges in (True, False, False):
        cases = HypothesisCases(STORE, Profile(), 10, 1)
        plans = dict(cases)
        begins.append(plans[0])
        if diverges:
            last = max(plans)
            kept = plans[last]
            cases.diverges(last)
        cases.close()
    assert [begin == kept for begin in begins] == [False, True, False]


def test_a_search_that_nobody_asks_any_more_ends() -> None:
    before = threading.active_count()
    for asked in (0, 1, 3):
        cases = HypothesisCases(STORE, Profile(), 50, 1)
        for _ in range(asked):
            next(cases)
        cases.close()
    assert threading.active_count() == before


def test_a_fault_of_the_model_reaches_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Tours, "play", broken)
    cases = HypothesisCases(STORE, Profile(), 5, 1)
    with pytest.raises(ZeroDivisionError):
        list(cases)
    cases.close()


def test_a_run_judges_what_it_draws_and_keeps_the_plans(tmp_path: Path) -> None:
    events = list(run("port", suites=["remote-store"], tiers=["hypothesis"], examples=12, seed=1, out=tmp_path / "o"))
    (ended,) = [event for event in events if isinstance(event, SuiteEnded)]
    played = [event.case for event in events if isinstance(event, CaseEnded)]
    assert (ended.verdict, ended.control) == (CONFORMS, True)
    assert played == [*range(len(played))]
    assert [*plan.read(tmp_path / "o" / "remote-store.plan.jsonl").cases] == played


def test_a_divergence_is_shrunk_and_reported_like_any_other() -> None:
    events = list(run(NeverReads(), suites=["remote-store"], tiers=["hypothesis"], seed=1))
    (ended,) = [event for event in events if isinstance(event, SuiteEnded)]
    found = next(event for event in events if isinstance(event, DivergenceFound))
    assert ended.verdict == DIVERGES
    assert len(found.steps) == 1
    assert not found.unshrunk
    assert found.replay.startswith("rocketmq-conformance run python:")
    assert found.replay.endswith(" -k remote-store --tier hypothesis --seed 1 --examples 50")


def test_a_run_begins_with_what_diverged_in_the_last_one(tmp_path: Path) -> None:
    played = []
    for seed, out in ((1, tmp_path / "first"), (2, tmp_path / "second")):
        events = run(SecondRead(), suites=["remote-store"], tiers=["hypothesis"], examples=8, seed=seed, out=out)
        verdicts = {event.case: event.verdict for event in events if isinstance(event, CaseEnded)}
        assert set(verdicts.values()) == {CONFORMS, DIVERGES}
        played.append((verdicts, plan.read(out / "remote-store.plan.jsonl").cases))
    (verdicts, plans), (_, later) = played
    assert later[0] in [plans[case] for case, verdict in verdicts.items() if verdict == DIVERGES]


def test_what_may_stay_open_is_never_more_than_the_model_follows() -> None:
    suite = SUITES["broker-doubt"]
    drawn = HypothesisCases(suite, Profile(), 60, 4)
    doubtful = [sum(suite.operations[at].spec.may_be_indeterminate for at, _ in rows) for _, rows in drawn]
    drawn.close()
    assert 3 <= max(doubtful) <= FEW_REQUESTS
    assert sum(perm(FEW_REQUESTS, handled) for handled in range(FEW_REQUESTS + 1)) <= MOST
