"""The runner: events in their order, plans on disk first, fair shares of time, controls, and every way to end."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocketmq_conformance.conformance.adapter import Adapter, AdapterError, CannotRunError, Case, Hello
from rocketmq_conformance.conformance.engine import plan, player, runner, suite_run
from rocketmq_conformance.conformance.engine.handshake import hello_of, profile_of, release_choice
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.plan import PlanWriter
from rocketmq_conformance.conformance.engine.runner import Runner
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import Err, Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import KNOWN
from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    DIVERGES,
    HOLDS,
    INTERRUPTED,
    NOT_REACHED,
    TIME_LIMIT,
    UNDECIDED,
    UNSUPPORTED,
    CaseEnded,
    DivergenceFound,
    Event,
    Progress,
    RulesJudged,
    RunEnded,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

ALLOCATION, STORE, LOCAL, PULL = (SUITES[name] for name in ("allocation", "remote-store", "local-store", "start-pull"))
OFFSETS, SEARCH = SUITES["broker-offsets"], SUITES["broker-search"]


class Slow:
    """A port, one operation at a time; ``answer`` may replace what it says."""

    def __init__(self, answer: Callable[[Operation, Outcome], Outcome] | None = None, mutant: str = "") -> None:
        self.port = Port(MUTANTS[mutant].parts if mutant else None)
        self.answer = answer or (lambda operation, outcome: outcome)
        self.begun = 0
        self.applied = 0

    def hello(self) -> Hello:
        return self.port.hello()

    def reset(self, case: Case) -> None:
        self.begun += 1
        self.port.reset(case)

    def apply(self, operation: Operation) -> Outcome:
        self.applied += 1
        return self.answer(operation, self.port.apply(operation))

    def close(self) -> None:
        self.port.close()


@dataclass
class Ran:
    """What a run told."""

    code: int
    events: list[Event]

    def of(self, kind: type[Event], suite: str = "") -> list[Any]:
        return [e for e in self.events if isinstance(e, kind) and (not suite or getattr(e, "suite", "") == suite)]

    @property
    def end(self) -> RunEnded:
        (end,) = self.of(RunEnded)
        return end  # type: ignore[no-any-return]

    def verdict(self, suite: Suite) -> SuiteEnded:
        (end,) = self.of(SuiteEnded, suite.name)
        return end  # type: ignore[no-any-return]


def run(
    adapter: Adapter,
    *suites: Suite,
    profile: Profile | None = None,
    tap: Callable[[Event], None] | None = None,
    **more: Any,
) -> Ran:
    """Run suites; by default five cases of each, seed 1, nothing kept."""
    events: list[Event] = []
    stage = Stage(adapter, Profile(), patience=20)
    hello = hello_of(stage)
    judged_by = profile or profile_of(hello, {})
    stage.use(judged_by)
    try:
        options = Options(**{"address": "python:here:it", "seed": 1, "cases": 5, **more})
        for event in Runner(stage, hello, judged_by, options).run(suites):
            events.append(event)
            if tap:
                tap(event)
    finally:
        stage.close()
    assert isinstance(events[-1], RunEnded)
    return Ran(events[-1].exit_code, events)


# --- the order of things ----------------------------------------------------------------------------------------


def test_events_come_in_their_order() -> None:
    ran = run(Port(), ALLOCATION, STORE, cases=3)
    kinds = [type(e) for e in ran.events if not isinstance(e, Progress)]
    suite = [SuiteStarted, CaseEnded, CaseEnded, CaseEnded, SuiteEnded]
    assert kinds == [RunStarted, *suite, *suite, RulesJudged, RunEnded]
    assert [e.suite for e in ran.of(SuiteEnded)] == ["allocation", "remote-store"]
    assert [e.case for e in ran.of(CaseEnded, "allocation")] == [0, 1, 2]


class Waiting(Slow):
    """A port whose cases take ten seconds each, as it says."""

    def case_seconds(self, suite: Suite) -> float:
        return 10.0 if suite is ALLOCATION else 0.0


def test_a_suite_that_waits_says_how_long_it_will_take() -> None:
    ran = run(Waiting(), ALLOCATION, STORE, cases=3)
    assert [e.expected_seconds for e in ran.of(SuiteStarted)] == [30.0, 0.0]
    assert [e.expected_seconds for e in run(Port(), ALLOCATION).of(SuiteStarted)] == [0.0]


def test_the_header_says_what_is_judged_by_what() -> None:
    ran = run(Port(), ALLOCATION, profile=Profile.of("4.9.8", "5.1.4"), seed=77, notes=("first",))
    (header,) = ran.of(RunStarted)
    assert (header.implementation, header.address, header.seed) == ("port", "python:here:it", 77)
    assert header.profile == {"client": "4.9.8", "broker": "5.1.4", "java": "17"}
    assert header.notes == ["first"]


def test_a_release_that_nobody_knows_yet_is_reported() -> None:
    ran = run(Port(), ALLOCATION, profile=Profile.of("9.9.9"))
    assert ran.code == 0
    assert ran.of(RunStarted)[0].notes == [
        f"client 9.9.9 is newer than {KNOWN}, the newest the rules know: judged by {KNOWN}"
    ]


def test_the_footer_adds_everything_up() -> None:
    ran = run(Port(), ALLOCATION, STORE, cases=4, steps=10)
    assert ran.code == 0
    assert ran.end.verdict == CONFORMS
    assert ran.end.cases == {CONFORMS: 8, DIVERGES: 0, UNDECIDED: 0, COULD_NOT_RUN: 0, UNSUPPORTED: 0}
    assert ran.end.steps == 80 == sum(e.steps for e in ran.of(CaseEnded))
    assert (ran.end.controls_noticed, ran.end.controls) == (2, 2)


def test_a_plan_is_on_disk_before_its_first_case_begins(tmp_path: Path) -> None:
    seen: list[int] = []

    class Looks(Slow):
        def reset(self, case: Case) -> None:
            read = plan.read(tmp_path / f"{case.suite.name}.plan.jsonl")
            drawn = sampler(case.suite, Profile()).case(1, case.number, case.suite.steps)
            if case.number == len(seen):  # not that of the control
                assert [*read.cases] == [*range(case.number + 1)]
            seen.append(case.number)
            assert read.cases[case.number] == drawn
            super().reset(case)

    ran = run(Looks(), STORE, cases=3, out=tmp_path)
    assert ran.code == 0
    assert seen[:3] == [0, 1, 2]
    assert ran.of(SuiteStarted)[0].plan == str(tmp_path / "remote-store.plan.jsonl")


@pytest.mark.parametrize("suite", [ALLOCATION, STORE, LOCAL, PULL], ids=lambda suite: suite.name)
def test_calls_and_operations_are_judged_alike(suite: Suite) -> None:
    fast, slow = run(Port(), suite, cases=10), run(Slow(), suite, cases=10)
    assert [e.digest for e in fast.of(CaseEnded)] == [e.digest for e in slow.of(CaseEnded)]
    assert fast.verdict(suite).coverage == slow.verdict(suite).coverage


# --- time -------------------------------------------------------------------------------------------------------


class Clocked(Slow):
    """Every case takes a second of a clock that only cases move."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def reset(self, case: Case) -> None:
        self.now += 1
        super().reset(case)


