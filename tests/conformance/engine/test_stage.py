"""The stage: faults are armed for one operation, effects are read off the world, and adapters are kept in check."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from every import every

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Case, Hello, Methods
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Answer, Err, Ok, Outcome, Result, Unsupported
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import remote_store
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.domain import Requests
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

STORE, PUSH, LOCAL = SUITES["remote-store"], SUITES["start-push"], SUITES["local-store"]
CONSUME, GROUP_SUITE = SUITES["consume"], SUITES["rebalance"]


def armed(stage: Stage) -> tuple[str, str]:
    """The faults by which queries and commits, and bounds, are played at this moment."""
    script = stage.world.broker.script
    return script.armed(Requests.OFFSETS), script.armed(Requests.BOUNDS)


class Double:
    """Answers every operation by ``play``."""

    def __init__(self, play: Callable[[Operation], Any] = lambda operation: Ok()) -> None:
        self.play = play
        self.cases: list[Case] = []
        self.closed = 0

    def hello(self) -> Hello:
        return Hello("double", "1")

    def reset(self, case: Case) -> None:
        self.cases.append(case)

    def apply(self, operation: Operation) -> Outcome:
        return self.play(operation)  # type: ignore[no-any-return]

    def close(self) -> None:
        self.closed += 1


def row(suite: Suite, name: str, *args: Any) -> Row:
    return suite.index[name], args


def commit(case: Case, queue: int, offset: int) -> None:
    """Commit through the fake broker, as an implementation would."""
    place = ORDINARY.queues[queue]
    ext = {"consumerGroup": GROUP, "topic": place.topic, "queueId": str(place.id), "commitOffset": str(offset)}
    case.exchange("", int(Request.UPDATE_CONSUMER_OFFSET), ext, b"", True)


def test_faults_are_armed_while_their_operation_is_played_only() -> None:
    seen: list[tuple[str, str]] = []
    adapter = Double(lambda operation: seen.append(armed(stage)) or Ok())
    stage = Stage(adapter, Profile())
    stage.begin(PUSH, 0)
    stage.do(PUSH, row(PUSH, "start", 0, "CONSUME_FROM_LAST_OFFSET", "SYSTEM_BUSY", "cut"))
    stage.do(PUSH, row(PUSH, "remove", 0))
    stage.do(PUSH, row(PUSH, "read", 0, "store", "silent"))
    stage.begin(PUSH, 1)
    assert seen == [("SYSTEM_BUSY", "cut"), ("answer", "answer"), ("silent", "answer")]
    assert armed(stage) == ("answer", "answer")


def test_an_adapter_is_given_neither_faults_nor_durations() -> None:
    given: list[Operation] = []
    stage = Stage(Double(lambda operation: given.append(operation) or Ok()), Profile())
    stage.begin(STORE, 0)
    stage.do(STORE, row(STORE, "read", 0, "store", "cut"))
    assert [(str(operation), operation.args) for operation in given] == [("read(queue=0, kind='store')", (0, "store"))]
    assert not hasattr(given[0], "fault")
    match given[0]:
        case remote_store.Read(queue, kind):
            assert (queue, kind) == (0, "store")


def test_who_has_no_clock_to_turn_is_not_asked_for_what_time_does() -> None:
    stage = Stage(Double(lambda operation: pytest.fail(str(operation))), Profile())
    stage.begin(CONSUME, 0)
    outcome = stage.do(CONSUME, row(CONSUME, "tick", 5_000))
    assert isinstance(outcome, Unsupported)
    assert "pass_time" in outcome.reason


def test_a_fault_that_an_adapter_refuses_makes_its_operation_unsupported() -> None:
    class Impatient(Double):
        def refuses_fault(self, fault: str) -> str:
            return "it would wait" if fault == "silent" else ""

    stage = Stage(Impatient(), Profile())
    stage.begin(STORE, 0)
    assert stage.do(STORE, row(STORE, "read", 0, "store", "silent")) == Unsupported("it would wait")
    assert stage.do(STORE, row(STORE, "read", 0, "store", "cut")) == Ok()


def test_operations_of_the_world_never_reach_the_adapter() -> None:
    adapter = Double(lambda operation: pytest.fail(str(operation)))
    stage = Stage(adapter, Profile())
    stage.begin(STORE, 0)
    assert stage.do(STORE, row(STORE, "commit_elsewhere", 0, 12)) == Ok()
    assert stage.world.state.stored[GROUP, ORDINARY.queues[0].topic, ORDINARY.queues[0].id] == 12


def test_an_effect_is_what_reached_the_broker_whatever_the_adapter_says() -> None:
    def play(operation: Operation) -> Outcome:
        commit(adapter.cases[-1], 1, 6)
        commit(adapter.cases[-1], 0, 12)
        return Ok("anything")

    adapter = Double(play)
    stage = Stage(adapter, Profile())
    stage.begin(STORE, 0)
    assert stage.do(STORE, row(STORE, "persist_all", (0, 1))) == Ok(((0, 12), (1, 6)))
    adapter.play = lambda operation: Ok()
    assert stage.do(STORE, row(STORE, "persist", 0)) == Ok(())


def test_an_error_of_an_effect_stays_beside_its_commits_which_count_for_nothing_else() -> None:
    def fails(operation: Operation) -> Outcome:
        commit(adapter.cases[-1], 0, 12)
        return Err("CLIENT")

    adapter = Double(fails)
    stage = Stage(adapter, Profile())
    stage.begin(STORE, 0)
    assert stage.do(STORE, row(STORE, "persist", 0)) == Err("CLIENT", commits=((0, 12),))
    adapter.play = lambda operation: Ok()
    assert stage.do(STORE, row(STORE, "persist", 1)) == Ok(())


def test_commits_beside_an_answer_without_parts_are_part_of_it() -> None:
    def sends(operation: Operation) -> Outcome:
        commit(adapter.cases[-1], 0, 12)
        return Ok(None)

    adapter = Double(sends)
    stage = Stage(adapter, Profile())
    stage.begin(GROUP_SUITE, 0)
    rebalance = row(GROUP_SUITE, "rebalance", 0, "answer", "answer", "answer")
    assert stage.do(GROUP_SUITE, rebalance) == Ok((None, ((0, 12),)))
    adapter.play = lambda operation: Ok(None)
    assert stage.do(GROUP_SUITE, rebalance) == Ok(None)


def test_what_reached_the_broker_before_a_case_is_forgotten() -> None:
    adapter = Double()
    stage = Stage(adapter, Profile())
    stage.begin(STORE, 0)
    commit(adapter.cases[-1], 0, 12)
    stage.begin(STORE, 1)
    assert stage.do(STORE, row(STORE, "persist", 0)) == Ok(())
    assert not any(key[0] == GROUP for key in stage.world.state.stored)


@every("junk", [None, 3, "Ok", (Ok(),), {"ok": 1}, Ok, "x" * 10_000])
def test_what_is_no_outcome_is_named(junk: Any) -> None:
    stage = Stage(Double(lambda operation: junk), Profile())
    stage.begin(STORE, 0)
    with pytest.raises(AdapterError, match="must return Ok, Err or Unsupported") as error:
        stage.do(STORE, row(STORE, "remove", 0))
    assert "remove(queue=0)" in str(error.value)
    assert len(str(error.value)) < 400


def test_an_operation_that_is_not_offered_is_passed_on() -> None:
    stage = Stage(Double(lambda operation: Unsupported("not here")), Profile())
    stage.begin(STORE, 0)
    assert stage.do(STORE, row(STORE, "persist", 0)) == Unsupported("not here")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("a bug"), r"raised ValueError \(a bug\) in remove\(queue=0\)"),
        (ValueError(), r"raised ValueError in remove\(queue=0\)"),
        (TimeoutError(), r"waited in remove\(queue=0\) for what did not come in time: see whether what it asks"),
    ],
)
def test_what_an_adapter_raises_is_named_with_the_operation(error: Exception, sentence: str) -> None:
    def raises(operation: Operation) -> Outcome:
        raise error

    stage = Stage(Double(raises), Profile())
    stage.begin(STORE, 0)
    with pytest.raises(AdapterError, match=sentence):
        stage.do(STORE, row(STORE, "remove", 0))


@pytest.mark.parametrize("error", [AdapterError("said so"), CannotRunError("said so"), KeyboardInterrupt()])
def test_what_has_a_sentence_already_passes_through(error: BaseException) -> None:
    def raises(operation: Operation) -> Outcome:
        raise error

    stage = Stage(Double(raises), Profile())
    stage.begin(STORE, 0)
    with pytest.raises(type(error)) as raised:
        stage.do(STORE, row(STORE, "remove", 0))
    assert raised.value is error


def test_an_adapter_that_hangs_is_given_up() -> None:
    def hangs(operation: Operation) -> Outcome:
        time.sleep(30)
        return Ok()

    stage = Stage(Double(hangs), Profile())
    stage.begin(STORE, 0)
    stage.patience = 0.1
    with pytest.raises(AdapterError, match=r"did not return from remove\(queue=0\) within 0.1 s"):
        stage.do(STORE, row(STORE, "remove", 0))


def test_an_adapter_that_hangs_when_a_case_begins_is_given_up() -> None:
    class Hangs(Double):
        def reset(self, case: Case) -> None:
            time.sleep(30)

    with pytest.raises(AdapterError, match=r"beginning a case of remote-store within 0\.1 s"):
        Stage(Hangs(), Profile(), patience=0.1).begin(STORE, 0)


def test_patience_lasts_for_each_operation_not_for_all() -> None:
    stage = Stage(Double(lambda operation: time.sleep(0.25) or Ok()), Profile(), patience=2)
    stage.begin(STORE, 0)
    for _ in range(9):
        assert stage.do(STORE, row(STORE, "remove", 0)) == Ok()


def test_a_case_says_what_the_adapter_may_know() -> None:
    adapter = Double()
    stage = Stage(adapter, Profile())
    stage.use(Profile.of("4.9.8", "9.9.9"))
    stage.begin(STORE, 17)
    case = adapter.cases[-1]
    assert (case.suite, case.number, case.group, case.queues) == (STORE, 17, GROUP, ORDINARY.queues)
    assert str(case.profile.client) == "4.9.8"
    listed = case.exchange("", int(Request.GET_CONSUMER_LIST_BY_GROUP), {"consumerGroup": GROUP}, b"", False)[3]
    assert sorted(json.loads(listed)["consumerIdList"]) == sorted(case.clients)


def test_the_name_server_is_started_when_it_is_asked_for_and_ends_with_the_stage() -> None:
    adapter = Double()
    stage = Stage(adapter, Profile())
    stage.begin(STORE, 0)
    address = adapter.cases[-1].name_server()
    assert address == adapter.cases[-1].name_server() == stage.world.address
    stage.close()
    host, port = address.split(":")
    with pytest.raises(ConnectionError):
        Connection(host, int(port))


def test_every_case_has_an_empty_folder_that_goes_with_the_stage() -> None:
    adapter = Double()
    stage = Stage(adapter, Profile())
    folders: list[Path] = []
    for number in range(2):
        stage.begin(LOCAL, number)
        folder = adapter.cases[-1].directory
        assert list(folder.iterdir()) == []
        (folder / "offsets.json").write_text("{}")
        assert (adapter.cases[-1].directory / "offsets.json").exists(), "it is emptied once in a case"
        folders.append(folder)
    stage.close()
    assert not any(folder.exists() for folder in folders)


def test_closing_is_done_once_and_never_fails() -> None:
    class Fails(Double):
        def close(self) -> None:
            super().close()
            raise RuntimeError("cannot close")

    adapter = Fails()
    stage = Stage(adapter, Profile())
    stage.close()
    stage.close()
    assert adapter.closed == 1


class Calling(Double):
    """Offers plain calls too, which note the faults that they see."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(self, Profile())
        self.seen: list[tuple[str, str]] = []
        self.given: list[tuple[Any, ...]] = []
        self.result: Result = None

    def calls(self, suite: Suite) -> Methods | None:
        def call(*args: Any) -> Result:
            self.seen.append(armed(self.stage))
            self.given.append(args)
            return self.result

        return dict.fromkeys(suite.operations, call)


