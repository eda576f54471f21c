"""A run as a library call: events one by one, errors as exceptions, and an implementation that is always closed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError, Case
from rocketmq_conformance.conformance.api import judge, run
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.runner import deliver
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.reports.event import (
    CONFORMS,
    INTERRUPTED,
    CaseEnded,
    Event,
    RunEnded,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation


class Watched(Port):
    """A port that says whether it is closed; Ctrl-C comes in the case ``interrupted``."""

    def __init__(self, interrupted: int = -1) -> None:
        super().__init__()
        self.interrupted = interrupted
        self.begun: list[int] = []
        self.closed = False

    def calls(self, suite: object) -> None:
        """One operation at a time."""

    def reset(self, case: Case) -> None:
        self.begun.append(case.number)
        super().reset(case)

    def apply(self, operation: Operation) -> Outcome:
        if len(self.begun) - 1 == self.interrupted:
            raise KeyboardInterrupt
        return super().apply(operation)

    def close(self) -> None:
        self.closed = True
        super().close()


def kinds(events: Iterator[Event] | list[Event]) -> list[str]:
    return [type(event).__name__ for event in events if type(event).__name__ != "Progress"]


def test_events_come_one_by_one() -> None:
    events = list(run("port", suites=["allocation"], cases=3, seed=1, tiers=["seeded"]))
    assert kinds(events) == ["RunStarted", "SuiteStarted", *["CaseEnded"] * 3, "SuiteEnded", "RulesJudged", "RunEnded"]
    assert events[0].json()["address"] == "port"
    assert events[-1].json()["verdict"] == CONFORMS


def test_no_case_begins_before_the_events_of_the_last_one_are_taken() -> None:
    adapter = Watched()
    for event in run(adapter, suites=["remote-store"], cases=5, seed=1, tiers=["seeded"]):
        if isinstance(event, CaseEnded):
            assert adapter.begun[-1] == event.case


def test_the_stored_plans_come_first_unless_refused() -> None:
    (started,) = [
        e for e in run("port", suites=["remote-store"], cases=1, examples=1, seed=1) if isinstance(e, SuiteStarted)
    ]
    assert started.cases == len(started.corpus) + 2 > 2


def test_without_names_it_is_every_suite_that_is_offered() -> None:
    header = next(run("port"))
    assert isinstance(header, RunStarted)
    assert "remote-store" in header.suites
    assert "broker-offsets" not in header.suites


def test_a_release_may_be_named() -> None:
    header = next(run("port", releases={"client": "4.9.8", "java": "11"}))
    assert isinstance(header, RunStarted)
    assert header.profile == {"client": "4.9.8", "broker": "5.5.0", "java": "11"}


def test_plans_are_kept_in_a_folder_that_is_made(tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    list(run("port", suites=["allocation"], cases=2, seed=7, out=out, tiers=["seeded"]))
    assert sorted(plan.read(out / "allocation.plan.jsonl").cases) == [0, 1]


@pytest.mark.parametrize(
    ("address", "kind", "sentence"),
    [
        ("nonsense:1", ValueError, "is no address"),
        ("python:no_such_module:make", CannotRunError, "cannot be found"),
    ],
)
def test_what_cannot_be_opened_raises(address: str, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        next(run(address))


def test_a_suite_that_does_not_exist_is_named_at_once() -> None:
    with pytest.raises(ValueError, match="No suite is called 'alocation'"):
        run("port", suites=["alocation"])


def test_an_adapter_is_closed_at_the_end_and_when_the_generator_is() -> None:
    for taken in (1, 2, 3, 1000):
        adapter = Watched()
        events = run(adapter, suites=["remote-store"], cases=2, seed=1)
        for _ in zip(range(taken), events, strict=False):
            pass
        events.close()  # type: ignore[attr-defined]
        assert adapter.closed


def test_an_adapter_is_closed_when_the_caller_raises() -> None:
    adapter = Watched()

    def fails() -> None:
        for event in run(adapter, suites=["remote-store"], cases=2, seed=1):
            assert not isinstance(event, CaseEnded), "enough"

    with pytest.raises(AssertionError, match="enough"):
        fails()
    assert adapter.closed


def test_ctrl_c_while_a_case_is_played_ends_the_run_and_then_the_caller() -> None:
    adapter = Watched(interrupted=2)
    events: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        events.extend(run(adapter, suites=["remote-store", "allocation"], cases=5, seed=1, tiers=["seeded"]))
    assert kinds(events) == [
        "RunStarted",
        "SuiteStarted",
        "CaseEnded",
        "CaseEnded",
        "SuiteEnded",
        "RulesJudged",
        "RunEnded",
    ]
    assert json.loads(json.dumps(events[-1].json()))["stopped"] == INTERRUPTED
    assert adapter.closed


def test_ctrl_c_while_an_event_is_handed_over_ends_the_run_in_good_order() -> None:
    adapter = Watched()
    events: list[Event] = []

    def receive(event: Event) -> None:
        events.append(event)
        if isinstance(event, CaseEnded):
            raise KeyboardInterrupt

    deliver(judge(adapter, [SUITES["remote-store"]], Options("x", 1, cases=5)), receive)
    assert kinds(events) == ["RunStarted", "SuiteStarted", "CaseEnded", "SuiteEnded", "RulesJudged", "RunEnded"]
    (suite,) = [event for event in events if isinstance(event, SuiteEnded)]
    assert suite.reason == "interrupted after 1 of 5 cases"
    assert isinstance(events[-1], RunEnded)
    assert events[-1].stopped == INTERRUPTED
    assert adapter.closed