def clock_of(adapter: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the run go by the adapter's clock."""
    for module in (runner, suite_run, player):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: adapter.now))


def test_every_suite_gets_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = Clocked()
    clock_of(adapter, monkeypatch)
    ran = run(adapter, ALLOCATION, STORE, PULL, cases=1000, steps=2, max_time=30)
    for suite in (ALLOCATION, STORE, PULL):
        assert 8 <= ran.verdict(suite).cases[CONFORMS] <= 11
        assert f"of {1000} cases" in ran.verdict(suite).reason
    assert ran.end.stopped == TIME_LIMIT
    assert ran.code == 0


def test_time_that_one_suite_leaves_goes_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = Clocked()
    clock_of(adapter, monkeypatch)
    short = {"allocation": {0: sampler(ALLOCATION, Profile()).case(1, 0, 2)}}
    ran = run(adapter, ALLOCATION, STORE, PULL, cases=1000, steps=2, max_time=30, plans=short)
    assert ran.verdict(ALLOCATION).cases[CONFORMS] == 1
    assert ran.verdict(STORE).cases[CONFORMS] == 14
    assert ran.verdict(PULL).cases[CONFORMS] == 13


def test_writing_plans_takes_nothing_from_the_time_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    adapter = Clocked()
    clock_of(adapter, monkeypatch)
    add = PlanWriter.add

    def slow(writer: PlanWriter, number: int, rows: Sequence[Any]) -> None:
        adapter.now += 100
        add(writer, number, rows)

    monkeypatch.setattr(PlanWriter, "add", slow)
    ran = run(adapter, STORE, PULL, cases=1000, steps=2, max_time=20, out=tmp_path)
    assert [ran.verdict(suite).cases[CONFORMS] for suite in (STORE, PULL)] == [10, 9]  # and a control each
    assert len(plan.read(tmp_path / "remote-store.plan.jsonl").cases) == 10


