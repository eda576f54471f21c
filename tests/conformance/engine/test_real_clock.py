"""Clocks: a plan's time passes for virtual clocks, and is waited for and measured with real ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from every import every
from simulated_clock import READING, SimulatedClock

from rocketmq_conformance.conformance.adapter import REAL, VIRTUAL, AdapterError, Case, Hello
from rocketmq_conformance.conformance.campaign.player.block_player import BlockPlayer
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.engine import real_clock as timekeepers
from rocketmq_conformance.conformance.engine.control import control
from rocketmq_conformance.conformance.engine.handshake import clock_notes, hello_of
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.limits import LONGEST_WAIT
from rocketmq_conformance.conformance.engine.player import TRIES, Played, Player
from rocketmq_conformance.conformance.engine.real_clock import Recorded, Timekeeper
from rocketmq_conformance.conformance.engine.scaled_clock import ScaledClock
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Ok, Outcome, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites import consume, rebalance
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.hypothesis_machine import machine, play_plan
from rocketmq_conformance.suites.declare.measured_time import LEFT_OUT, Elapsed, Span, depends_on_time
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite
from rocketmq_conformance.suites.rebalance_orderly import SUITE

#: How many times faster than standard the clocks are.
PACE = 250
REBALANCE = rebalance.SUITE
TIMED = [name for name, suite in SUITES.items() if depends_on_time(suite)]


class Timed:
    """The port, which says something of its clock, and counts how often it was asked to let time pass."""

    def __init__(self, clock: str, ticks: Outcome | None = None, pace: Any = 1, lag: float = 0) -> None:
        self.time = SimulatedClock()
        self.port = Port(pace=pace if clock == REAL else None, clock=self.time)
        self.hello_answer = Hello("timed", "1", sides=("client",), clock=clock, pace=pace)
        self.ticks = ticks
        self.asked = 0
        #: Seconds that it takes over every operation.
        self.lag = lag

    def hello(self) -> Hello:
        return self.hello_answer

    def reset(self, case: Case) -> None:
        self.port.reset(case)

    def apply(self, operation: Operation) -> Outcome:
        self.time.sleep(self.lag)
        self.asked += operation.spec.duration is not None
        return self.port.apply(operation)

    def pass_time(self, millis: int) -> Outcome:
        self.asked += 1
        return self.ticks or self.port.pass_time(millis)

    def calls(self, suite: Any) -> Any:
        return self.port.calls(suite)

    def close(self) -> None:
        self.port.close()


def staged(
    adapter: Any, suite: Suite = SUITE, max_wait: float = LONGEST_WAIT, clock: SimulatedClock | None = None
) -> Stage:
    """A stage that measures time by the adapter's clock, or by the one that is given."""
    made = Stage(adapter, Profile(), max_wait=max_wait, clock=clock or adapter.time)
    hello_of(made)
    made.begin(suite, 0)
    return made


def tick(stage: Stage, millis: int) -> Outcome:
    return stage.do(SUITE, (SUITE.index["tick"], (millis,)))


def row(name: str, *args: Any) -> Row:
    return REBALANCE.index[name], args


def of_port(clock: str, suite: Suite = SUITE, mutant: str = "") -> Stage:
    """The port, or a mutant of it, on a stage."""
    simulated = SimulatedClock()
    parts = PORT_MUTANTS[mutant].parts if mutant else None
    return staged(Port(parts, pace=PACE if clock == REAL else None, clock=simulated), suite, clock=simulated)


def played(clock: str, suite: Suite, rows: list[Row], mutant: str = "") -> Played:
    """A case, as the port or a mutant plays it."""
    stage = of_port(clock, suite, mutant)
    try:
        return Player(stage, Judge(suite, Profile())).one(0, rows)
    finally:
        stage.close()


# --- what passes, and for whom ------------------------------------------------------------------------------------


def test_a_virtual_clock_is_set_without_a_wait() -> None:
    adapter = Timed(VIRTUAL)
    stage = staged(adapter)
    assert tick(stage, 60_000) == Ok()
    assert adapter.time.waits == []
    assert (adapter.asked, stage.world.now) == (1, 60_000)
    calls = stage.calls(SUITE)
    assert calls is not None
    calls[SUITE.index["tick"]](20_000)
    assert stage.world.now == 80_000


def test_a_real_clock_is_waited_for_as_long_as_its_pace_says() -> None:
    adapter = Timed(REAL, pace=100)
    stage = staged(adapter)
    assert stage.calls(SUITE) is None
    assert tick(stage, 20_000) == Ok()
    assert sum(adapter.time.waits) == pytest.approx(0.2 + timekeepers.GRACE, abs=10 * READING)
    assert adapter.asked == 1
    assert stage.world.now >= 20_000
    assert stage.times is not None
    begun, ended, _ = stage.times.span()
    assert begun == stage.world.now
    assert ended > begun


