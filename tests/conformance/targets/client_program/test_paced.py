"""A right program with fast timers of its own conforms, whatever falls between two of its timers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from places import ROOT

from rocketmq_conformance import run
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.reports.event import CONFORMS, SuiteEnded
from rocketmq_conformance.suites import whole_push

pytestmark = pytest.mark.clock

PACE = 20
COMMAND = f"{sys.executable} {ROOT / 'tests' / 'helpers' / 'paced_consumer.py'} {PACE}"


@pytest.mark.parametrize(
    "suite",
    [
        *("whole-push", "whole-pause", "whole-subscriptions", "whole-lite", "whole-commit", "whole-orderly"),
        "whole-broadcast",
    ],
)
def test_a_right_consumer_conforms(suite: str, tmp_path: Path) -> None:
    address = f"client?pace={PACE}:{COMMAND}"
    ended = [
        event
        for event in run(address, suites=[suite], cases=12, seed=2, tiers=["seeded"], out=tmp_path)
        if isinstance(event, SuiteEnded)
    ]
    assert [event.verdict for event in ended] == [CONFORMS]


@pytest.mark.parametrize("request_", ["PULL_MESSAGE", "QUERY_CONSUMER_OFFSET", "GET_CONSUMER_LIST_BY_GROUP"])
def test_where_a_member_was_sent_while_commits_failed_is_not_stored_once_something_else_fails(request_: str) -> None:
    program = ClientProgram(COMMAND, PACE)
    group = program.group(whole_push.SUITE)
    stored = []
    try:
        for operation in (
            whole_push.Prepare(1, "empty", 7, "CONSUME_FROM_FIRST_OFFSET"),
            whole_push.Fail("UPDATE_CONSUMER_OFFSET", "SYSTEM_ERROR"),
            whole_push.Join(0),
            whole_push.Fail(request_, "SYSTEM_ERROR"),
            whole_push.Look(),
        ):
            outcome = group.do(operation)
            assert isinstance(outcome, Ok)
            stored.append(outcome.value[2] if isinstance(outcome.value, tuple) else None)
    finally:
        group.close()
        program.close()
    assert stored == [None, *[(7,)] * 4]
