"""The real clients' timers: that they are the release's own, that they are seen, and that they can differ."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.timers import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
#: 4.0.0 has a table of clients that cannot be replaced.
RELEASES = ("4.0.0-incubating", "5.5.0")


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def test_a_client_persists_beats_and_locks_by_its_own_timers(stage: Stage) -> None:
    steps = values(
        stage,
        SUITE,
        row("start", 0, "orderly", "CLUSTERING"),
        row("rebalance"),
        row("update", 0, 7),
        row("elapse", 10_000),
        row("shutdown", 0),
        row("elapse", 60_000),
    )
    locks = ((1_000, "lock", ("G",)),) * (1 if stage.profile.client.major == 4 else 2)
    assert steps[3] == (
        (10, "route", ("%RETRY%G", "T")),
        (1_000, "heartbeat", ("G",)),
        *locks,
        (10_000, "commit", ("G", 7, True)),
    )
    assert steps[4] == (("unlock", ("G", False)), ("commit", ("G", 7, True)), ("unregister", ("G",)))
    assert steps[5] == ()


def test_a_broadcasting_consumer_writes_its_file_by_the_timer(stage: Stage) -> None:
    steps = values(
        stage,
        SUITE,
        row("start", 0, "push", "BROADCASTING"),
        row("rebalance"),
        row("update", 0, 7),
        row("elapse", 10_000),
    )
    assert (10_000, "file", ("G", 7)) in steps[3]


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 8, 30) == [CONFORMS] * 8
    other = "5.5.0" if stage.profile.client.major == 4 else "4.8.0"
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=other), 20, 30)
