"""The real rebalance service on the clock of a case: its class file, its times, and that it can differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.rebalance_service import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
#: Releases that have the same rules, and one that has others.
OTHERS = {"4.9.8": "5.5.0", "5.1.4": "5.5.0", "5.2.0": "5.1.4", "5.5.0": "5.1.4"}
BOTH = ("pull", "push")


@pytest.fixture(params=OTHERS)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer."""
    return values(stage, SUITE, *rows)


def looks(stage: Stage) -> bool:
    """Does the service look at its last round?"""
    return str(stage.profile.client) in ("5.2.0", "5.5.0")


def test_the_times_are_those_of_the_release(stage: Stage) -> None:
    assert done(stage, row("elapse", 41_000)) == [((20_000, BOTH), (40_000, BOTH))]


def test_the_times_of_started_consumers_stay_short(stage: Stage) -> None:
    from rocketmq_conformance.conformance.targets.java_client.release import java_release

    done(stage, row("elapse", 300))
    service = java_release(str(stage.adapter.hello().client)).load("client.impl.consumer.RebalanceService")
    field = service.class_.getDeclaredField("waitInterval")
    field.setAccessible(True)
    assert int(field.get(None)) == 500


@pytest.mark.parametrize(("before", "at_once"), [(999, False), (1_000, True)])
def test_a_second_is_exact(stage: Stage, before: int, at_once: bool) -> None:
    results = done(stage, row("elapse", before), row("notify"), row("elapse", 1_000))
    if looks(stage) and not at_once:
        assert results[1:] == [(), ((1_000 - before, BOTH),)]
    else:
        assert results[1:] == [BOTH, ()]


def test_consumers_that_are_paused_or_forbidden_are_seen_to_be_left_out(stage: Stage) -> None:
    results = done(stage, row("suspend"), row("enable", False), row("notify"), row("elapse", 1_000), row("resume"))
    newest = str(stage.profile.client) == "5.5.0"
    rounds = [
        member
        for step in results[2:4]
        for member in ([step] if step and step[0] == "pull" else [who for _, who in step])
    ]
    assert rounds == ([] if newest else [("pull",)])
    assert results[4] == ("push",)


def test_a_refusing_strategy_makes_rounds_soon(stage: Stage) -> None:
    results = done(stage, row("refuse", "pull", True), row("elapse", 22_000))
    assert [when for when, _ in results[1]] == ([20_000, 21_000, 22_000] if looks(stage) else [20_000])


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 15, 40) == [CONFORMS] * 15
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=OTHERS[str(stage.profile.client)]), 15, 40)
