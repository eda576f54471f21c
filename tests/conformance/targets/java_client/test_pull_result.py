"""Single pulls of real consumers: that the request and the result are their own, and that they can differ."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.pull_result import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("4.1.0-incubating", "5.5.0")
FOUND = ("SUCCESS", 8, 2, 11, ((5, "A"), (6, "B")), 0)


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def test_requests_and_results_are_those_of_the_release(stage: Stage) -> None:
    pulled, pushed = values(
        stage,
        SUITE,
        row("pull", *FOUND, "waiting", True, 0, 5, 32, "A"),
        row("pull_push", *FOUND, 0, 5, 32, 7, "B", False),
    )
    late = (2_147_483_647, "broker-a") if stage.profile.client.major == 5 else (None, None)
    assert pulled[11:] == ("A", "0", "TAG", *late, "FOUND", 8, 2, 11, ((5, 2, 11),))
    assert (pushed[2], pushed[8:11], pushed[-1]) == (30_000, (3, 7, 15_000), ((6, 2, 11),))


def test_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 6, 30) == [CONFORMS] * 6
    other = "5.0.0-PREVIEW" if stage.profile.client.major == 5 else "4.0.0"
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=other), 6, 30)
