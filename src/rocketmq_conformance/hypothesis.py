"""Hypothesis for your own tests: machines for suites, strategies for plans and values (docs/tutorial/hypothesis.md)."""

from rocketmq_conformance.conformance.stateful import ConformanceMachine, machine
from rocketmq_conformance.conformance.strategies import (
    DrawnPlan,
    client_ids,
    offsets,
    operations,
    plans,
    queues,
    values,
)

__all__ = [
    "ConformanceMachine",
    "DrawnPlan",
    "client_ids",
    "machine",
    "offsets",
    "operations",
    "plans",
    "queues",
    "values",
]
