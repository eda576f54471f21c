"""Shrinking: short and simple plans that show the same difference, in few executions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Annotated

import pytest
from every import every

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, fingerprint_of
from rocketmq_conformance.conformance.engine.shrink import BUDGET, Shrunk, shrink
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

PROFILE = Profile()
STEPS = 50


@dataclass
class Bench:
    """A mutant on its stage, with a suite that notices it."""

    mutant: str
    suite_name: str
    executions: int = 0
    stage: Stage = field(init=False)

    def __post_init__(self) -> None:
        self.suite = SUITES[self.suite_name]
        self.judge = Judge(self.suite, PROFILE)
        self.stage = Stage(Port(MUTANTS[self.mutant].parts), PROFILE)

    def execute(self, rows: Sequence[Row]) -> Judged:
        self.executions += 1
        self.stage.begin(self.suite, 0)
        return self.judge.judge(rows, lambda row: self.stage.do(self.suite, row), count=False)

    def failing(self, want: int) -> Iterator[Judged]:
        """Seeded cases that diverge."""
        draw = sampler(self.suite, PROFILE)
        for seed in range(2000):
            found = self.execute(draw.case(seed, 0, STEPS))
            if found.verdict == DIVERGES:
                yield found
                want -= 1
                if not want:
                    return
        pytest.fail(f"{self.mutant} is hardly ever noticed by {self.suite_name}")

    def shrunk(self, failing: Judged, budget: int = BUDGET) -> Shrunk:
        return shrink(self.judge, self.execute, failing, budget)

    def fingerprint(self, judged: Judged) -> str:
        return fingerprint_of(self.suite, judged.steps[-1])

    def described(self, judged: Judged) -> list[str]:
        return [str(self.suite.operation(row)) for row in judged.rows]


NOTICED = (
    ("unused-kept", "remote-store"),
    ("stays-frozen", "remote-store"),
    ("short-offsets", "remote-store"),
    ("remove-by-topic", "remote-store"),
    ("refresh-thaws", "remote-store"),
    ("python-split", "allocation"),
    ("remainder-to-last", "allocation"),
    ("vacant-rooms-to-neighbours", "allocation"),
)


@every(("mutant", "suite"), NOTICED)
def test_fifty_steps_become_a_few_within_the_budget(mutant: str, suite: str) -> None:
    bench = Bench(mutant, suite)
    costs, lengths = [], []
    for failing in bench.failing(15):
        before = bench.executions
        found = bench.shrunk(failing)
        assert found.executions == bench.executions - before <= BUDGET
        costs.append(found.executions)
        lengths.append(len(found.judged.steps))
    assert median(costs) <= 150
    assert median(lengths) <= 5


@every(("mutant", "suite"), NOTICED)
def test_what_is_left_shows_the_same_difference_again(mutant: str, suite: str) -> None:
    bench = Bench(mutant, suite)
    for failing in bench.failing(5):
        found = bench.shrunk(failing).judged
        again = bench.execute(found.rows)
        assert again.verdict == DIVERGES
        assert again.rows == found.rows
        assert bench.fingerprint(again) == bench.fingerprint(found) == bench.fingerprint(failing)


@pytest.mark.parametrize(("mutant", "suite"), NOTICED[:5])
def test_every_step_that_is_left_is_needed(mutant: str, suite: str) -> None:
    bench = Bench(mutant, suite)
    for failing in bench.failing(5):
        rows = bench.shrunk(failing).judged.rows
        for at in range(len(rows) - 1):
            fewer = bench.execute(rows[:at] + rows[at + 1 :])
            assert fewer.verdict != DIVERGES or bench.fingerprint(fewer) != bench.fingerprint(failing), bench.described(
                fewer
            )


@pytest.mark.parametrize(
    ("mutant", "steps", "at", "operation"),
    [
        ("zero-is-none", 1, 0, "read("),
        ("persist-all-sends-nothing", 2, 1, "persist_all("),
        ("keeps-smaller", 3, 1, "increase_only=True)"),
        ("remove-ignored", 3, 1, "remove("),
        ("skips-equal", 3, 1, "persist"),
    ],
)
def test_the_story_of_a_known_fault_is_as_short_as_it_can_be(mutant: str, steps: int, at: int, operation: str) -> None:
    bench = Bench(mutant, "remote-store")
    for failing in bench.failing(10):
        described = bench.described(bench.shrunk(failing).judged)
        # a step more where the kind of answer (none, some) would change with it
        assert steps <= len(described) <= steps + 1, described
        assert any(operation in one for one in described[at:]), described


def test_arguments_become_the_simplest_ones() -> None:
    bench = Bench("zero-is-none", "remote-store")
    for failing in bench.failing(10):
        assert bench.described(bench.shrunk(failing).judged) == ["read(queue=0, kind='store', fault='answer')"]


def test_shrinking_twice_gains_nothing() -> None:
    bench = Bench("keeps-smaller", "remote-store")
    for failing in bench.failing(5):
        once = bench.shrunk(failing).judged
        assert bench.described(bench.shrunk(once).judged) == bench.described(once)


def test_a_plan_of_one_step_stays_and_its_arguments_become_simpler() -> None:
    bench = Bench("python-split", "allocation")
    for failing in bench.failing(10):
        alone = bench.execute(failing.rows[-1:])
        found = bench.shrunk(alone).judged
        assert len(found.steps) == 1
        assert len(repr(found.rows)) <= len(repr(alone.rows))
        assert len(found.rows[0][1][1]) <= 4, bench.described(found)


def test_the_budget_is_kept_and_what_there_is_then_diverges() -> None:
    bench = Bench("vacant-rooms-to-neighbours", "allocation")
    for failing in bench.failing(5):
        found = bench.shrunk(failing, budget=7)
        assert found.executions <= 7
        assert bench.execute(found.judged.rows).verdict == DIVERGES


def test_it_ends_with_what_there_is_when_the_time_is_up() -> None:
    bench = Bench("last-position", "allocation")
    (failing,) = bench.failing(1)
    before = bench.executions
    found = shrink(bench.judge, bench.execute, failing, more=lambda: bench.executions < before + 2)
    assert bench.executions == before + 2
    assert found.judged.verdict == DIVERGES
    assert shrink(bench.judge, bench.execute, failing, more=lambda: False).judged is failing


@operation("Put a number.")
class Put(Operation):
    number: Annotated[int, Values(0, 1, 2)]


@operation("Get the number, once there is one.", guard=lambda state: state > 0)
class Get(Operation):
    pass


def test_a_step_that_nothing_allows_without_those_before_it_keeps_them() -> None:
    why = Reason(("R-1",), "a number")
    bound = BoundModel(0, {Put: lambda state, number: (number, None, why), Get: lambda state: (state, state, why)})
    judge = Judge(Suite(name="cell", sentence="A cell.", side=Side.CLIENT, bind=lambda profile: bound), PROFILE)

    def execute(rows: Sequence[Row]) -> Judged:
        return judge.judge(rows, lambda row: Ok("wrong" if row[0] else None), count=False)

    put, get = (0, (1,)), (1, ())
    assert shrink(judge, execute, execute([put, put, get])).judged.rows == [put, get]


def test_no_execution_is_spent_on_the_same_plan_twice() -> None:
    bench = Bench("stays-frozen", "remote-store")
    failing = next(bench.failing(1))
    tried: list[str] = []

    def execute(rows: Sequence[Row]) -> Judged:
        tried.append(repr(list(rows)))
        return bench.execute(rows)

    found = shrink(bench.judge, execute, failing)
    assert len(tried) == found.executions
    assert len(set(tried)) == len(tried)


def test_an_implementation_that_breaks_while_shrinking_is_named() -> None:
    bench = Bench("stays-frozen", "remote-store")
    failing = next(bench.failing(1))

    def breaks(rows: Sequence[Row]) -> Judged:
        raise AdapterError("It is gone.")

    with pytest.raises(AdapterError, match="It is gone"):
        shrink(bench.judge, breaks, failing)