@pytest.mark.parametrize(("pace", "max_wait"), [(1, LONGEST_WAIT), (100, 0.1)])
def test_what_takes_too_long_is_left_out_unless_the_user_allows_it(pace: float, max_wait: float) -> None:
    stage = staged(Timed(REAL, pace=pace), max_wait=max_wait)
    refused = tick(stage, 20_000)
    assert isinstance(refused, Unsupported)
    longest = 130 / pace
    assert refused.reason == (
        f"its clock is real, and ticks of up to {longest:g} s are more than is waited for: --max-wait {longest:g} "
        "allows them all"
    )
    assert stage.world.now < 20_000


def test_long_waits_give_signs_of_life() -> None:
    clock = SimulatedClock()
    times = Timekeeper(1, clock)
    beats: list[int] = []
    times.wait(2_500, lambda: beats.append(times.now()))
    assert clock.waits[:2] == [1.0, 1.0]
    assert sum(clock.waits) == pytest.approx(2.5 + timekeepers.GRACE, abs=10 * READING)
    assert beats == [0, 1_000, 2_000]


def test_time_that_passes_within_an_operation_is_for_virtual_clocks() -> None:
    suite = consume.SUITE
    stage = staged(Timed(REAL, pace=PACE), suite)
    play: Callable[[str], Row] = lambda meanwhile: (  # noqa: E731
        suite.index["consume"],
        (0, "CONSUME_SUCCESS", None, 0, "answer", meanwhile),
    )
    assert isinstance(stage.do(suite, play("nothing")), Ok)
    for meanwhile in ("in time", "times out"):
        refused = stage.do(suite, play(meanwhile))
        assert isinstance(refused, Unsupported)
        assert "within an operation" in refused.reason


def test_time_does_not_pass_for_who_cannot_tick() -> None:
    stage = staged(Timed(VIRTUAL, Unsupported("no clock")))
    assert tick(stage, 60_000) == Unsupported("no clock")
    assert stage.world.now == 0


def test_a_paced_clock_counts_from_the_last_question() -> None:
    machine_time = SimulatedClock()
    clock = ScaledClock(1000, machine_time)
    machine_time.sleep(0.02)
    assert 20_000 <= clock.passed() <= clock.now() < 20_100
    assert clock.passed() < 100
    clock.begin()
    assert clock.now() < 100


# --- the same plan on both clocks ---------------------------------------------------------------------------------


def test_the_same_plan_conforms_on_both_clocks() -> None:
    short = []
    for suite in map(SUITES.__getitem__, TIMED):
        drawn = sampler(suite, Profile())
        for number in range(2):
            rows = drawn.case(7, number, 30)
            virtual, real = played(VIRTUAL, suite, rows), played(REAL, suite, rows)
            verdicts = (virtual.verdict, real.verdict)
            spans = real.judged.spans if real.judged else []
            if verdicts != (CONFORMS, CONFORMS) or not len(spans) == real.steps > 10:
                short.append((suite.name, number, verdicts, real.steps, virtual.reason, real.reason))
    assert short == []


def test_a_fault_in_the_timers_shows_on_both_clocks() -> None:
    rows = [
        row("rebalance", 0, "answer", "answer", "answer"),
        row("tick", 130_000),
        row("rebalance", 0, "answer", "answer", "answer"),
    ]
    for mutant in ("never-expires", "expires-in-seconds"):
        plan_of = rows if mutant == "never-expires" else [rows[0], row("tick", 20_000), rows[2]]
        for clock in (VIRTUAL, REAL):
            found = played(clock, REBALANCE, plan_of, mutant)
            assert (found.verdict, found.steps) == (DIVERGES, 3), (mutant, clock)
            assert played(clock, REBALANCE, plan_of).verdict == CONFORMS


def test_exactly_120_s_are_more_once_they_are_measured() -> None:
    rows = [
        row("rebalance", 2, "answer", "answer", "answer"),
        *[row("tick", 60_000)] * 2,
        row("rebalance", 2, "answer", "answer", "answer"),
    ]

    def begins_anew(clock: str) -> bool:
        stage = of_port(clock, REBALANCE)
        hello_answer = [stage.do(REBALANCE, step) for step in rows]
        last = hello_answer[-1]
        assert isinstance(last, Ok)
        assert isinstance(last.value, tuple)
        return bool(last.value[1])

    assert (begins_anew(VIRTUAL), begins_anew(REAL)) == (False, True)
    assert [played(clock, REBALANCE, rows).verdict for clock in (VIRTUAL, REAL)] == [CONFORMS, CONFORMS]


