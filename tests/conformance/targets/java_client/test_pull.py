"""The real pull loop, stepped by hand: what the classes do that no other client need do, and that they can differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import java_stage, outcomes, rows_of, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Err, Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.pull import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("4.2.0", "4.9.8", "5.5.0")


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def done(stage: Stage, *rows: Row) -> list[Any]:
    """What the steps of one case answer."""
    return outcomes(stage, SUITE, *rows)


def test_an_empty_answer_for_a_lost_queue_moves_the_offset_of_its_next_owner(stage: Stage) -> None:
    results = done(
        stage, row("pull", 0, True), row("gain", 0, 1, True), row("nothing", 0, "PULL_NOT_FOUND", 12, 0), row("lose", 0)
    )
    assert results[2] == (0, "pull", 0, 12, (), 12, True)
    assert results[3] == (True, ((0, 12),))


def test_a_late_correction_takes_the_queue_from_its_next_owner(stage: Stage) -> None:
    results = done(
        stage,
        row("pull", 0, True),
        row("illegal", 0, 4, 2, 11, 0),
        row("gain", 0, 8, True),
        row("fire", 0),
        row("lose", 0),
    )
    assert results[3] == (0, "correct", False, -1, stage.adapter.hello().version == "5.5.0", ((0, 4), (0, 4)))
    assert results[4] == (False, ())


def test_a_large_message_and_a_refused_expression(stage: Stage) -> None:
    results = done(
        stage,
        row("subscribe", "T", "||"),
        row("pull", 0, True),
        row("found", 0, 15, ((14, "A"),), 0),
        row("pull", 2, True),
    )
    assert results[0] == Err("CLIENT")
    assert results[2][4] == (14,)
    assert results[3] == (0, "later", 50, True)


def test_the_delay_after_a_failure_cannot_be_set_on_the_consumer(stage: Stage) -> None:
    """The setting is copied when the consumer is made, and setting it later changes nothing."""
    stage.begin(SUITE, 0)
    adapter: Any = stage.adapter
    consumer = adapter._parts[SUITE.name][0].consumer
    if adapter.version == "4.2.0":
        assert not hasattr(consumer, "setPullTimeDelayMillsWhenException")
        delay = 3_000
    else:
        consumer.setPullTimeDelayMillsWhenException(200)
        delay = 1_000
    assert stage.do(SUITE, row("pull", 0, False)) == Ok((0, "later", delay, True))


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 25, 60) == [CONFORMS] * 25
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client="5.0.0"), 25, 60)
