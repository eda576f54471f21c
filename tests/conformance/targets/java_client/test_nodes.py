"""Nodes that real clients ask: the classes' own choice, old and new, also where one master is gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.nodes import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
SLAVE, BOTH = (1,), (0, 1)


@pytest.fixture(params=("4.9.2", "5.5.0"))
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def test_a_slave_serves_offsets_and_members_but_no_bounds_and_locks(stage: Stage) -> None:
    steps = row("commit", SLAVE), row("members", BOTH), row("lock", BOTH), row("bound", "max", SLAVE), row("heartbeat")
    _, *answers = values(stage, SUITE, row("learn", SLAVE), *steps)
    assert answers == [(False, 1), (False, 1), (False, None), (True, None), (1,)]


def test_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 6, 30) == [CONFORMS] * 6
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client="4.9.8"), 20, 30)