def test_starting_up_takes_nothing_from_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = Clocked()
    clock_of(adapter, monkeypatch)

    def starts(event: Event) -> None:
        if isinstance(event, RunStarted):
            adapter.now += 1000

    assert run(adapter, STORE, cases=1000, steps=2, max_time=10, tap=starts).end.cases[CONFORMS] == 10


def test_a_suite_that_gets_no_time_still_plays_one_case(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(Slow(), STORE, PULL, cases=1000, steps=2, max_time=0)
    assert [ran.verdict(suite).cases[CONFORMS] for suite in (STORE, PULL)] == [1, 1]
    assert ran.code == 0


class AwayFrom(Slow):
    """A port that a suite of its cases never starts."""

    def took_part(self, suite: Suite) -> bool:
        return suite is not STORE


def test_a_suite_whose_cases_start_nothing_decides_nothing() -> None:
    ran = run(AwayFrom(), STORE, PULL, cases=5)
    assert [ran.verdict(suite).verdict for suite in (STORE, PULL)] == [UNDECIDED, CONFORMS]
    assert ran.verdict(STORE).reason == "no case came to start what is judged: play more of them"
    assert ran.code == 3


def test_a_run_that_ended_in_time_was_not_stopped() -> None:
    assert run(Port(), STORE, max_time=1000).end.stopped == ""


# --- controls ---------------------------------------------------------------------------------------------------


def test_a_control_that_stays_silent_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_conformance.suites.declare.oracle.agrees", lambda expected, observed: True)
    ran = run(Slow(mutant="zero-is-none"), STORE, cases=50)
    assert ran.code == 3
    assert ran.verdict(STORE).verdict == UNDECIDED
    assert ran.verdict(STORE).control is False
    assert "planted wrong answer was not noticed" in ran.verdict(STORE).reason
    assert (ran.end.verdict, ran.end.controls_noticed, ran.end.controls) == (UNDECIDED, 0, 1)


def test_one_silent_control_is_not_outvoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "rocketmq_conformance.suites.declare.oracle.agrees",
        lambda expected, observed: observed in (expected, Err("PLANTED")),
    )
    ran = run(Slow(), STORE, ALLOCATION, cases=2, plans={"remote-store": {0: [(STORE.index["remove"], (0,))]}})
    assert ran.verdict(STORE).control is False
    assert ran.verdict(ALLOCATION).control is True
    assert ran.code == 3


def test_an_implementation_that_answers_otherwise_the_second_time_is_not_believed() -> None:
    adapter = Slow()
    adapter.answer = lambda operation, outcome: (
        Err("FLAKY") if adapter.begun > 5 and adapter.applied % 3 == 0 else outcome
    )
    ran = run(adapter, STORE, cases=5)
    assert ran.end.cases[CONFORMS] == 5
    assert ran.verdict(STORE).control is False
    assert ran.code == 3


def test_the_control_needs_a_case_that_conformed() -> None:
    ran = run(Slow(lambda operation, outcome: Err("TIMEOUT", definite=False)), STORE)
    assert ran.verdict(STORE).control is None
    assert ran.end.controls == 0
    assert ran.code == 3


# --- differences ------------------------------------------------------------------------------------------------


