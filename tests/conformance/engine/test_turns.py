"""Suites that take turns: whose case begins next, when shorter plans are looked for, and how they end too early."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from itertools import takewhile
from types import SimpleNamespace
from typing import Any

import pytest

from rocketmq_conformance.conformance.adapter import REAL, AdapterError, Case, Hello, Play, T, UnderWay
from rocketmq_conformance.conformance.api import judge as judge_target
from rocketmq_conformance.conformance.engine import covering_plans, suite_run, turns
from rocketmq_conformance.conformance.engine.findings import NOT_SHRUNK_INTERRUPTED
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.runner import _progress
from rocketmq_conformance.conformance.engine.turns import Turns, by_yield, steps_of
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    DIVERGES,
    INTERRUPTED,
    CaseEnded,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.suites import whole_allocation, whole_broadcast, whole_lite
from rocketmq_conformance.suites.declare.judged_step import drive
from rocketmq_conformance.suites.declare.suite import Suite

SUITES = (whole_allocation.SUITE, whole_broadcast.SUITE, whole_lite.SUITE)


class Port1(Port):
    """The port's whole consumers in one lane, by a real clock: a case is played when it begins."""

    def __init__(self, *mutants: str, breaks: Suite | None = None, seconds: float = 0.0) -> None:
        self._mutants = {suite: part for name in mutants for suite, part in PORT_MUTANTS[name].parts.items()}
        super().__init__(self._mutants)
        self._breaks = breaks
        self.seconds = seconds
        #: The suites of the cases in the order in which they began.
        self.begun: list[str] = []
        #: Called before a case.
        self.before: Callable[[], None] = lambda: None

    def hello(self) -> Hello:
        return Hello("it", "1", sides=("whole",), clock=REAL)

    exclusive = False

    def lanes(self, suite: Suite) -> int:
        return 1

    def case_seconds(self, suite: Suite) -> float:
        return suite.case_seconds

    def stream(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T], None, None]:
        for play in cases:
            yield self._played(suite, play)

    def take_turns(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T] | UnderWay, None, None]:
        for play in cases:
            ended = self._played(suite, play)
            yield UnderWay(frozenset(), started=True)
            yield ended

    def _played(self, suite: Suite, play: Play[T]) -> Future[T]:
        self.before()
        self.begun.append(suite.name)
        ended: Future[T] = Future()
        if suite is self._breaks:
            ended.set_exception(AdapterError("it is broken"))
            return ended
        port = Port(self._mutants)
        port.reset(Case(suite, 0, Profile(), lambda: "", lambda *_: None, lambda: None))  # type: ignore[arg-type, return-value]
        ended.set_result(drive(play(), port.apply))
        return ended


def judged(port: Port1, suites: Sequence[Suite] = SUITES, **options: object) -> list[Event]:
    given = Options("it", seed=1, **{"cases": 0, "cover": True, **options})  # type: ignore[arg-type]
    return [*judge_target(port, suites, given)]


def of(kind: type[Event], events: Iterable[Event]) -> list[Event]:
    return [one for one in events if isinstance(one, kind)]


def test_the_suite_that_has_taken_least_time_begins_the_next_case() -> None:
    port = Port1()
    events = judged(port)
    plans = {suite.name: len(covering_plans.cases(suite, Profile())) for suite in SUITES}
    assert {one.suite: sum(one.cases.values()) for one in of(SuiteEnded, events)} == plans  # type: ignore[attr-defined]
    assert {*port.begun[:3]} == {suite.name for suite in SUITES}
    fewest = min(plans.values())
    counts = [sum(name == suite.name for name in port.begun[: 2 * fewest]) for suite in SUITES]
    assert min(counts) >= fewest // 3