def test_a_busy_implementation_is_not_misjudged() -> None:
    """It takes 4 s of standard time over every operation, more than any margin."""
    stage = staged(Timed(REAL, pace=PACE, lag=0.016))
    player, drawn = Player(stage, Judge(SUITE, Profile())), sampler(SUITE, Profile())
    for number in range(2):
        found = player.one(number, drawn.case(11, number, 30))
        assert found.verdict == CONFORMS, found.reason
        assert found.steps > 5


def test_the_machine_judges_by_measured_time() -> None:
    stage = of_port(REAL, REBALANCE)
    rows = [
        row("rebalance", 2, "answer", "answer", "answer"),
        *[row("tick", 60_000)] * 2,
        row("rebalance", 2, "answer", "answer", "answer"),
    ]
    play_plan(machine(REBALANCE, stage), REBALANCE, "exactly 120 s", rows)
    faulty = of_port(REAL, REBALANCE, "never-expires")
    with pytest.raises(AssertionError, match="REB-DROP-EXPIRY"):
        play_plan(machine(REBALANCE, faulty), REBALANCE, "exactly 120 s", rows)


def test_the_control_is_noticed_on_a_real_clock() -> None:
    stage = of_port(REAL, REBALANCE)
    rows = sampler(REBALANCE, Profile()).case(5, 1, 15)
    assert control(stage, Judge(REBALANCE, Profile()), rows) is True


# --- answers that are not definite -------------------------------------------------------------------------------


def elapsed() -> Elapsed:
    return Elapsed(REBALANCE, REBALANCE.bind(Profile()))


ROUND = row("rebalance", 2, "answer", "answer", "answer")


@every(
    ("span", "definite"),
    [
        (Span(119_000, 119_990), True),
        (Span(119_000, 120_010), False),
        (Span(120_005, 120_010), False),  # the first round may have looked at its clock 10 ms late
        (Span(120_011, 120_500), True),
        (Span(120_030, 120_500, late=15), True),
        (Span(120_030, 120_500, late=25), False),
    ],
)
def test_an_age_is_known_as_well_as_both_ends_of_it(span: Span, definite: bool) -> None:
    judged = elapsed()
    assert judged.step(ROUND, Span(0, 10)) is not None
    assert judged.definite(ROUND, span.earliest - span.late, span.latest) is definite
    answer = judged.step(ROUND, span)
    assert (answer is not None) is definite
    if answer is not None:
        assert bool(answer[2][1]) is (span.earliest > 120_000)  # type: ignore[index]


def test_what_is_not_definite_leaves_the_models_as_they_are() -> None:
    judged = elapsed()
    judged.step(ROUND, Span(0, 10))
    assert judged.step(ROUND, Span(100_000, 140_000)) is None
    answer = judged.step(ROUND, Span(150_000, 150_001))
    assert answer is not None
    assert answer[2][1]  # type: ignore[index]


class Jumps(Timed):
    """The port on a machine that stands still for 20 s of standard time in the second round of its first cases."""

    def __init__(self, jumps: int) -> None:
        super().__init__(REAL, pace=PACE)
        self.jumps = jumps
        self.rounds = 0

    def reset(self, case: Case) -> None:
        super().reset(case)
        self.rounds = 0

    def apply(self, operation: Operation) -> Outcome:
        if operation.spec.name == "rebalance":
            self.rounds += 1
            if self.rounds == 2 and self.jumps:
                self.jumps -= 1
                self.time.sleep(20 / PACE)
        return super().apply(operation)


@pytest.mark.parametrize(("jumps", "steps"), [(0, 5), (TRIES - 1, 5), (TRIES, 3)])
def test_a_case_without_definite_answers_is_played_again_and_then_cut(jumps: int, steps: int) -> None:
    rows = [ROUND, row("tick", 60_000), row("tick", 50_000), ROUND, ROUND]
    adapter = Jumps(jumps)
    stage = staged(adapter, REBALANCE)
    found = Player(stage, Judge(REBALANCE, Profile())).one(0, rows)
    assert (found.verdict, found.steps) == (CONFORMS, steps)
    assert adapter.jumps == 0
    assert found.judged is not None
    assert found.judged.cut is (jumps == TRIES)
    assert found.judged.unsupported == ({"rebalance": LEFT_OUT} if jumps == TRIES else {})