def test_calls_are_armed_and_disarmed_and_answer_effects() -> None:
    adapter = Calling()
    stage = adapter.stage
    stage.begin(STORE, 0)
    calls = stage.calls(STORE)
    assert calls is not None
    index = STORE.index
    calls[index["read"]](0, "store", "cut")
    calls[index["remove"]](0)
    assert adapter.seen == [("cut", "answer"), ("answer", "answer")]
    assert adapter.given == [(0, "store"), (0,)]
    commit(adapter.cases[-1], 0, 12)
    assert calls[index["persist"]](0) == ((0, 12),)
    adapter.result = Err("CLIENT")
    assert calls[index["persist"]](0) == Err("CLIENT")
    calls[index["commit_elsewhere"]](0, 6)
    assert len(adapter.seen) == 4


def test_an_adapter_without_calls_has_none() -> None:
    stage = Stage(Double(), Profile())
    assert stage.calls(STORE) is None
    assert stage.step_player(STORE) is None


class Whole(Double):
    """Does the steps of a case at once, and asks the broker for an offset in each ``read``."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(self, Profile())
        self.seen: list[tuple[str, str]] = []
        self.rows: list[Row] = []

    def plays_whole(self, suite: Suite) -> bool:
        return True

    def play_case(self, case: Case, rows: Sequence[Row], reached: Callable[[int], None]) -> list[Answer]:
        self.rows += rows
        answers: list[Answer] = []
        for at, (operation, args) in enumerate(rows):
            answers.append(None)
            if case.suite.operations[operation].spec.name == "read":
                reached(at)
                self.seen.append(armed(self.stage))
                answers[-1] = query(case, args[0])
        return answers


def query(case: Case, queue: int) -> Result:
    """The stored offset of a queue, or the name of the fault."""
    place = ORDINARY.queues[queue]
    ext = {"consumerGroup": GROUP, "topic": place.topic, "queueId": str(place.id)}
    try:
        _, _, header, _ = case.exchange("", int(Request.QUERY_CONSUMER_OFFSET), ext, b"", False)
    except TimeoutError:
        return "silent"
    return int(header["offset"])


def test_steps_in_one_call_find_the_world_as_their_plan_has_it() -> None:
    adapter = Whole()
    plan = [
        row(PUSH, "commit_elsewhere", 0, 5),
        row(PUSH, "read", 0, "store", "answer"),
        row(PUSH, "read", 0, "store", "silent"),
        row(PUSH, "commit_elsewhere", 0, 7),
        row(PUSH, "remove", 0),
        row(PUSH, "commit_elsewhere", 0, 9),
        row(PUSH, "read", 0, "store", "answer"),
        row(PUSH, "commit_elsewhere", 0, 11),
    ]
    assert adapter.stage.play_whole(PUSH, 0, plan) == [None, 5, "silent", None, None, None, 9, None]
    assert adapter.seen == [("answer", "answer"), ("silent", "answer"), ("answer", "answer")]
    assert adapter.rows == [plan[at] for at in (1, 2, 4, 6)]


def test_an_operation_that_the_judging_release_does_not_have_is_left_out() -> None:
    stage = Stage(Port(), Profile.of("4.9.8"))
    suite = SUITES["remote-store"]
    stage.begin(suite, 0)
    row = (suite.index["freeze"], (0, 5))
    assert isinstance(stage.do(suite, row), Unsupported)
    calls = stage.calls(suite)
    assert calls is not None
    assert calls[row[0]](*row[1]) == Err("UNSUPPORTED")
    stage.use(Profile())
    stage.begin(suite, 0)
    assert stage.do(suite, row) == Ok()
    stage.close()
