"""Suites that ask programs for a command: one that does not say that it takes it is not judged."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from places import ROOT

from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.outcome import Unsupported
from rocketmq_conformance.suites import whole_commit, whole_pause, whole_subscriptions

BRIEF = Timing(connect=30.0, end=0.1, look=0.1, quiet=0.01, round=0.1, write=0.1, routes=0.1, retry=0.05)


@pytest.mark.parametrize(
    ("operations", "command"), [(whole_commit, "commit"), (whole_pause, "pause"), (whole_subscriptions, "subscribe")]
)
def test_a_program_that_does_not_take_the_command_is_not_judged(operations: Any, command: str) -> None:
    program = ClientProgram(f"{sys.executable} {ROOT / 'tests' / 'helpers' / 'program.py'} sits", timing=BRIEF)
    group = program.group(operations.SUITE)
    try:
        outcome = group.do(operations.Join(0))
    finally:
        group.close()
    assert isinstance(outcome, Unsupported)
    assert f'{{"takes": ["{command}"]}}' in outcome.reason
