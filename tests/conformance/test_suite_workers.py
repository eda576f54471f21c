"""Suites side by side in processes of their own: the same events, and nothing is lost with a process."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from places import HELPERS

from rocketmq_conformance.conformance.api import judge, run
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.runner import deliver
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    EXIT_CODES,
    INTERRUPTED,
    TIME_LIMIT,
    CaseEnded,
    Event,
    Progress,
    RunEnded,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.suites.declare.discovery import SUITES

NAMES = ("local-store", "pull", "remote-store")
#: What is never the same again.
TIMES = {"seconds", "started", "peak_memory"}


def few(address: str, **more: Any) -> list[Event]:
    """A run of three suites by two workers, from the seed alone."""
    options: dict[str, Any] = {"suites": NAMES, "cases": 8, "seed": 3, "tiers": ("seeded",), "workers": 2, **more}
    return list(run(address, **options))


def ends(events: list[Event]) -> Mapping[str, SuiteEnded]:
    return {event.suite: event for event in events if isinstance(event, SuiteEnded)}


def end(events: list[Event]) -> RunEnded:
    last = events[-1]
    assert isinstance(last, RunEnded)
    return last


def test_the_events_are_those_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for workers in (1, 2):
        (tmp_path / str(workers)).mkdir()
        monkeypatch.chdir(tmp_path / str(workers))  # each has its own database of Hypothesis
        few_tiers = {"tiers": ("seeded", "hypothesis"), "examples": 3}
        events = few("python:broken_adapters:OffByOne", workers=workers, **few_tiers)
        seen.append(
            [
                (type(event), {key: value for key, value in asdict(event).items() if key not in TIMES})
                for event in events
                if not isinstance(event, Progress)
            ]
        )
    one, two = seen
    assert two == one
    assert {"DivergenceFound", "CaseEnded", "RulesJudged"} <= {kind.__name__ for kind, _ in one}
    assert active_children() == []


def test_plans_and_logs_are_kept(tmp_path: Path) -> None:
    program = f"{sys.executable} {HELPERS / 'exec_port.py'} --whole"
    events = few(f"exec:sh -c 'echo begun >&2; exec {program}'", out=tmp_path)
    assert end(events).verdict == CONFORMS
    logs = {f"{worker}/exec.log" for worker in ("worker-1", "worker-2")}
    found = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert found == {"exec.log", *logs, *(f"{name}.plan.jsonl" for name in NAMES)}
    assert all((tmp_path / log).read_text() == "begun\n" for log in logs)


def test_a_plan_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "pull.plan.jsonl").mkdir()
    with pytest.raises(IsADirectoryError):
        few("port", out=tmp_path)
    assert active_children() == []


def test_a_process_that_is_killed_takes_one_suite_with_it() -> None:
    events = few("python:several_openings:KilledInPull")
    assert {name: one.verdict for name, one in ends(events).items()} == {
        "local-store": CONFORMS,
        "pull": COULD_NOT_RUN,
        "remote-store": CONFORMS,
    }
    assert ends(events)["pull"].reason == "its process was ended by SIGKILL"
    assert [event.suite for event in events if isinstance(event, SuiteStarted)] == list(NAMES)
    assert end(events).exit_code == EXIT_CODES[COULD_NOT_RUN]


def test_what_can_be_opened_once_more_is_judged_by_one_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    events = few("python:several_openings:twice")
    assert [(name, one.verdict) for name, one in ends(events).items()] == [(name, CONFORMS) for name in NAMES]
    assert end(events).verdict == CONFORMS


def test_what_no_worker_can_open_could_not_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    events = few("python:several_openings:once")
    assert {one.verdict for one in ends(events).values()} == {COULD_NOT_RUN}
    assert list(ends(events)) == list(NAMES)
    assert all("all that there are have been opened" in one.reason for one in ends(events).values())
    assert end(events).exit_code == EXIT_CODES[COULD_NOT_RUN]


def test_ctrl_c_ends_all_that_are_under_way_in_good_order() -> None:
    suites = [SUITES[name] for name in NAMES]
    seen: list[Event] = []

    def receive(event: Event) -> None:
        first = not any(isinstance(one, CaseEnded) for one in seen)
        seen.append(event)
        if first and isinstance(event, CaseEnded):
            raise KeyboardInterrupt

    deliver(judge("python:poisonous:Waits", suites, Options("", 1, 50), workers=2), receive)
    assert end(seen).stopped == INTERRUPTED
    assert list(ends(seen)) == list(NAMES[:2])
    assert all(one.reason.startswith("interrupted") for one in ends(seen).values())
    assert active_children() == []


def test_the_time_limit_is_shared_out() -> None:
    events = few("port", cases=100_000, steps=4, max_time=0.4)
    assert end(events).stopped == TIME_LIMIT
    assert {one.verdict for one in ends(events).values()} == {CONFORMS}
    assert list(ends(events)) == list(NAMES)


def test_who_is_not_interested_any_more_leaves_no_process() -> None:
    events = run("port", suites=NAMES, cases=1_000_000, seed=1, workers=2)
    assert any(isinstance(event, SuiteStarted) for event in events)
    events.close()  # type: ignore[attr-defined]
    assert active_children() == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"target": Port()}, "an address, which each of them opens"),
        ({"stop_at_first": True}, "leave out stop_at_first"),
    ],
)
def test_what_several_workers_cannot_do(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        run(**{"target": "port", "workers": 2, **words})
