"""The real rebalance by brokers, stepped by hand: its two clocks, its loop of pops, and that it can differ."""

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
from rocketmq_conformance.suites.rebalance_broker import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("5.1.4", "5.5.0")
Adapter = Any


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def rebalance(fault: str = "answer") -> Row:
    return row("rebalance", 0, "answer", fault, "answer", "answer")


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer."""
    return values(stage, SUITE, *rows)


def test_what_is_assigned_is_pulled_and_popped(stage: Stage) -> None:
    results = done(stage, row("assign", "T", (0, 2), (-1, 1), ""), rebalance())[1]
    assert results[:2] == ((0, 2, 3, 5, 8), (("T", -1), ("T", 1)))
    assert results[3] == (("T", -1, 1), ("T", 1, 1))


def test_pops_reach_the_network_while_the_queue_is_owned(stage: Stage) -> None:
    popped = row("pop", 0, "T", -1)
    results = done(
        stage,
        popped,
        row("assign", "T", (), (-1,), ""),
        rebalance(),
        popped,
        row("unsubscribe", 0, "T"),
        popped,
        rebalance(),
        popped,
    )
    assert [results[at] for at in (0, 3, 5, 7)] == [False, True, False, False]


@pytest.mark.parametrize(("ticks", "expires"), [((60_000, 60_000), False), ((130_000,), True)])
def test_pops_grow_old_by_the_clock_of_the_case(stage: Stage, ticks: tuple[int, ...], expires: bool) -> None:
    assign = row("assign", "T", (), (0,), "")
    results = done(stage, assign, rebalance(), *(row("tick", millis) for millis in ticks), rebalance())
    never_popped = str(stage.profile.client) == "5.1.4"  # counts as popped in 1970
    assert bool(results[-1][3]) is (expires or never_popped)
    pop = row("pop", 0, "T", 0)
    results = done(stage, assign, rebalance(), pop, *(row("tick", millis) for millis in ticks), rebalance())
    assert bool(results[-1][3]) is expires


def test_exactly_120_s_are_not_too_long_for_pops(stage: Stage) -> None:
    adapter: Adapter = stage.adapter
    queue = adapter.release.load("client.impl.consumer.PopProcessQueue")()
    found = expiries(queue, "setLastPopTimestamp", "isPullExpired", PULL_EXPIRY, PULL_EXPIRY + 1)
    assert found == {PULL_EXPIRY: False, PULL_EXPIRY + 1: True}


def test_only_older_releases_fall_back_for_good(stage: Stage) -> None:
    results = done(stage, rebalance("silent"), rebalance())
    asked = [dict(pair for pair in result[5] if isinstance(pair[0], str)).get("T", 0) for result in results]
    assert asked == ([3, 0] if str(stage.profile.client) == "5.1.4" else [1, 1])


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 15, 60) == [CONFORMS] * 15
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client="5.0.0-PREVIEW"), 15, 60)
