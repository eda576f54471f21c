"""A case that is played with its answers kept, so that it can be judged again with other ones."""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.conformance.adapter import TakesTurns
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row


def played_with_answers(stage: Stage, judge: Judge, number: int, rows: list[Row]) -> tuple[Judged, list[Ok | Err]]:
    """A case, and its answers without those that are unsupported; it counts for nothing.

    AdapterError and CannotRunError when it cannot be played. Where suites take turns it has a lane, and may be in any
    thread.
    """
    answers: list[Ok | Err] = []

    def kept(outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Unsupported):
            answers.append(outcome)
        return outcome

    suite, adapter = judge.suite, stage.adapter
    if isinstance(adapter, TakesTurns):

        def play(apply: Callable[[Operation], Outcome]) -> Judged:
            return judge.judge(rows, lambda row: kept(apply(suite.for_implementation(row))), count=False)

        (ended,) = adapter.stream(suite, [play])
        return ended.result(), answers

    def do(row: Row) -> Outcome:
        return kept(stage.do(suite, row))

    stage.begin(judge.suite, number)
    judged = judge.judge(rows, do, count=False, times=stage.times)
    stage.end()
    return judged, answers