def test_a_case_keeps_its_number_whenever_it_is_played() -> None:
    alone = {one.case: one.digest for one in of(CaseEnded, judged(Port1(), SUITES[:1]))}  # type: ignore[attr-defined]
    stored = covering_plans.cases(SUITES[0], Profile())
    assert alone.keys() == {-at for at in range(1, len(stored) + 1)}
    beside = [one for one in of(CaseEnded, judged(Port1())) if one.suite == SUITES[0].name]  # type: ignore[attr-defined]
    assert {one.case: one.digest for one in beside} == alone  # type: ignore[attr-defined]


def test_plans_that_show_most_for_their_steps_come_first() -> None:
    suite, profile = SUITES[0], Profile()
    plans = {case.number: case.rows for case in covering_plans.cases(suite, profile)}
    order = [*by_yield(suite, profile, plans)]
    assert sorted(order) == sorted(plans)
    twice = {**plans, 1000: plans[order[0]]}
    assert [*by_yield(suite, profile, twice)].index(1000) > len(plans) // 2, "it shows nothing new"
    assert steps_of(plans[order[0]]) < max(map(steps_of, plans.values()))


def test_shorter_plans_are_looked_for_once_all_plans_are_through() -> None:
    port = Port1("whole-broadcast-no-file")
    events = judged(port)
    found = of(DivergenceFound, events)
    assert found
    assert all(one.suite == whole_broadcast.SUITE.name and not one.unshrunk for one in found[:1])  # type: ignore[attr-defined]
    last = max(at for at, one in enumerate(events) if isinstance(one, CaseEnded))
    assert events.index(found[0]) > last


def test_the_first_of_a_kind_with_the_shortest_plan_is_made_shorter() -> None:
    events = judged(Port1("whole-lite-commits-beginning"), [whole_lite.SUITE])
    found = of(DivergenceFound, events)
    by_kind = {one.fingerprint: one for one in reversed(found)}  # type: ignore[attr-defined]
    for one in by_kind.values():
        same = [other.found_steps for other in found if other.fingerprint == one.fingerprint]  # type: ignore[attr-defined]
        assert one.found_steps == min(same)  # type: ignore[attr-defined]


def test_a_divergence_says_when_the_first_of_its_kind_was_found() -> None:
    events = judged(Port1("whole-lite-leaves-nothing"), [whole_lite.SUITE])
    by_kind: dict[str, set[float]] = {}
    for one in of(DivergenceFound, events):
        by_kind.setdefault(one.fingerprint, set()).add(one.found_after)  # type: ignore[attr-defined]
    assert all(len(times) == 1 for times in by_kind.values())
    assert 0 < min(map(min, by_kind.values())) < max(map(max, by_kind.values()))


def test_an_interrupted_run_reports_what_it_has_found_as_it_was_found() -> None:
    port = Port1("whole-broadcast-no-file")
    given = Options("it", seed=1, cases=0, cover=True)
    with closing(judge_target(port, SUITES, given)) as events:
        seen = [*takewhile(lambda one: not (isinstance(one, CaseEnded) and one.verdict == DIVERGES), events)]
        seen += [next(events), events.throw(KeyboardInterrupt()), *events]
    (found,) = of(DivergenceFound, seen)
    assert found.unshrunk == NOT_SHRUNK_INTERRUPTED  # type: ignore[attr-defined]
    assert len(of(SuiteEnded, seen)) == len(SUITES)
    assert isinstance(seen[-1], RunEnded)
    assert seen[-1].stopped == INTERRUPTED


def test_the_first_divergence_may_end_all_suites() -> None:
    events = judged(Port1("whole-broadcast-no-file"), stop_at_first=True)
    assert len(of(DivergenceFound, events)) == 1
    assert len(of(SuiteEnded, events)) == len(SUITES)
    assert events[-1].stopped == "first divergence"  # type: ignore[attr-defined]


def test_a_suite_that_is_given_up_ends_no_other() -> None:
    events = judged(Port1(breaks=whole_lite.SUITE))
    verdicts = {one.suite: one.verdict for one in of(SuiteEnded, events)}  # type: ignore[attr-defined]
    assert verdicts == {
        whole_allocation.SUITE.name: CONFORMS,
        whole_broadcast.SUITE.name: CONFORMS,
        whole_lite.SUITE.name: COULD_NOT_RUN,
    }


