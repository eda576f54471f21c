"""A case that is played with its answers kept, so that it can be judged again with other ones."""

from __future__ import annotations

from collections.abc import Generator

from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites.declare.judged_step import by_operations, drive, relay
from rocketmq_conformance.suites.declare.suite import Row


def played_with_answers(stage: Stage, judge: Judge, number: int, rows: list[Row]) -> tuple[Judged, list[Ok | Err]]:
    """A case, and its answers without those that are unsupported; it counts for nothing.

    AdapterError and CannotRunError when it cannot be played. Where suites take turns it has a lane, and may be in any
    thread.
    """
    suite = judge.suite

    def kept() -> Generator[Row, Outcome, tuple[Judged, list[Ok | Err]]]:
        answers: list[Ok | Err] = []

        def ask(row: Row) -> Generator[Row, Outcome, Outcome]:
            outcome = yield row
            if not isinstance(outcome, Unsupported):
                answers.append(outcome)
            return outcome

        return (yield from relay(judge.asking(rows, times=stage.times), ask)), answers

    if stage.turns:
        (ended,) = stage.turns.stream(suite, [lambda: by_operations(suite, kept())])
        return ended.result()
    stage.begin(suite, number)
    played = drive(kept(), lambda row: stage.do(suite, row))
    stage.end()
    return played