def test_a_difference_is_reported_with_its_shortest_plan(tmp_path: Path) -> None:
    ran = run(Slow(mutant="zero-is-none"), STORE, cases=20, out=tmp_path, address="mutant:zero-is-none")
    assert ran.code == 1
    found = ran.of(DivergenceFound)[0]
    assert [step.operation for step in found.steps] == ["read(queue=0, kind='store', fault='answer')"]
    assert [step.diverges for step in found.steps] == [True]
    assert (found.expected, found.observed) == ("0", "-1")
    assert found.rules[0]["id"] == "OFF-R-READ"
    assert found.shrink_executions > 0
    assert plan.read(Path(found.plan)).cases == {found.case: [(STORE.index["read"], (0, "store", "answer"))]}
    assert found.replay == f"rocketmq-conformance replay {shlex.quote(found.plan)} mutant:zero-is-none"


def test_the_same_difference_is_shrunk_once_and_counted_always() -> None:
    ran = run(Slow(mutant="zero-is-none"), STORE, cases=40)
    found = ran.of(DivergenceFound)
    assert len(found) == ran.end.divergences == ran.end.cases[DIVERGES]
    for fingerprint in {event.fingerprint for event in found}:
        same = [event for event in found if event.fingerprint == fingerprint]
        later = [event.shrink_executions for event in same[1:]]
        assert later.count(0) >= len(later) - 3
    assert sum(1 for event in found if event.shrink_executions) < len(found) / 2


def test_a_kind_is_shrunk_once_and_its_plan_is_kept(tmp_path: Path) -> None:
    ran = run(Slow(mutant="zero-is-none"), STORE, cases=40, out=tmp_path)
    found = ran.of(DivergenceFound)
    first = {event.fingerprint: event for event in reversed(found)}.values()
    assert len(found) > len(first)
    assert [event for event in found if not event.unshrunk] == list(first)[::-1]
    for event in first:
        assert list(plan.read(Path(event.plan)).cases) == [event.case]
    kept = [event.plan for event in found if event.plan]
    assert len(kept) == len(set(kept)) == len(list(tmp_path.glob("*.????????.plan.jsonl")))


def test_a_difference_at_the_first_step_keeps_its_plan(tmp_path: Path) -> None:
    rows = [(STORE.index["remove"], (0,))]
    adapter = Slow(lambda operation, outcome: Ok(1) if operation.spec.name == "remove" else outcome)
    ran = run(adapter, STORE, plans={"remote-store": {4: rows, 5: rows}}, out=tmp_path)
    first, again = ran.of(DivergenceFound)
    assert (first.found_steps, first.shrink_executions) == (1, 0)  # nothing about it can be simpler
    assert plan.read(Path(first.plan)).cases == {4: rows}
    assert first.replay == f"rocketmq-conformance replay {shlex.quote(first.plan)} python:here:it"
    assert (again.fingerprint, again.plan) == (first.fingerprint, "")


def test_a_difference_that_is_reported_again_comes_back_by_the_seed() -> None:
    ran = run(Slow(mutant="zero-is-none"), STORE, cases=40, steps=17, judged_as=("--with", "client=5.4.0"))
    again = next(event for event in ran.of(DivergenceFound) if not event.shrink_executions)
    assert again.replay == (
        "rocketmq-conformance run python:here:it -k remote-store --seed 1 "
        f"--cases {again.case + 1} --steps 17 --with client=5.4.0"
    )


def test_a_difference_in_a_given_plan_comes_back_by_that_plan() -> None:
    rows = [(STORE.index["read"], (0, "store", "answer"))]
    given = {"remote-store": {4: rows, 5: rows}}
    ran = run(Slow(mutant="zero-is-none"), STORE, plans=given, plan=Path("my plan.jsonl"))
    assert ran.of(DivergenceFound)[1].replay == "rocketmq-conformance replay 'my plan.jsonl' python:here:it --case 5"


def test_a_difference_in_plans_that_are_in_no_file_comes_back_by_that_of_the_run(tmp_path: Path) -> None:
    rows = [(STORE.index["read"], (0, "store", "answer"))]
    ran = run(Slow(mutant="zero-is-none"), STORE, plans={"remote-store": {4: rows, 5: rows}}, out=tmp_path)
    file = shlex.quote(str(tmp_path / "remote-store.plan.jsonl"))
    assert ran.of(DivergenceFound)[1].replay == f"rocketmq-conformance replay {file} python:here:it --case 5"