class Clock:
    """Stands for ``time`` in the module that takes turns."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(turns, "time", one)
    return one


def test_the_time_is_one_for_all_suites(clock: Clock) -> None:
    port = Port1()

    def minute() -> None:
        clock.now += 1

    port.before = minute
    events = judged(port, max_time=12)
    cases = {one.suite: sum(one.cases.values()) for one in of(SuiteEnded, events)}  # type: ignore[attr-defined]
    assert sum(cases.values()) == 12
    assert min(cases.values()) >= 3


def test_a_quarter_of_the_time_is_left_to_shorter_plans(clock: Clock) -> None:
    shared = Turns(12, 100.0)
    shared.playing.add("one")
    for now, shortens, over, may in ((74.0, False, False, True), (75.0, True, False, True), (111.0, True, True, False)):
        clock.now = now
        assert (shared.shortens, shared.is_over, shared.may_shrink(10.0)) == (shortens, over, may)
    without = Turns(12, None)
    without.playing.add("one")
    assert not without.shortens
    without.playing.clear()
    assert without.shortens
    without.end()
    assert not without.may_shrink(10.0)


def test_the_estimate_counts_divergences_and_what_cases_took(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_conformance.conformance.engine.runner.PROGRESS", 0.0)
    right, wrong = (of(Progress, judged(Port1(*names))) for names in ((), ("whole-broadcast-no-file",)))
    for progress in (right, wrong):
        assert all(one.suite == "" for one in progress)  # type: ignore[attr-defined]
    left = {one.cases: one.left for one in right}  # type: ignore[attr-defined]
    # each suite still has its control
    assert left[1] > left[20] > left[40] > left[43]
    found = next(at for at, one in enumerate(wrong) if one.divergences)  # type: ignore[attr-defined]
    assert wrong[found].left > wrong[found - 1].left  # type: ignore[attr-defined]


def test_shorter_plans_come_one_after_the_other_however_many_lanes_there_are(clock: Clock) -> None:
    shared = Turns(12, None)
    run: Any = SimpleNamespace(
        suite=whole_lite.SUITE, ended=None, seconds_of_case=30.0, number_of_cases=24, done=24, steps=0, kinds=1
    )
    run.shortening = ["a kind"]
    left = []
    for clock.now, since in ((100.0, 0.0), (100.0, 100.0), (160.0, 100.0), (400.0, 100.0)):
        left.append(_progress([run], shared, since).left)
    assert left == [122.5, 122.5, 62.5, 30.0]


def test_what_has_begun_goes_on_when_the_time_is_used_up(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_conformance.conformance.engine.runner.PROGRESS", 0.0)
    port = Port1()

    def minutes() -> None:
        clock.now += 60

    port.before = minutes
    said = of(Progress, judged(port, max_time=300))
    over = [one for one in said if one.seconds >= 300 and one.cases < 5]  # type: ignore[attr-defined]
    assert over
    assert all(0 < one.left < 120 for one in over)  # type: ignore[attr-defined]


def test_a_first_case_that_is_late_makes_the_estimate_longer(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_conformance.conformance.engine.runner.PROGRESS", 0.0)
    port, suite = Port1(), whole_lite.SUITE
    late = Clock()

    def hours() -> None:
        late.now += 3600 * (len(port.begun) == 0)

    monkeypatch.setattr(suite_run, "time", late)
    port.before = hours
    said = of(Progress, judged(port, (suite,)))
    cases = {one.cases: one.left for one in reversed(said)}  # type: ignore[attr-defined]
    assert cases[0] > 3600 * (said[0].of - 1)  # type: ignore[attr-defined]
    assert cases[1] < cases[0] / 10


def test_suites_say_that_they_take_turns() -> None:
    assert {one.turns for one in of(SuiteStarted, judged(Port1()))} == {len(SUITES)}  # type: ignore[attr-defined]
