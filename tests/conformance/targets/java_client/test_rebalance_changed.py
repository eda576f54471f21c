"""What the real consumers tell of changed queues, stepped by hand: that it is seen, and that it can differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.rebalance_changed import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("4.1.0-incubating", "4.9.8", "5.1.4", "5.5.0")
#: A release that tells of changes otherwise, by release.
OTHERS = {"4.1.0-incubating": "4.9.8", "4.9.8": "5.5.0", "5.1.4": "5.5.0", "5.5.0": "4.9.8"}


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def rebalance(beat: str = "answer", *, fails: bool = False, given_up: str = "") -> Row:
    return row("rebalance", 0, "answer", "answer", beat, fails, given_up)


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer."""
    return values(stage, SUITE, *rows)


def is_4(stage: Stage) -> bool:
    return str(stage.profile.client).startswith("4.")


def test_versions_heartbeats_and_the_listener_are_seen(stage: Stage) -> None:
    first, again = done(stage, rebalance(), rebalance())
    hears = str(stage.profile.client) == "5.5.0"
    assert first[3] == (
        ("T", True, ((0, 1, 5, 6, 7), (5, 6)) if hears else None),
        ("U", True, ((2, 8), (8,)) if hears else None),
    )
    assert again[3] == ()


def test_thresholds_are_divided(stage: Stage) -> None:
    results = done(stage, row("limit", 0, 100, 20), rebalance())[1]
    assert results[2] == (None if str(stage.profile.client).startswith("4.1.0") else (33, 6))


def test_the_listener_and_the_strategy_can_be_reached_into(stage: Stage) -> None:
    failed, _, gone = done(stage, rebalance(fails=True), row("tick", 130_000), rebalance(given_up="T"))
    assert failed[1] is (None if is_4(stage) else str(stage.profile.client) != "5.5.0")
    assert gone[0] == (8,)
    assert [topic for topic, _, _ in gone[3]] == ["U"]


def test_heartbeats_are_read_in_full_and_brief(stage: Stage) -> None:
    beat = row("beat", 0, "answer")
    results = done(stage, row("join", 0, "CLUSTERING", True), beat, beat, row("subscribe", 0, "T", "answer"))
    full = (False, ("%RETRY%G", "T", "U"))
    assert results[1] == full
    assert results[2] == results[3] == (full if is_4(stage) else (True, ()))


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 15, 60) == [CONFORMS] * 15
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=OTHERS[str(stage.adapter.hello().client)]), 15, 60)
