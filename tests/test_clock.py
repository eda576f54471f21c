"""Clocks: a plan's time passes for virtual clocks, and is waited for with real ones, as far as that is short."""

from __future__ import annotations

import time
from typing import Any

import pytest
from rocketmq_conformance.conformance import stage as stages
from rocketmq_conformance.conformance.adapter import REAL, AdapterError, Case, Hello
from rocketmq_conformance.conformance.hello import hello_of
from rocketmq_conformance.conformance.judge import Judge
from rocketmq_conformance.conformance.port.adapter import Port
from rocketmq_conformance.conformance.stage import Stage
from rocketmq_conformance.models.outcome import Ok, Outcome, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS
from rocketmq_conformance.suites.operation import Operation
from rocketmq_conformance.suites.rebalance_orderly import SUITE
from rocketmq_conformance.suites.sampler import sampler


class Timed:
    """The port, which says something of its clock, and remembers whether it was told that time passes."""

    def __init__(self, clock: str, ticks: Outcome | None = None) -> None:
        self.port = Port()
        self.clock = clock
        self.ticks = ticks
        self.told = 0

    def hello(self) -> Hello:
        return Hello("timed", "1", sides=("client",), clock=self.clock)

    def reset(self, case: Case) -> None:
        self.port.reset(case)

    def apply(self, operation: Operation) -> Outcome:
        if operation.form.name == "tick":
            self.told += 1
            if self.ticks:
                return self.ticks
        return self.port.apply(operation)

    def calls(self, suite: Any) -> Any:
        return self.port.calls(suite)

    def close(self) -> None:
        self.port.close()


def staged(adapter: Timed) -> Stage:
    made = Stage(adapter, Profile())
    hello_of(made)
    made.begin(SUITE, 0)
    return made


def tick(stage: Stage, millis: int) -> Outcome:
    return stage.do(SUITE, (SUITE.index["tick"], (millis,)))


def test_a_virtual_clock_is_told() -> None:
    adapter = Timed("virtual")
    stage = staged(adapter)
    began = time.monotonic()
    assert tick(stage, 60_000) == Ok()
    assert time.monotonic() - began < 10
    assert (adapter.told, stage.world.now) == (1, 60_000)
    calls = stage.calls(SUITE)
    assert calls is not None
    calls[SUITE.index["tick"]](20_000)
    assert stage.world.now == 80_000


def test_a_real_clock_is_waited_for_when_that_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(stages.time, "sleep", waited.append)
    adapter = Timed(REAL)
    stage = staged(adapter)
    assert tick(stage, stages.LONGEST_WAIT) == Ok()
    assert (adapter.told, waited, stage.world.now) == (0, [2.0], 2_000)
    refused = tick(stage, stages.LONGEST_WAIT + 1)
    assert isinstance(refused, Unsupported)
    assert "its clock is real" in refused.reason
    assert (len(waited), stage.world.now) == (1, 2_000)


def test_with_a_real_clock_the_rest_of_a_plan_is_played_as_if_no_time_had_passed() -> None:
    stage = staged(Timed(REAL))
    assert stage.calls(SUITE) is None
    judge, drawn = Judge(SUITE, Profile()), sampler(SUITE, Profile())
    ticks = 0
    for number in range(30):
        stage.begin(SUITE, number)
        judged = judge.judge(drawn.case(1, number, 60), lambda step: stage.do(SUITE, step))
        assert judged.verdict == CONFORMS
        ticks += "tick" in judged.unsupported
    assert ticks > 0


def test_time_does_not_pass_for_who_cannot_tick() -> None:
    stage = staged(Timed("virtual", Unsupported("no clock")))
    assert tick(stage, 60_000) == Unsupported("no clock")
    assert stage.world.now == 0


def test_a_clock_of_another_kind_is_refused() -> None:
    with pytest.raises(AdapterError, match="says that its clock is 'sundial': say 'virtual' or 'real'"):
        staged(Timed("sundial"))
