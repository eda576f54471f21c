"""A case that is played with its answers kept, so that it can be judged again with other ones."""

from __future__ import annotations

from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites.declare.suite import Row


def played_with_answers(stage: Stage, judge: Judge, number: int, rows: list[Row]) -> tuple[Judged, list[Ok | Err]]:
    """A case, and its answers without those that are unsupported; it counts for nothing.

    AdapterError and CannotRunError when it cannot be played.
    """
    answers: list[Ok | Err] = []

    def do(row: Row) -> Outcome:
        outcome = stage.do(judge.suite, row)
        if not isinstance(outcome, Unsupported):
            answers.append(outcome)
        return outcome

    stage.begin(judge.suite, number)
    judged = judge.judge(rows, do, count=False, times=stage.times)
    stage.end()
    return judged, answers
