"""The real plain pull consumers, stepped by hand: that they are seen, and that they can differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.rebalance_plain import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("4.0.0-incubating", "5.5.0")


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer."""
    return values(stage, SUITE, *rows)


def test_the_listener_and_the_commits_are_seen(stage: Stage) -> None:
    rebalance = row("rebalance", 0, "answer", "answer", True)
    results = done(stage, rebalance, row("update", 0, 5, 12), row("list_members", (1, 2)), rebalance)
    assert results[0][2] == (("T", (0, 1, 5, 6, 7), (5, 6)), ("U", (2, 8), (8,)))
    assert results[3][2:] == ((("T", (0, 1, 5, 6, 7), ()), ("U", (2, 8), ())), ((5, 12),))


def test_nothing_is_asked_for_and_nothing_expires(stage: Stage) -> None:
    rebalance = row("rebalance", 0, "answer", "SYSTEM_BUSY", False)
    results = done(stage, rebalance, row("tick", 130_000), rebalance)
    assert results[0][0] == results[2][0] == (5, 6, 8)
    assert results[2][2] == ()


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 15, 60) == [CONFORMS] * 15
    other = "5.5.0" if stage.profile.client.major == 4 else "4.9.8"
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=other), 15, 60)
