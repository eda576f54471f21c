"""One step of a case: it is done and judged, by the time that it took where that is measured."""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites.declare.measured_time import Span, Times
from rocketmq_conformance.suites.declare.oracle import Judgement, Oracle
from rocketmq_conformance.suites.declare.suite import Row


def judged_step(
    oracle: Oracle, row: Row, do: Callable[[Row], Outcome], times: Times | None
) -> tuple[Judgement, Span | None]:
    """Do a step that the oracle allows, and judge it; with its span where its answer depends on measured time."""
    ready = oracle.ready(row) if times else None
    if times and ready:
        times.expect(ready)
    outcome = do(row)
    span = times.span() if times and ready else None
    return oracle.judge(row, outcome, span), span
