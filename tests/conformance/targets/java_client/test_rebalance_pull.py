"""The real lite pull consumers, stepped by hand: their tables, tasks and messages, and that they can differ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from by_hand import java_stage, rows_of, verdicts

from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.rebalance_pull import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("4.6.0", "4.9.8", "5.5.0")


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


ROUND = row("rebalance", 0, "answer", "answer", "answer")
UNSTARTED = row("rebalance", 0, "answer", "answer", "SYSTEM_BUSY")
PULL = row("pull", 0, True, "answer", "answer")
GIVE_UP = row("unsubscribe", 0, "T")
TAKE_BACK = row("subscribe", 0, "T")


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer; all of them are what the model expects."""
    stage.begin(SUITE, 0)
    judged = Judge(SUITE, stage.profile)
    values = []

    def do(step: Row) -> Any:
        outcome = stage.do(SUITE, step)
        values.append(outcome.value if isinstance(outcome, Ok) else outcome)
        return outcome

    assert judged.judge(list(rows), do).verdict == CONFORMS
    return values


def test_a_topic_that_was_taken_back_is_owned_and_not_pulled(stage: Stage) -> None:
    results = done(stage, ROUND, GIVE_UP, TAKE_BACK, ROUND, PULL)
    assert results[0][:2] == ((5, 6, 8), (5, 6, 8))
    assert results[3][:2] == ((5, 6, 8), (8,))
    assert [queue for queue, _ in results[4]] == [8]


def test_the_listener_hears_of_a_topic_without_queues_in_5_5_0(stage: Stage) -> None:
    results = done(stage, ROUND, row("route", "T", 0), row("refresh", 0), ROUND, PULL)
    assert results[3][0] == (5, 6, 8)
    assert results[3][1] == ((8,) if stage.adapter.hello().version == "5.5.0" else (5, 6, 8))


def test_queues_that_come_back_are_pulled_again_except_in_5_5_0(stage: Stage) -> None:
    routes = (row("route", "T", 0), row("refresh", 0), ROUND, row("route", "T", 5), row("refresh", 0), ROUND)
    results = done(stage, ROUND, *routes, PULL, row("list_members", (0, 2)), ROUND, PULL, row("poll", 0, 8))
    assert results[6][0] == (5, 6, 8)
    assert results[6][1] == ((8,) if stage.adapter.hello().version == "5.5.0" else (5, 6, 8))


def test_messages_are_pulled_polled_committed_and_sent(stage: Stage) -> None:
    results = done(
        stage, ROUND, row("update", 0, 5, 6), PULL, PULL, row("poll", 0, 8), row("commit", 0), row("persist", 0)
    )
    assert (5, 6) in results[4]
    assert (5, 8) in results[5] + results[6]


def test_messages_of_a_given_up_topic_are_still_polled(stage: Stage) -> None:
    results = done(stage, ROUND, row("update", 0, 5, 6), PULL, GIVE_UP, row("poll", 0, 1), ROUND, row("poll", 0, 8))
    assert results[4] == ((5, 6),)
    assert all(queue == 8 for queue, _ in results[6])


def test_a_message_that_was_pulled_twice_undoes_what_was_consumed(stage: Stage) -> None:
    again = (GIVE_UP, TAKE_BACK, row("list_members", (0, 2)), ROUND, PULL)
    polls = [row("poll", 0, 1) for _ in range(8)]
    commits = [row("commit", 0), row("persist", 0)]
    results = done(stage, ROUND, row("update", 0, 5, 6), PULL, *again, *polls[:1], *commits, *polls, *commits)
    assert results[8] == ((5, 6),)


def test_a_process_queue_of_its_own_outlives_the_topic(stage: Stage) -> None:
    steps = (row("commit_elsewhere", 5, 1), UNSTARTED, row("update", 0, 6, 1), PULL, GIVE_UP, ROUND, TAKE_BACK, ROUND)
    done(stage, *steps, row("poll", 0, 2), row("commit", 0), row("persist", 0))


def test_queues_do_not_grow_old(stage: Stage) -> None:
    results = done(stage, ROUND, row("tick", 130_000), ROUND)
    assert results[2][0] == results[0][0]


def test_stateful_runs_agree(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 25, 60) == [CONFORMS] * 25


@pytest.mark.parametrize(("release", "other"), [("5.5.0", "4.9.8"), ("4.6.0", "4.6.1"), ("5.0.0", "5.5.0")])
def test_those_of_another_release_do_not(release: str, other: str) -> None:
    with contextmanager(java_stage)(release) as stage:
        assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=other), 25, 60)


def test_releases_without_lite_pull_and_sockets_do_not_play_it() -> None:
    from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient

    assert "no lite pull consumer" in JavaClient("4.5.2").hello().refuses(SUITE)
    assert "by hand" in JavaClient("5.5.0", via="tcp").hello().refuses(SUITE)