def test_a_run_may_stop_at_the_first_difference() -> None:
    ran = run(Slow(mutant="zero-is-none"), STORE, ALLOCATION, cases=100, stop_at_first=True)
    assert len(ran.of(DivergenceFound)) == 1
    assert ran.end.stopped == "first divergence"
    assert [event.suite for event in ran.of(SuiteEnded)] == ["remote-store"]
    assert ran.code == 1


# --- what goes wrong --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AdapterError, CannotRunError])
def test_a_suite_is_given_up_and_the_next_one_begins(kind: type[Exception]) -> None:
    def breaks(operation: Operation, outcome: Outcome) -> Outcome:
        if operation.spec.name == "persist":
            raise kind("It is gone.")
        return outcome

    ran = run(Slow(breaks), STORE, ALLOCATION, cases=50)
    assert ran.verdict(STORE).verdict == COULD_NOT_RUN
    assert "given up after 3 cases" in ran.verdict(STORE).reason
    assert "It is gone." in ran.verdict(STORE).reason
    assert ran.verdict(ALLOCATION).verdict == CONFORMS
    assert ran.code == 4


def test_a_case_that_cannot_be_run_now_and_then_ends_no_suite() -> None:
    adapter = Slow()

    def breaks(operation: Operation, outcome: Outcome) -> Outcome:
        if adapter.begun % 3 == 0:
            raise ValueError("now and then")
        return outcome

    adapter.answer = breaks
    ran = run(adapter, STORE, cases=30)
    assert ran.verdict(STORE).cases == {CONFORMS: 20, DIVERGES: 0, UNDECIDED: 0, COULD_NOT_RUN: 10, UNSUPPORTED: 0}
    assert ran.code == 4


def test_a_broker_that_dies_ends_every_suite_with_a_sentence() -> None:
    broker = FakeBroker(Profile())
    broker.start()
    host, _, port = broker.address.rpartition(":")

    def dies(event: Event) -> None:
        if isinstance(event, CaseEnded):
            broker.stop()

    ran = run(BrokerAdapter(RunningBroker(host, int(port))), OFFSETS, SEARCH, cases=300, steps=10, tap=dies)
    assert ran.verdict(OFFSETS).cases[CONFORMS] > 0
    assert ran.verdict(OFFSETS).cases[COULD_NOT_RUN] > 0
    assert "closed the connection" in ran.verdict(OFFSETS).reason
    assert f"No broker answers at {broker.address}" in ran.verdict(SEARCH).reason
    assert ran.code == 4


def test_a_difference_weighs_more_than_what_went_wrong_later() -> None:
    adapter = Slow(mutant="zero-is-none")

    def breaks(operation: Operation, outcome: Outcome) -> Outcome:
        if adapter.applied > 5000:
            raise ValueError("late")
        return outcome

    adapter.answer = breaks
    ran = run(adapter, STORE, cases=500)
    assert ran.end.cases[COULD_NOT_RUN] == 3
    assert ran.code == 1


def test_an_interrupted_run_concludes_nothing_and_keeps_the_cases_that_began(tmp_path: Path) -> None:
    adapter = Slow()

    def interrupts(operation: Operation, outcome: Outcome) -> Outcome:
        if adapter.begun == 4:
            raise KeyboardInterrupt
        return outcome

    adapter.answer = interrupts
    ran = run(adapter, STORE, ALLOCATION, cases=10, out=tmp_path)
    assert len(ran.of(CaseEnded)) == 3
    assert ran.verdict(STORE).reason == "interrupted after 3 of 10 cases"
    assert [*plan.read(tmp_path / "remote-store.plan.jsonl").cases] == [0, 1, 2, 3]
    assert ran.end.stopped == INTERRUPTED
    assert ran.of(SuiteEnded, "allocation") == []
    assert ran.code == 3


