"""Real consumers that set nothing: what they have is their release's, and so is the port that they ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.defaults import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
#: Releases on both sides of most changes, and one that has others.
OTHERS = {"4.0.0-incubating": "4.9.8", "4.6.0": "4.0.0", "5.5.0": "4.9.8"}


@pytest.fixture(params=OTHERS)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def test_settings_and_ports_are_those_of_the_release(stage: Stage) -> None:
    old = str(stage.profile.client) == "4.0.0"
    assert values(
        stage,
        SUITE,
        row("unset_push", "pollNameServerInterval"),
        row("unset_push", "allocateMessageQueueStrategy"),
        row("unset_push", "pullThresholdSizeForQueue"),
        row("count_threads", "orderly"),
        row("ask_port", "QUERY_CONSUMER_OFFSET", "unset", 10911),
        row("ask_port", "UNLOCK_BATCH_MQ", "on", 10911),
        row("ask_port", "UNLOCK_BATCH_MQ, one way", "on", 10911),
        row("wait_for", "QUERY_CONSUMER_OFFSET"),
        row("wait_for", "LOCK_BATCH_MQ"),
    ) == [
        30_000,
        "AVG",
        None if old else 100,
        (20, 64 if old else 20),
        10909 if old else 10911,
        10909,
        10911,
        5_000,
        1_000,
    ]


def test_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 6, 40) == [CONFORMS] * 6
    other = next(other for release, other in OTHERS.items() if release.startswith(str(stage.profile.client)))
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=other), 6, 40)
