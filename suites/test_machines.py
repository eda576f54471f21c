"""Tests of an implementation by the Hypothesis machine of every suite, for users' own runs of pytest.

``pytest --pyargs rocketmq_conformance.suites --implementation ADDRESS`` collects them.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.hypothesis_machine import machine, play_plan


def test_conforms_along(conformance_plan: Any, implementation: Any) -> None:
    """The implementation conforms to the model at each step of a plan, of the corpus or of ``--plan``."""
    suite, stage = SUITES[conformance_plan.suite], implementation.stage
    refused = implementation.refuses(suite)
    if refused:
        pytest.skip(refused)
    lacking = suite.lacking(stage.profile, conformance_plan.rows)
    if lacking:
        pytest.skip(f"{stage.profile} has no {lacking}")
    made = machine(suite, stage, implementation.doubted, quirks=implementation.hello.quirks)
    play_plan(made, suite, conformance_plan.name, conformance_plan.rows)
    _skip(implementation)


@pytest.mark.conformance_search
@pytest.mark.parametrize("name", [name for name, suite in SUITES.items() if suite.ordinary])
def test_conforms(name: str, implementation: Any) -> None:
    """The implementation conforms to the model at each step that Hypothesis draws."""
    suite = SUITES[name]
    refused = implementation.refuses(suite)
    if refused:
        pytest.skip(refused)
    run_state_machine_as_test(
        machine(suite, implementation.stage, implementation.doubted, quirks=implementation.hello.quirks),
        settings=settings(
            max_examples=implementation.examples,
            stateful_step_count=suite.steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    _skip(implementation)


def _skip(implementation: Any) -> None:
    """Skip the test, with the reasons, when a step that differs decided nothing: it is neither a failure nor a pass."""
    reasons = implementation.doubted.take()
    if reasons:
        pytest.skip("; ".join(reasons))
