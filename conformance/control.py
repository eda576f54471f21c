"""The control: a planted wrong answer, which a run must notice before anything may conform."""

from __future__ import annotations

from rocketmq_conformance.conformance.judge import Judge, wrong
from rocketmq_conformance.conformance.stage import Stage
from rocketmq_conformance.models.outcome import Outcome, Undefined, Unsupported, outcome_of, result_of
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.operation import Side
from rocketmq_conformance.suites.suite import Row


def control(stage: Stage, judge: Judge, rows: list[Row]) -> bool | None:
    """Play a case that conformed once more with one wrong answer planted: was it noticed, at that step?

    None when no step of the case can carry one. AdapterError and CannotRunError as of any case.
    """
    at = _plantable(judge, rows)
    if at is None:
        return None
    left = at

    def do(row: Row) -> Outcome:
        nonlocal left
        outcome = stage.do(judge.suite, row)
        left -= 1
        if left >= 0 or isinstance(outcome, Unsupported):
            return outcome
        return outcome_of(wrong(result_of(outcome)))

    stage.begin(judge.suite, 0)
    judged = judge.judge(rows[: at + 1], do, count=False)
    return judged.verdict == DIVERGES and len(judged.steps) == at + 1


def _plantable(judge: Judge, rows: list[Row]) -> int | None:
    """The last step that the implementation plays and whose answer the rules decide."""
    played = [judge.suite.operations[position].form.side is not Side.WORLD for position, _ in rows]
    decided = [True] * len(rows)
    if not judge.observes:
        decided = [not isinstance(step.expected, Undefined) for step in judge.expected(rows)]
    return next((at for at in reversed(range(len(rows))) if played[at] and decided[at]), None)