def test_a_step_is_put_off_while_its_answer_is_about_to_change() -> None:
    times = Timekeeper(100, SimulatedClock())
    asked: list[tuple[int, int]] = []

    def ready(now: int, until: int) -> bool:
        asked.append((now, until))
        return len(asked) == 3

    times.begin_case()
    times.expect(ready)
    begun = times.begin()
    assert len(asked) == 3
    between = round((timekeepers.LATE + timekeepers.MARGIN) * 100_000)
    assert {until - now for now, until in asked} == {between}
    assert begun >= 2 * timekeepers.MARGIN * 100_000
    times.begin()
    assert len(asked) == 3  # it is said of one step


def test_recorded_times_are_given_again() -> None:
    recorded = Recorded([Span(0, 1), Span(2, 3)])
    recorded.expect(lambda now, until: False)
    assert (recorded.span(), recorded.span()) == (Span(0, 1), Span(2, 3))


def test_answers_that_depend_on_time_do_not_depend_on_what_was_observed() -> None:
    assert {"rebalance", "rebalance-orderly", "consume", "consume-orderly"} <= set(TIMED)
    for name in TIMED:
        suite = SUITES[name]
        specs = [operation.spec for operation in suite.operations]
        assert not any(spec.observes or spec.guard or spec.may_be_indeterminate for spec in specs), name
        assert [field for field, _ in suite.operations[suite.index["tick"]].spec.domains] == ["millis"], name


@pytest.mark.parametrize("others", [(), ("port",)])
def test_a_campaign_does_not_compare_implementations_of_different_clocks(others: tuple[str, ...]) -> None:
    spec = CampaignSpec((f"port?clock=real&pace={PACE}", *others), ("rebalance",), 10, 1, 5)
    players = BlockPlayer(spec, lambda case, address: None, lambda: None, {})
    try:
        first, *rest = [hello_answer["refuses"] for hello_answer in players.introduce()]
    finally:
        players.close()
    assert (set(TIMED) <= set(first)) is bool(others)
    if others:
        assert "give it a campaign of its own" in first["rebalance"]
    assert all("rebalance" not in refuses for refuses in rest)


# --- bad input ----------------------------------------------------------------------------------------------------


def test_a_clock_of_another_kind_is_refused() -> None:
    with pytest.raises(AdapterError, match="says that its clock is 'sundial': say 'virtual' or 'real'"):
        staged(Timed("sundial"))


@every("pace", [0, -1, "fast", None, True, float("nan"), float("inf"), 1_001])
def test_a_pace_that_is_none_is_refused(pace: Any) -> None:
    adapter = Timed(REAL)
    adapter.hello_answer = replace(adapter.hello_answer, pace=pace)
    with pytest.raises(AdapterError, match=r"says that its pace is .*: say a number above 0, up to 1,000, such as 100"):
        staged(adapter)


def test_a_virtual_clock_has_no_pace() -> None:
    with pytest.raises(AdapterError, match="its pace is 100, but a virtual clock has none: say clock='real' too"):
        staged(Timed(VIRTUAL, pace=100))


@every(
    ("address", "sentence"),
    [
        ("port?clock=sundial", "port has no clock 'sundial'; write clock=virtual or clock=real."),
        ("port?pace=100", "A virtual clock has no pace; write clock=real&pace=100."),
        ("mutant:never-expires?clock=virtual&pace=2", "A virtual clock has no pace; write clock=real&pace=2."),
        ("port?clock=real&pace=0", "'0' is no pace; write a number above 0, up to 1,000, such as pace=100."),
        ("port?clock=real&pace=-3", "'-3' is no pace; write a number above 0, up to 1,000, such as pace=100."),
        ("port?clock=real&pace=fast", "'fast' is no pace; write a number above 0, up to 1,000, such as pace=100."),
        ("port?clock=real&pace=nan", "'nan' is no pace; write a number above 0, up to 1,000, such as pace=100."),
        ("port?clock=real&speed=3", "port has no option 'speed'; it knows via=call or via=tcp, clock=real and pace=N."),
        (
            "java-client:5.5.0?clock=real&pace=300",
            "At the pace 300 the timers of the Java client are no whole ms: write one that divides 10000, such as "
            "pace=100.",
        ),
        (
            "java-client:5.5.0?clock=real&via=tcp",
            "A java-client with a real clock is stepped by hand, without sockets: leave via=tcp away.",
        ),
    ],
)
def test_addresses_say_what_is_wrong_with_their_clock(address: str, sentence: str) -> None:
    with pytest.raises(AddressError) as found:
        open_address(address)
    assert str(found.value) == sentence


def test_a_note_says_what_a_real_clock_costs() -> None:
    assert clock_notes(Hello("port", "1"), 2) == []
    (note,) = clock_notes(Hello("port", "1", clock=REAL, pace=100), 2)
    assert "20 s of a plan take 0.2 s" in note
    assert "2 s are waited at once (--max-wait)" in note