def test_a_difference_that_is_being_shrunk_when_somebody_interrupts_is_reported_as_it_was_found() -> None:
    adapter = Slow(mutant="zero-is-none")
    diverged: list[Event] = []

    def note(event: Event) -> None:
        if isinstance(event, CaseEnded) and event.verdict == DIVERGES:
            diverged.append(event)

    def interrupts(operation: Operation, outcome: Outcome) -> Outcome:
        if diverged:
            raise KeyboardInterrupt
        return outcome

    adapter.answer = interrupts
    ran = run(adapter, STORE, cases=50, tap=note)
    (found,) = ran.of(DivergenceFound)
    assert len(found.steps) == found.found_steps
    assert f"--cases {found.case + 1}" in found.replay
    assert ran.end.stopped == INTERRUPTED
    assert ran.code == 1


def test_an_implementation_that_breaks_while_shrinking_has_its_difference_reported_as_it_was_found() -> None:
    adapter = Slow(mutant="zero-is-none")
    diverged: list[Event] = []

    def note(event: Event) -> None:
        if isinstance(event, CaseEnded) and event.verdict == DIVERGES:
            diverged.append(event)

    def breaks(operation: Operation, outcome: Outcome) -> Outcome:
        if diverged:
            raise ValueError("gone")
        return outcome

    adapter.answer = breaks
    ran = run(adapter, STORE, cases=50, tap=note)
    (found,) = ran.of(DivergenceFound)
    assert len(found.steps) == found.found_steps
    assert ran.end.cases[COULD_NOT_RUN] == 3
    assert ran.code == 1


# --- what is not offered ----------------------------------------------------------------------------------------


class Refuses(Slow):
    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    def hello(self) -> Hello:
        return Hello(
            "double", "1", unsupported={name: f"no {name} here" for name in self.names}, sides=("pure", "client")
        )


def test_a_suite_that_is_not_offered_never_passes(tmp_path: Path) -> None:
    ran = run(Refuses("remote-store"), STORE, OFFSETS, out=tmp_path)
    assert [event.plan for event in ran.of(SuiteStarted)] == ["", ""]
    assert [*tmp_path.iterdir()] == []
    assert ran.verdict(STORE).verdict == UNSUPPORTED
    assert ran.verdict(STORE).reason == "no remote-store here"
    assert ran.verdict(OFFSETS).reason == "double has no broker side"
    assert ran.verdict(STORE).silent_rules == []
    assert ran.end.cases[UNSUPPORTED] == 10
    assert (ran.end.verdict, ran.code) == (UNSUPPORTED, 3)


def test_a_suite_that_is_not_offered_spoils_no_other() -> None:
    ran = run(Refuses("remote-store"), STORE, ALLOCATION)
    assert (ran.end.verdict, ran.code) == (CONFORMS, 0)


def test_rules_that_never_fired_are_named() -> None:
    ran = run(Port(), STORE, plans={"remote-store": {0: [(STORE.index["remove"], (0,))]}})
    silent = ran.verdict(STORE).silent_rules
    assert "OFF-R-READ" in silent
    assert "OFF-R-REM" not in silent
    assert "OFF-R-FETCH" not in silent  # client 5.0.0 has it alone
    assert ran.end.silent_rules == sorted(silent)


def test_every_rule_of_the_side_has_a_result_in_the_end() -> None:
    ran = run(Port(), STORE)
    (judged,) = ran.of(RulesJudged)
    results = {one.rule: one for one in judged.rules}
    assert {rule for rule in rulebook.RULES if rule not in rulebook.OF_BROKERS} <= set(results)
    reached = results["OFF-R-READ"]
    fired = sum(row[3] for row in ran.verdict(STORE).coverage if row[0] == "OFF-R-READ")
    assert (reached.result, reached.times, reached.suites) == (HOLDS, fired, ["remote-store"])
    assert "BQ-QUERY-1" in results
    assert (results["CONS-1-FULL"].result, results["CONS-1-FULL"].reason) == (
        NOT_REACHED,
        "the suite consume was not run (-k)",
    )


def test_a_plan_that_is_replayed_has_results_of_the_rules_that_it_comes_to() -> None:
    plans = {"remote-store": {0: [(STORE.index["remove"], (0,))]}}
    (judged,) = run(Port(), STORE, plans=plans, plan=Path("x.plan.jsonl")).of(RulesJudged)
    assert {one.rule for one in judged.rules} == {"OFF-R-REM"}


