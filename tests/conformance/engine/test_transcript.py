"""Messages: every step of a divergence that is told has what the member and its brokers said, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rocketmq_conformance.conformance.engine.divergence import listen
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.runner import Runner
from rocketmq_conformance.conformance.engine.shrink import Shrunk
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.transcript import (
    MOST,
    Message,
    MessageRecorder,
    request_text,
    response_text,
)
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Err, Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DivergenceFound
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite

STORE, ALLOCATION, OFFSETS, PULL = (
    SUITES[name] for name in ("remote-store", "allocation", "broker-offsets", "start-pull")
)
ROUTE: list[Message] = [
    ["member", "name server", "GET_ROUTEINFO_BY_TOPIC topic=T"],
    ["name server", "member", "route to broker-a"],
]
QUERY: Message = ["member", "broker", "QUERY_CONSUMER_OFFSET topic=T queue=0 group=G"]


def row(suite: Suite, name: str, *args: Any) -> Row:
    return suite.index[name], args


@pytest.fixture(params=["call", "tcp"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    made = Stage(Port(via=request.param), Profile())
    yield made
    made.close()


def transcripts(stage: Stage, *rows: Row, suite: Suite = STORE) -> list[list[Message]]:
    """The messages of each row, played in one case."""
    taken = []
    with stage.listening(suite) as recorder:
        stage.begin(suite, 0)
        recorder.take()
        for one in rows:
            stage.do(suite, one)
            stage.settle()
            taken.append(recorder.take())
    return taken


def test_a_step_has_its_requests_and_responses_in_order(stage: Stage) -> None:
    assert transcripts(stage, row(STORE, "read", 0, "store", "answer"), row(STORE, "read", 0, "memory", "answer")) == [
        [*ROUTE, QUERY, ["broker", "member", "offset=0"]],
        [],
    ]


def test_a_refusal_is_reported_by_its_name(stage: Stage) -> None:
    (messages,) = transcripts(stage, row(STORE, "read", 0, "store", "SYSTEM_BUSY"))
    assert messages[-1] == ["broker", "member", "SYSTEM_BUSY"]


@pytest.mark.parametrize(("fault", "shown"), [("silent", "(silence)"), ("cut", "(cut)")])
def test_a_broker_that_says_nothing_is_reported_too(stage: Stage, fault: str, shown: str) -> None:
    (messages,) = transcripts(stage, row(STORE, "read", 0, "store", fault))
    assert messages[-2:] == [QUERY, ["broker", "member", shown]]


def test_a_one_way_request_has_no_response(stage: Stage) -> None:
    (messages,) = transcripts(stage, row(STORE, "commit", 0, 5, True, "answer"))
    assert messages == [
        *ROUTE,
        ["member", "broker", "UPDATE_CONSUMER_OFFSET topic=T queue=0 group=G commitOffset=5 (one way)"],
    ]


def test_what_others_do_is_reported(stage: Stage) -> None:
    (commit,) = transcripts(stage, row(STORE, "commit_elsewhere", 1, 7))
    assert commit == [["another member", "broker", "UPDATE_CONSUMER_OFFSET topic=T queue=1 group=G commitOffset=7"]]
    (shape,) = transcripts(stage, row(PULL, "shape", 0, "gone"), suite=PULL)
    assert shape == [["broker", "broker", "shape(queue=0, shape='gone')"]]


def test_nothing_is_taken_down_before_and_afterwards(stage: Stage) -> None:
    read = row(STORE, "read", 0, "store", "answer")
    stage.begin(STORE, 0)
    stage.do(STORE, read)
    with stage.listening(STORE) as recorder:
        assert recorder.take() == []
    stage.begin(STORE, 1)
    assert stage.do(STORE, read) == Ok(0)
    assert recorder.take() == []


def test_messages_beyond_the_limit_are_counted() -> None:
    recorder = MessageRecorder()
    for number in range(MOST + 1234):
        recorder.record("member", "broker", f"request {number}")
    taken = recorder.take()
    assert len(taken) == MOST + 1
    assert taken[-1] == ["member", "broker", "(and 1,234 more messages)"]
    assert recorder.take() == []


def test_requests_and_responses_that_nobody_knows_have_a_text() -> None:
    assert request_text(4711, {"b": "1", "a": "2"}) == "request 4711 a=2 b=1"
    assert response_text(4711, {}) == "CODE_4711"
    assert response_text(0, {}) == "SUCCESS"
    assert response_text(0, {}, b"1234") == "(4 bytes)"
    assert request_text(Request.SEND_MESSAGE_V2, {"b": "T", "e": "1", "g": "99"}) == ("SEND_MESSAGE_V2 topic=T queue=1")


# --- brokers -----------------------------------------------------------------------------------------------------


def test_what_a_real_broker_is_asked_and_answers_is_reported_without_the_names_of_the_case() -> None:
    with FakeBroker(Profile()) as broker:
        host, port = broker.address.rsplit(":", 1)
        stage = Stage(BrokerAdapter(RunningBroker(host, int(port))), Profile())
        try:
            taken = transcripts(
                stage,
                row(OFFSETS, "commit", 0, 0, 1, 9),
                row(OFFSETS, "query", 0, 0, 1, None),
                row(OFFSETS, "query", 0, 0, 3, False),
                suite=OFFSETS,
            )
        finally:
            stage.close()
    assert taken == [
        [
            ["member", "broker", "UPDATE_CONSUMER_OFFSET topic=T0 queue=1 group=G0 commitOffset=9"],
            ["broker", "member", "SUCCESS"],
        ],
        [["member", "broker", "QUERY_CONSUMER_OFFSET topic=T0 queue=1 group=G0"], ["broker", "member", "offset=9"]],
        [
            ["member", "broker", "QUERY_CONSUMER_OFFSET topic=T0 queue=3 group=G0 setZeroIfNotFound=false"],
            ["broker", "member", "QUERY_NOT_FOUND"],
        ],
    ]


def test_the_group_that_reads_store_times_has_no_name_of_the_run() -> None:
    with FakeBroker(Profile()) as broker:
        host, port = broker.address.rsplit(":", 1)
        stage = Stage(BrokerAdapter(RunningBroker(host, int(port))), Profile())
        try:
            search = SUITES["broker-search"]
            (messages,) = transcripts(stage, row(search, "send_timed", 0, 0, 1, False), suite=search)
        finally:
            stage.close()
    assert any(text.startswith("PULL_MESSAGE topic=T0 queue=0 group=READER ") for _, _, text in messages)
    assert not any("conf-" in text for _, _, text in messages)


def test_a_broker_that_does_not_answer_in_time_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_conformance.conformance.targets.broker.adapter.PATIENCE", 1.0)
    with FakeBroker(Profile()) as broker:
        host, port = broker.address.rsplit(":", 1)
        stage = Stage(BrokerAdapter(RunningBroker(host, int(port))), Profile())
        try:
            broker.faults.arm(Request.QUERY_CONSUMER_OFFSET, "silent")
            (messages,) = transcripts(stage, row(OFFSETS, "query", 0, 0, 1, None), suite=OFFSETS)
        finally:
            stage.close()
    assert messages[-1] == ["broker", "member", "(silence)"]


# --- divergences -------------------------------------------------------------------------------------------------


def found(adapter: Any, suite: Suite, cases: int = 30) -> list[DivergenceFound]:
    """The divergences of a run."""
    stage = Stage(adapter, Profile())
    try:
        events = list(Runner(stage, adapter.hello(), Profile(), Options("x", 1, cases)).run([suite]))
    finally:
        stage.close()
    return [event for event in events if isinstance(event, DivergenceFound)]


def test_a_divergence_is_reported_with_the_messages_of_its_steps() -> None:
    first = found(Port(MUTANTS["not-found-is-zero"].parts), STORE)[0]
    assert [step.diverges for step in first.steps] == [True]
    assert first.steps[0].messages == [*ROUTE, QUERY, ["broker", "member", "QUERY_NOT_FOUND"]]


def test_an_operation_that_asks_nobody_has_no_messages() -> None:
    first = found(Port(MUTANTS["large-blocks"].parts), ALLOCATION)[0]
    assert [step.messages for step in first.steps] == [[] for _ in first.steps]


class Once:
    """A port that answers one read wrongly and then never again."""

    def __init__(self, wrong: Outcome = Err("RUNTIME")) -> None:  # noqa: B008 - it is frozen
        self.port = Port()
        self.wrong: Outcome | None = wrong

    def __getattr__(self, name: str) -> Any:
        if name == "calls":
            raise AttributeError(name)
        return getattr(self.port, name)

    def apply(self, operation: Operation) -> Outcome:
        outcome, self.wrong = self.wrong or self.port.apply(operation), None
        return outcome


def test_a_difference_that_does_not_come_back_is_reported_as_it_was_seen() -> None:
    stage = Stage(Once(), Profile())
    judge = Judge(STORE, Profile())
    rows = [row(STORE, "read", 0, "memory", "answer")]
    stage.begin(STORE, 0)
    judged: Judged = judge.judge(rows, lambda one: stage.do(STORE, one))
    assert judged.verdict == "diverges"
    shrunk = Shrunk(judged, 7)
    assert listen(stage, judge, shrunk, 0) == (shrunk, [])
    stage.close()
