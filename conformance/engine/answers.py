"""A case that is played with its answers kept, so that it can be judged again with other ones."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rocketmq_conformance.conformance.adapter import TakesTurns
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites.declare.judged_step import by_operations, drive
from rocketmq_conformance.suites.declare.suite import Row


def played_with_answers(stage: Stage, judge: Judge, number: int, rows: list[Row]) -> tuple[Judged, list[Ok | Err]]:
    """A case, and its answers without those that are unsupported; it counts for nothing.

    AdapterError and CannotRunError when it cannot be played. Where suites take turns it has a lane, and may be in any
    thread.
    """
    suite, adapter = judge.suite, stage.adapter

    def kept() -> Generator[Row, Outcome, tuple[Judged, list[Ok | Err]]]:
        asking, answers = judge.asking(rows, times=stage.times), list[Ok | Err]()
        outcome: Any = None
        while True:
            try:
                row = asking.send(outcome)
            except StopIteration as end:
                return end.value, answers
            outcome = yield row
            if not isinstance(outcome, Unsupported):
                answers.append(outcome)

    if isinstance(adapter, TakesTurns):
        (ended,) = adapter.stream(suite, [lambda: by_operations(suite, kept())])
        return ended.result()
    stage.begin(suite, number)
    played = drive(kept(), lambda row: stage.do(suite, row))
    stage.end()
    return played
