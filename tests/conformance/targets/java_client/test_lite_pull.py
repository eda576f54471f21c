"""The real lite pull consumer in the hands of its application: what surprises, and that releases differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import java_stage, outcomes, rows_of, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.lite_pull import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("4.7.0", "4.9.8", "5.5.0")
BY_HAND, POLL, COMMIT = row("commit_by_itself", False), row("poll", 0), row("commit")


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def pull(queue: int, messages: int = 2, meanwhile: str = "nothing") -> Row:
    return row("pull", queue, messages, meanwhile, "answer", "answer")


def done(stage: Stage, *rows: Row) -> list[Any]:
    """What the steps of one case answer."""
    return outcomes(stage, SUITE, BY_HAND, *rows)[1:]


def test_a_seek_whose_pull_fails_is_forgotten(stage: Stage) -> None:
    results = done(
        stage,
        row("assign", (0,)),
        pull(0),
        POLL,
        row("seek", 0, 9, "answer"),
        row("fail", 0, "silent", "answer", "answer"),
        pull(0),
        COMMIT,
        row("persist"),
    )
    assert results[3:6] == [None, 9, 2]
    assert results[7] == ((0, 9),)


def test_a_commit_before_the_next_pull_writes_what_was_polled_before_the_seek(stage: Stage) -> None:
    results = done(
        stage, row("assign", (0,)), pull(0), POLL, row("seek", 0, 9, "answer"), COMMIT, row("persist"), pull(0, 0)
    )
    assert results[5:] == [((0, 2),), 9]


def test_a_late_answer_skips_messages_up_to_4_8(stage: Stage) -> None:
    results = done(stage, row("assign", (0, 1)), pull(0, 4, "assigns anew"), POLL, pull(0))
    assert results[2] == ((), ())
    assert results[3] == (4 if stage.adapter.hello().version == "4.7.0" else 0)


def test_bad_input(stage: Stage) -> None:
    results = done(stage, row("assign", ()), row("seek", 0, 5, "answer"), row("subscribe", "T"), row("assign", (0,)))
    assert results == [Err("RUNTIME"), Err("CLIENT"), None, Err("RUNTIME")]


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 25, 40) == [CONFORMS] * 25
    other = Profile.of(client="4.6.0")
    assert DIVERGES in verdicts(stage, SUITE, other, 25, 40)