# --- hello ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hello_given", [None, "hello", {"name": "x"}])
def test_what_is_no_hello_is_named(hello_given: Any) -> None:
    class Says(Slow):
        def hello(self) -> Hello:
            return hello_given  # type: ignore[no-any-return]

    with pytest.raises(AdapterError, match="must return a Hello"):
        hello_of(Stage(Says(), Profile()))


PROGRAM = Hello("./consumer", "", sides=("whole",))


@pytest.mark.parametrize(
    ("hello", "overrides", "profile"),
    [
        (Hello("x", "1"), {}, Profile()),
        (Hello("x", "1", client="4.9.8"), {}, Profile.of("4.9.8")),
        (Hello("x", "1", client="4.9.8"), {"client": "5.0.0"}, Profile.of("5.0.0")),
        (Hello("x", "1", broker="4.9.7", java=8), {"client": "5.0.0"}, Profile.of("5.0.0", "4.9.7", 8)),
        (Hello("x", "1"), {"broker": "5.1.4", "java": "11"}, Profile.of(broker="5.1.4", java=11)),
        (Hello("x", "1"), {"client": "4.9.8"}, Profile.of("4.9.8")),
        # a program has a broker of the release that it follows
        (PROGRAM, {}, Profile()),
        (PROGRAM, {"client": "4.9.8"}, Profile.of("4.9.8", "4.9.8")),
        (PROGRAM, {"client": "4.9.8", "broker": "5.1.4"}, Profile.of("4.9.8", "5.1.4")),
        (replace(PROGRAM, broker="4.9.7"), {"client": "4.9.8"}, Profile.of("4.9.8", "4.9.7")),
    ],
)
def test_who_says_which_release_judges(hello: Hello, overrides: dict[str, str], profile: Profile) -> None:
    assert profile_of(hello, overrides) == profile


GUESS = "because nothing says otherwise"


@pytest.mark.parametrize(
    ("hello", "overrides", "sentence"),
    [
        (Hello("x", "1", sides=("client",)), {}, f"client 5.5.0, {GUESS}; --like 4.9.8 judges by another release"),
        (
            Hello("x", "1", sides=("broker",)),
            {},
            f"broker 5.5.0, {GUESS}; --with broker=4.9.8 judges by another release",
        ),
        (Hello("x", "1", client="4.1.0", sides=("pure",)), {}, "client 4.1.0, because the implementation says so"),
        (Hello("x", "1", "4.1.0", sides=("client",)), {"client": "5.0.0"}, "client 5.0.0, because it was asked for"),
        (
            Hello("x", "1"),
            {},
            f"client 5.5.0 and broker 5.5.0, {GUESS}; --like 4.9.8 or --with broker=4.9.8 judges by another release",
        ),
        (
            Hello("x", "1", broker="4.9.7"),
            {"client": "4.9.8"},
            "client 4.9.8, because it was asked for, and broker 4.9.7, because the implementation says so",
        ),
        (PROGRAM, {"client": "4.9.8"}, "client 4.9.8 and broker 4.9.8, because it was asked for"),
    ],
)  # fmt: skip
def test_a_run_says_why_a_release_judges(hello: Hello, overrides: dict[str, str], sentence: str) -> None:
    assert release_choice(hello, overrides, profile_of(hello, overrides)) == f"judged as {sentence}"


def answers_of(ran: Ran) -> Sequence[Any]:
    """Every case's number, verdict and digest."""
    return [(event.suite, event.case, event.verdict, event.digest) for event in ran.of(CaseEnded)]


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    once, again, other = (run(Port(), ALLOCATION, STORE, seed=seed) for seed in (1, 1, 2))
    assert answers_of(once) == answers_of(again)
    assert {row[3] for row in answers_of(once)}.isdisjoint(row[3] for row in answers_of(other))


def test_an_ok_answer_is_not_a_number() -> None:
    ran = run(Slow(lambda operation, outcome: Ok(True) if outcome == Ok(1) else outcome), STORE, cases=60)
    assert ran.code == 1
