"""The proof of brokers: its tables reach every kind, and it notices what differs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import pytest
from every import every

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.cli.proving import Work, settle
from rocketmq_conformance.conformance.proof import broker as proof
from rocketmq_conformance.conformance.proof import (
    broker_configured,
    broker_expiry,
    broker_memory,
    broker_suites,
    broker_tables,
    broker_upgrades,
    fake_broker,
)
from rocketmq_conformance.conformance.proof.broker_decisions import prove_tables
from rocketmq_conformance.conformance.proof.broker_suites import prove_suite
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.selection import Selection
from rocketmq_conformance.conformance.proof.unit import BROKER, Unit
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.conformance.targets.mutants import BROKER_MUTANTS
from rocketmq_conformance.models.broker import aged_store, lifecycle
from rocketmq_conformance.models.broker.broker_offsets import BrokerOffsetsModel
from rocketmq_conformance.models.broker.broker_restart import BrokerRestartModel
from rocketmq_conformance.models.broker.configuration import BALANCES, DEFAULT_MODE, SETTINGS
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.broker.lifecycle import STOP, UncertainBroker
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Result, outcome_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import (
    broker_offsets,
    broker_process,
    broker_restart,
)
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

Fault = Callable[[Operation, Result], Result]


class ModelAdapter(BrokerAdapter):
    """A broker that is the model itself, with a fault where wanted."""

    def __init__(self, profile: Profile, fault: Fault = lambda operation, result: result) -> None:
        super().__init__(RunningBroker("nowhere", 1))
        self.profile = profile
        self.model = BrokerOffsetsModel(profile)
        self.fault = fault
        self.states: dict[int, BrokerState] = {}
        self.clock = 1_800_000_000_000
        self.forgotten: list[int] = []
        #: Suites whose state is more than a broker's, by lane, and the state.
        self.others: dict[int, tuple[Suite, Any]] = {}

    def reset_many(self, cases: Sequence[tuple[int, Suite]]) -> None:
        old, new = aged_store.aged_broker(self.model.rules), initial_state()
        self.others = {}
        for lane, suite in cases:
            if suite.name in {
                "broker-admin",
                "broker-topics",
                "broker-fields",
                "broker-retry",
                "broker-members",
                "broker-filters",
                "broker-polling",
                "broker-pop-start",
                "broker-pop-expired",
                "broker-pop-ack",
                "broker-locks",
                "broker-doubt",
                "broker-concurrent",
                "broker-accidents",
                "broker-process",
                "broker-slave",
                "broker-stats",
                "broker-assignment",
                "broker-cold",
                "broker-tables",
                "broker-search-files",
            }:
                self.others[lane] = suite, suite.bind(self.profile).initial
            self.states[lane] = old._replace(topics={**old.topics, **new.topics})

    def play_many(self, cases: Sequence[tuple[int, Sequence[Operation]]]) -> list[list[Outcome]]:
        return [[self._one(lane, operation) for operation in case] for lane, case in cases]

    def play_cases(self, suite: Suite, cases: Iterable[Sequence[Operation]]) -> Generator[list[Outcome], None, None]:
        for operations in cases:
            self.reset_many([(0, suite)])
            yield [self._one(0, operation) for operation in operations]

    def apply_many(self, work: Sequence[tuple[int, Operation]]) -> list[Outcome]:
        return [self._one(lane, operation) for lane, operation in work]

    def _one(self, lane: int, operation: Operation) -> Outcome:
        name = operation.spec.name
        if name in ("restart", "save", "memory") and lane not in self.others:
            return {"restart": self.restart, "memory": self.memory}.get(name, lambda *args: self.save())(
                *operation.args
            )
        args = operation.args
        if lane in self.others:
            return self._other(lane, operation)
        if name == "subscribe_again":
            model, known = BrokerRestartModel(self.profile), UncertainBroker.of(self.states[lane])
            result = model.subscribe_again(known, None, *args)[1]
            self.restart(STOP)
            return outcome_of(self.fault(operation, result))  # type: ignore[arg-type]
        if name == "send_timed":
            self.clock += 5
            known = self.states[lane].logs.get((f"T{args[0]}", args[1]))
            first = known.max if known else 0
            args = (tuple((first + at, self.clock + at) for at in range(args[2])), *args)
        self.states[lane], result, _ = getattr(self.model, name)(self.states[lane], *args)
        return outcome_of(self.fault(operation, result))  # type: ignore[arg-type]

    def _other(self, lane: int, operation: Operation) -> Outcome:
        suite, state = self.others[lane]
        bound = suite.bind(self.profile)
        name, args = operation.spec.name, operation.args
        self.clock += args[0] if name == "wait" else 5
        if name == "send_timed":
            broker = state.broker.possible[0] if suite.name == "broker-process" else state.broker
            known = broker.logs.get((f"T{args[0]}", args[1]))
            first = known.max if known else 0
            args = (tuple((first + at, self.clock + at) for at in range(args[2])), *args)
        elif operation.spec.observes:
            args = ((), self.clock, self.clock + 1), *args
        after, result, _ = bound.by_position[suite.index[name]](state, *args)
        if name == "commit_unheard":
            self.others[lane] = suite, state if args[-1] == "middle" else after
            return Err("TIMEOUT", definite=False)
        self.others[lane] = suite, after
        return outcome_of(self.fault(operation, result))  # type: ignore[arg-type]

    def ask(self, request: Ask) -> bytes:
        name, _, value = request.body.decode().strip().partition("=")
        if name in SETTINGS:
            self.profile = self.profile.configured({**dict(self.profile.configuration), name: value})
            self.model = BrokerOffsetsModel(self.profile)
        return b""

    def hello(self) -> Hello:
        """Nothing is asked for its configuration."""
        return Hello("model", "", broker=str(self.profile.broker))

    def change(self, change: Callable[[BrokerState], BrokerState]) -> Outcome:
        self.states = {lane: change(state) for lane, state in self.states.items()}
        return Ok()

    def memory(self, hot: bool) -> Outcome:
        return self.change(lambda state: lifecycle.with_memory(self.model.rules, state, hot))

    def save(self) -> Outcome:
        return Ok()

    def restart(self, how: str) -> Outcome:
        self.change(lambda state: lifecycle.with_memory(self.model.rules, state, True))
        return self.change(lambda state: lifecycle.restart(self.model.rules, state))

    def close(self) -> None:
        pass


def tally() -> Tally:
    return Tally("broker", "5.5.0")


@pytest.mark.parametrize("release", ["4.9.7", "5.0.0", "5.1.4", "5.5.0"])
def test_the_tables_confirm_a_broker_that_is_the_model(release: str) -> None:
    profile, counted = Profile.of(broker=release), tally()
    prove_tables(ModelAdapter(profile), profile, counted)
    assert counted.differences == 0
    assert counted.cases > 10_000
    proven = {row.rule for row in counted.rows()}
    assert proven >= {
        *("BQ-QUERY-1", "BQ-COM-3", "BQ-COM-11", "BQ-COM-12", "BQ-UPDATE-1", "BQ-UPDATE-2", "BQ-UPDATE-FIELD"),
        *("BQ-TOPIC-1", "BQ-TOPIC-2", "BQ-TOPIC-3", "BQ-GROUP-1", "BQ-GROUP-2", "BQ-MIN-1", "BQ-EARLIEST-1"),
    }


def wrong_after_restart(operation: Operation, result: Result) -> Result:
    return Err("QUERY_NOT_FOUND") if result == 2**53 + 1 else result


def wrong_upper(operation: Operation, result: Result) -> Result:
    wrong = operation.spec.name == "search" and operation.args[-1] == "upper" and result == 10
    return 11 if wrong else result


def forgetful_flag(operation: Operation, result: Result) -> Result:
    return Err("SYSTEM_ERROR") if str(operation).startswith("delete_group(group=1, flag='cleanOffset'") else result


@pytest.mark.parametrize(
    ("fault", "rule"),
    [(wrong_after_restart, "BQ-COM-12"), (wrong_upper, "BQ-TIME-2"), (forgetful_flag, "BQ-GROUP-2")],
)
def test_the_tables_notice_a_wrong_answer(fault: Fault, rule: str) -> None:
    profile, counted = Profile.of(broker="5.5.0"), tally()
    prove_tables(ModelAdapter(profile, fault), profile, counted)
    assert counted.differences > 0
    assert rule in {row.rule for row in counted.rows() if row.differences}
    assert all(" on topics {" in example for example in counted.examples)


@pytest.mark.parametrize("release", ["4.9.7", "5.5.0"])
def test_a_broker_of_another_release_differs(release: str) -> None:
    other = {"4.9.7": "5.5.0", "5.5.0": "4.9.7"}[release]
    counted = tally()
    prove_tables(ModelAdapter(Profile.of(broker=other)), Profile.of(broker=release), counted)
    assert counted.differences > 100


@every("suite", proof.FAST)
def test_random_cases_confirm_the_model(suite: Suite) -> None:
    profile, counted = Profile(), tally()
    prove_suite(ModelAdapter(profile), profile, counted, suite, 20)
    assert counted.differences == 0
    guarded = any(operation.spec.guard for operation in suite.operations)
    unheard = 20 * suite.steps // 3 if guarded or not suite.repeatable else 0
    assert 20 * suite.steps - unheard <= counted.cases <= 20 * suite.steps


@pytest.mark.parametrize(("release", "way"), [("5.1.4", "BQ-RESET-2"), ("5.5.0", "BQ-RESET-1")])
def test_resets_are_played_the_other_way_too_and_then_as_before(release: str, way: str) -> None:
    profile, counted = Profile.of(broker=release), tally()
    adapter = ModelAdapter(profile)
    broker_configured.prove_other_resets(adapter, profile, counted)
    assert counted.differences == 0
    assert way in {row.rule for row in counted.rows()}
    assert adapter.profile == profile


def test_assignments_are_asked_for_with_other_properties_too_and_then_as_before() -> None:
    profile, counted = Profile(), tally()
    adapter = ModelAdapter(profile)
    broker_configured.prove_other_assignments(adapter, profile, counted)
    assert counted.differences == 0
    assert "BQ-ASSIGN-OFF" in {row.rule for row in counted.rows()}
    assert adapter.profile == profile


@pytest.mark.parametrize("name", [BALANCES, DEFAULT_MODE])
def test_a_broker_that_does_not_hear_a_property_differs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    profile, counted = Profile(), tally()
    adapter = ModelAdapter(profile)
    hear = adapter.ask
    monkeypatch.setattr(adapter, "ask", lambda asked: b"" if asked.body.startswith(name.encode()) else hear(asked))
    broker_configured.prove_other_assignments(adapter, profile, counted)
    assert counted.differences > 0


def test_locks_are_played_in_strict_mode_too_and_then_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_suites, "CASES", 16)
    profile, counted = Profile(), tally()
    adapter = ModelAdapter(profile)
    broker_configured.prove_strict_locks(adapter, profile, counted)
    assert counted.differences == 0
    assert {"BQ-LOCK-1", "BQ-LOCK-2", "BQ-LOCK-4", "BQ-LOCK-STRICT"} <= {row.rule for row in counted.rows()}
    assert adapter.profile == profile


@pytest.mark.parametrize(
    "prove",
    [
        broker_configured.prove_uncreated_groups,
        broker_configured.prove_permissions,
        broker_configured.prove_unwritten,
    ],
)
@pytest.mark.parametrize("release", ["4.9.7", "5.5.0"])
def test_other_properties_are_proven_too_and_then_as_before(
    prove: Callable[[BrokerAdapter, Profile, Tally], None], release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_configured, "OTHER_CASES", 8)
    profile, counted = Profile.of(broker=release), tally()
    adapter = ModelAdapter(profile)
    prove(adapter, profile, counted)
    assert counted.differences == 0
    assert counted.cases > 300
    assert adapter.profile == profile


def test_nothing_is_concluded_from_a_broker_that_is_busy() -> None:
    def busy(operation: Operation, result: Result) -> Result:
        return Err("SYSTEM_BUSY", definite=False) if operation.spec.name == "commit" else result

    profile, counted = Profile(), tally()
    prove_suite(ModelAdapter(profile, busy), profile, counted, broker_offsets.SUITE, 4)
    assert counted.differences == 0
    assert 0 < counted.cases < 4 * broker_offsets.SUITE.steps


def test_restarts_are_played_step_by_step() -> None:
    profile, counted = Profile(), tally()
    prove_suite(ModelAdapter(profile), profile, counted, broker_restart.SUITE, 3, 60)
    assert counted.differences == 0
    assert "RUN-RESTART-1" in {row.rule for row in counted.rows()}


def turns(
    release: Release, upgraded_from: Release, properties: Mapping[str, str], parts: Mapping[str, type] | None = None
) -> FakeLocation:
    """Fake brokers that take turns."""
    profile = Profile.of(broker=str(release)).configured(properties)
    return FakeLocation(replace(profile, upgraded_from=upgraded_from), parts)


def test_a_release_is_upgraded_to_from_its_predecessor_and_to_the_newest() -> None:
    names = [[f"{older} to {newer}" for newer, older in broker_upgrades.pairs(Release.parse(text))] for text in (
        "4.0.0", "4.9.7", "5.5.0",
    )]  # fmt: skip
    assert names == [["4.0.0 to 5.5.0"], ["4.9.5 to 4.9.7", "4.9.7 to 5.5.0"], ["5.4.0 to 5.5.0"]]


def test_upgrades_confirm_their_rule_or_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_upgrades, "StartedBroker", turns)
    row = broker_upgrades.prove("broker", "4.9.7")
    assert (row.rule, row.release, row.differences, row.example) == ("RUN-UPGRADE-1", "4.9.7", 0, "")
    assert row.cases == 2 * broker_upgrades.STEPS
    assert broker_upgrades.prove("broker", "4.9.7", brief=True).cases == broker_upgrades.STEPS
    mutant = BROKER_MUTANTS["upgrade-loses-offsets"].parts
    monkeypatch.setattr(broker_upgrades, "StartedBroker", partial(turns, parts=mutant))
    wrong = broker_upgrades.prove("broker", "4.9.7")
    assert wrong.differences == 2
    assert "the model says" in wrong.example


def test_light_message_queues_confirm_their_rule_or_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_upgrades, "StartedBroker", turns)
    row = broker_upgrades.prove_light("broker", "4.9.7")
    assert (row.rule, row.release, row.cases, row.differences) == (
        "BQ-COM-LMQ",
        "4.9.7",
        broker_upgrades.LIGHT_STEPS,
        0,
    )
    mutant = BROKER_MUTANTS["light-reads-the-other-file"].parts
    monkeypatch.setattr(broker_upgrades, "StartedBroker", partial(turns, parts=mutant))
    assert broker_upgrades.prove_light("broker", "4.9.7").differences == 1


def test_a_case_ends_at_its_first_difference() -> None:
    def always(operation: Operation, result: Result) -> Result:
        return "nonsense"

    profile, counted = Profile(), tally()
    prove_suite(ModelAdapter(profile, always), profile, counted, broker_offsets.SUITE, 4)
    assert (counted.cases, counted.differences) == (4, 4)


@pytest.mark.parametrize(("plays", "differences"), [(1, 0), (2, 0), (3, 1)])
def test_a_case_that_does_not_differ_each_time_proves_nothing(plays: int, differences: int) -> None:
    steps, calls = broker_offsets.SUITE.steps, count()
    wrong = {steps * play for play in range(plays)}
    profile, counted = Profile(), tally()
    sometimes = lambda operation, result: "nonsense" if next(calls) in wrong else result  # noqa: E731
    prove_suite(ModelAdapter(profile, sometimes), profile, counted, broker_offsets.SUITE, 1)
    assert counted.differences == differences
    assert ["says 'nonsense'" in example for example in counted.unsteady] == [True] * (1 - differences)


def test_every_place_is_asked_with_every_stored_offset() -> None:
    assert len(broker_tables.stored()) == len(broker_tables.STORED)
    asked = [str(operation) for operation in broker_tables.queries()]
    assert len(asked) == len(set(asked))
    assert len(broker_tables.queries()) >= 2 * len(broker_tables.PLACES) * len(broker_tables.SET_ZERO)


# --- the whole of it, with pretended brokers --------------------------------------------------------------------


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[ModelAdapter]:
    made: list[ModelAdapter] = []

    class Pretended(ModelAdapter):
        def __init__(self, source: StartedBroker) -> None:
            super().__init__(Profile.of(broker=str(source.release)).configured(source.properties))
            self.release = str(source.release)
            made.append(self)

        def hello(self) -> Any:
            return Hello("pretended", "", broker=self.release, java=17)

        def topic_name(self, lane: int, topic: int) -> str:
            return f"T{topic}"

        def forget_messages(self, lane: int, topic: int, queue: int, count: int) -> None:
            self.forgotten.append(count)

        def ask(self, request: Ask) -> bytes:
            if request.body == b"fileReservedTime=0\n":
                firsts = {("T0", 0): 10, ("T0", 1): 3}
                firsts |= {(aged_store.TOPIC, queue): log.max for queue, log in enumerate(aged_store.QUEUES)}
                self.change(lambda state: lifecycle.expire(self.model.rules, state, firsts)[0])
            return super().ask(request)

    monkeypatch.setattr(proof, "BrokerAdapter", Pretended)
    monkeypatch.setattr(broker_suites, "BrokerAdapter", Pretended)
    monkeypatch.setattr(broker_expiry, "BrokerAdapter", Pretended)
    monkeypatch.setattr(fake_broker, "prove", lambda release: [])
    monkeypatch.setattr(broker_upgrades, "StartedBroker", turns)
    monkeypatch.setattr(broker_memory, "prove", lambda tally: None)
    monkeypatch.setattr(proof, "java", lambda: "java")
    monkeypatch.setattr(proof, "java_feature", lambda launcher: 17)
    for module in (proof, broker_suites):
        monkeypatch.setattr(module, "java_showing_pages", lambda: 11)
    monkeypatch.setattr(broker_expiry, "_AGE", 0.0)
    monkeypatch.setattr(broker_expiry, "_SETTLE", 0.0)
    monkeypatch.setattr(broker_expiry, "_LIMIT", 0.5)
    monkeypatch.setattr(broker_configured, "DEFAULT_HOLD_CHECK", -1.0)  # it waits a second longer than that
    monkeypatch.setattr(broker_suites, "CASES", 2)
    monkeypatch.setattr(broker_configured, "OTHER_CASES", 2)
    return made


def test_a_whole_proof(pretended: list[ModelAdapter], tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    units = [Unit(BROKER, release) for release in ("4.9.7", "5.5.0")]
    work = Work(out=tmp_path / "rows")
    assert settle(lambda units, more: proof.prove_all(units, 1, more=more), units, work) == 0
    printed = capsys.readouterr().out
    assert "broker 4.9.7: " in printed
    assert " 0 differences" in printed
    confirmed = {(row.rule, row.release) for row in KeptRows(tmp_path / "rows").rows()}
    assert {("BQ-MIN-2", "4.9.7"), ("BQ-MIN-3", "5.5.0")} <= confirmed
    assert [10, 3] in [adapter.forgotten for adapter in pretended]


def test_a_whole_proof_that_finds_something(
    pretended: list[ModelAdapter], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ModelAdapter, "restart", lambda self, how: self.change(lambda state: state._replace(stored={})))
    units = [Unit(BROKER, "5.5.0")]
    assert settle(lambda units, more: proof.prove_all(units, 1, more=more), units, Work()) == 1
    assert "the model says" in capsys.readouterr().out


def test_a_proof_of_one_rule_plays_what_can_confirm_it_and_nothing_else(
    pretended: list[ModelAdapter], monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []
    ordinary = prove_suite

    def recorded(adapter: Any, profile: Profile, tally: Tally, suite: Suite, *counts: int) -> None:
        played.append(suite.name)
        ordinary(adapter, profile, tally, suite, *counts)

    for module in (proof, broker_configured):
        monkeypatch.setattr(module, "prove_suite", recorded)
    selection = Selection(rule="BQ-LOCK-STRICT")
    found = proof.prove_release("5.5.0", selection)
    assert set(played) == {"broker-locks"}
    assert "BQ-LOCK-STRICT" in {row.rule for row in found.rows()}


def test_an_expiry_that_cannot_begin_is_cleaned_up(
    pretended: list[ModelAdapter], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(ModelAdapter, "close", lambda self: closed.append(True))

    def fail(self: ModelAdapter, cases: Sequence[tuple[int, Suite]]) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(ModelAdapter, "reset_many", fail)
    with pytest.raises(RuntimeError, match="no"):
        proof.prove_release("5.5.0")
    assert closed == [True]


def test_what_a_process_goes_through_is_played_as_far_as_it_may_be() -> None:
    profile, counted = Profile(), tally()
    prove_suite(ModelAdapter(profile), profile, counted, broker_process.SUITE, 3, 100)
    assert counted.differences == 0
    assert {"RUN-DOWN-1", "RUN-FREEZE-1", "RUN-FREEZE-2"} <= {row.rule for row in counted.rows()}
    assert counted.cases < 300


@pytest.mark.broker
def test_a_real_broker_of_5_0_starts_on_damaged_files_as_no_other_does() -> None:
    # the environment proof-broker asks 4.9.7 and 5.5.0 for everything else
    result = proof.prove(Unit(BROKER, "5.0.0"), Selection(suite="broker-tables"), brief=True)
    assert "BQ-FILE-START" in {row.rule for row in result.rows}, result.lines
    assert result.differences == 0, result.lines
