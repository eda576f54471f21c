"""The real rebalance, stepped by hand: what its clock means, how many members it takes, and that it can differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import expiries, java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.client.process_queue import PULL_EXPIRY
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.rebalance import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("4.9.8", "5.5.0")
Adapter = Any


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def rebalance(member: int) -> Row:
    return row("rebalance", member, "answer", "answer", "answer")


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer."""
    return values(stage, SUITE, *rows)


def test_members_divide_the_queues(stage: Stage) -> None:
    results = done(stage, *(rebalance(member) for member in range(3)))
    assert [owned for owned, *_ in results] == [(5, 6, 8), (0, 1, 2, 3), (7,)]
    assert results[0][1] == ((5, 12), (6, 12), (8, 12))


def test_a_hand_over_commits_and_the_next_owner_goes_on(stage: Stage) -> None:
    results = done(
        stage,
        rebalance(0),
        row("consume", 0, 5, 6),
        row("list_members", (1, 2)),
        rebalance(0),
        rebalance(1),
    )
    assert results[3][0] == ()
    assert results[3][3] == ((5, 6),)
    assert (5, 6) in results[4][1]


@pytest.mark.parametrize(("ticks", "expires"), [((60_000, 60_000), False), ((130_000,), True)])
def test_queues_grow_old_by_the_clock_of_the_case(stage: Stage, ticks: tuple[int, ...], expires: bool) -> None:
    results = done(stage, rebalance(2), *(row("tick", millis) for millis in ticks), rebalance(2))
    assert bool(results[-1][1]) is expires
    assert results[-1][0] == (7,)


def test_exactly_120_s_are_not_too_long_for_the_classes(stage: Stage) -> None:
    adapter: Adapter = stage.adapter
    queue = adapter.release.load("client.impl.consumer.ProcessQueue")()
    found = expiries(queue, "setLastPullTimestamp", "isPullExpired", PULL_EXPIRY, PULL_EXPIRY + 1)
    assert found == {PULL_EXPIRY: False, PULL_EXPIRY + 1: True}


def test_twins_leave_queues_without_owner(stage: Stage) -> None:
    results = done(
        stage,
        row("join", 0, True, "CLUSTERING", "CONSUME_FROM_LAST_OFFSET", "AVG"),
        row("list_members", (1, 1, 2)),
        *(rebalance(member) for member in range(3)),
    )
    assert [owned for owned, *_ in results[2:]] == [(0, 1, 2, 3), (0, 1, 2, 3), (7,)]


def test_a_member_that_is_gone_does_nothing(stage: Stage) -> None:
    results = done(stage, rebalance(1), row("consume", 1, 1, 6), row("leave", 1), rebalance(1), row("pull", 1, 1))
    assert results[2:] == [((0, 0), (1, 6), (2, 0), (3, 0)), None, None]


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 15, 60) == [CONFORMS] * 15
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client="5.1.4"), 15, 60)
