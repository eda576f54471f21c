"""Where two traces of a case part."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.conformance.campaign.analysis.rebuild import Trace
from rocketmq_conformance.conformance.engine.first_difference import first_difference
from rocketmq_conformance.models.outcome import outcome_class

#: Class of what a side did that agreed with its rules, where results depend on the time of the run.
AGREED = "as expected"


class TraceDifference(NamedTuple):
    """The first step that differs: its number (1 is the first step), operation, A's kind of state, what either did."""

    step: int
    operation: str
    kind: str
    class_a: str
    class_b: str


def trace_difference(a: Trace, b: Trace) -> TraceDifference | str:
    """Where two traces of a case part, or why that is not known."""
    for letter, trace in (("A", a), ("B", b)):
        if not trace.steps:
            return f"{trace.missing} ({letter})"
    at, why = first_difference(a.steps, b.steps)
    if at is None:
        return why
    one, other = a.steps[at], b.steps[at]
    name = a.suite.operations[one.row[0]].spec.name
    return TraceDifference(at + 1, name, one.why.kind, outcome_class(one.observed), outcome_class(other.observed))
