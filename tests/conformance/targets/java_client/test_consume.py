"""The real listeners, stepped by hand: their clock, their requests, and that releases differ where the model says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite

pytestmark = pytest.mark.java

RELEASES = ("4.9.8", "5.5.0")
CONSUME, ORDERLY = SUITES["consume"], SUITES["consume-orderly"]


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def done(stage: Stage, suite: Suite, *steps: tuple[Any, ...]) -> list[Any]:
    """The values that the steps of one case answer; a step is the operation's name and its arguments."""
    row = rows_of(suite)
    return values(stage, suite, *(row(*step) for step in steps))


def test_requests_wait_until_they_are_run_and_the_commit_waits_for_the_smallest(stage: Stage) -> None:
    results = done(
        stage,
        CONSUME,
        ("begin", "CLUSTERING", -1, 2),
        ("put", 0, (3, 4, 5, 6), 10, 0),
        ("consume", 1, "CONSUME_SUCCESS", None, 0, "answer", "nothing"),
        ("consume", 0, "RECONSUME_LATER", None, 5, "answer", "nothing"),
    )
    assert results[1] == (True, 4, 40, 3, True)
    assert results[2] == ((5, 6), 3, 2, 20, 1, True, ())
    back = tuple(("back", 1000 + offset, "T", 5, f"ID-0-{offset}", 16) for offset in (3, 4))
    assert results[3] == ((3, 4), 7, 0, 0, 0, False, back)


@pytest.mark.parametrize(("meanwhile", "sent"), [("in time", 0), ("times out", 1)])
def test_listeners_time_out_by_the_clock_of_the_case(stage: Stage, meanwhile: str, sent: int) -> None:
    results = done(
        stage,
        CONSUME,
        ("put", 1, (0,), 1, 0),
        ("consume", 0, "CONSUME_SUCCESS", None, 0, "answer", meanwhile),
    )
    assert len(results[1][-1]) == sent


def test_what_could_not_be_sent_back_comes_again_by_the_clock_of_the_case(stage: Stage) -> None:
    results = done(
        stage,
        CONSUME,
        ("put", 0, (0,), 1, 0),
        ("consume", 0, "RECONSUME_LATER", None, 0, "refuse", "nothing"),
        ("tick", 2_500),
        ("tick", 2_500),
        ("consume", 0, "RECONSUME_LATER", None, 0, "copy", "nothing"),
    )
    assert results[2:4] == [0, 1]
    assert [entry[:4] for entry in results[4][-1]] == [("copy", 1000, "T", 4)]


def test_a_run_takes_batches_until_the_listener_suspends(stage: Stage) -> None:
    suspend = "SUSPEND_CURRENT_QUEUE_A_MOMENT"
    results = done(
        stage,
        ORDERLY,
        ("put", 0, (0, 1, 2), 1, 0),
        ("consume", 0, "SUCCESS", suspend, True, -1, "answer", "nothing"),
        ("tick", 999),
        ("tick", 1_000),
        ("consume", 0, "SUCCESS", "SUCCESS", True, -1, "answer", "nothing"),
    )
    assert results[1] == (((0, 1), (2,)), 2, 1, 1, 0, True, ())
    assert results[2:4] == [0, 1]
    assert results[4][:2] == (((2,),), 3)


@pytest.mark.parametrize("suite", [CONSUME, ORDERLY], ids=lambda suite: suite.name)
def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage, suite: Suite) -> None:
    assert verdicts(stage, suite, stage.profile, 15, 50) == [CONFORMS] * 15
    assert DIVERGES in verdicts(stage, suite, Profile.of(client="4.4.0"), 15, 50)
