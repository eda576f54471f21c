"""The negative control: a planted wrong answer, which a run must notice before anything may conform."""

from __future__ import annotations

from functools import partial
from itertools import takewhile

from rocketmq_conformance.conformance.engine.answers import played_with_answers
from rocketmq_conformance.conformance.engine.judge import Judge, wrong
from rocketmq_conformance.conformance.engine.real_clock import Recorded
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Err, Undefined, outcome_of, result_of
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.indeterminate import UNKNOWN
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.oracle import QUIRK
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row

#: An answer that no rule ever gives.
NEVER_GIVEN = Err("PLANTED")


def control(stage: Stage, judge: Judge, rows: list[Row]) -> bool | None:
    """Play a case that conformed once more, and plant a wrong answer among its answers: is it noticed, at that step?

    None when no step of the case can carry one. AdapterError and CannotRunError as of any case.
    """
    judged, outcomes = played_with_answers(stage, judge, 0, rows)
    for _ in range(judge.suite.confirmations if stage.times else 0):
        if judged.verdict != DIVERGES:
            break
        judged, outcomes = played_with_answers(stage, judge, 0, rows)
    if judged.verdict == DIVERGES:
        return False  # an implementation that answers differently the second time is no basis for a control
    steps = list(takewhile(partial(_is_judged, judge), judged.steps))
    at = next((at for at in reversed(range(len(steps))) if _plantable(judge, steps[at])), None)
    if at is None:
        return None
    # a plausible wrong answer could be right in another possible state: one that no rule gives cannot
    uncertain = judge.observes or any(step.why is UNKNOWN for step in steps[:at])
    planted = NEVER_GIVEN if uncertain else outcome_of(wrong(result_of(outcomes[at])))
    answers = iter([*outcomes[:at], planted])
    times = Recorded(judged.spans) if judged.spans else None
    judged = judge.judge(judged.rows[: at + 1], lambda row: next(answers), count=False, times=times)
    return judged.verdict == DIVERGES and len(judged.steps) == at + 1


def carries(judge: Judge, rows: list[Row]) -> bool:
    """Can a case that conformed carry a planted answer: before an accident of Java that is not judged?"""
    if judge.quirks or judge.observes:
        return True
    judged = takewhile(partial(_is_judged, judge), judge.expected(rows))
    return any(_plantable(judge, step) for step in judged)


def _plantable(judge: Judge, step: Step) -> bool:
    """Does the implementation play this step, and do the rules decide its answer?"""
    played = judge.suite.operations[step.row[0]].spec.side is not Side.WORLD
    return played and not any(isinstance(one.expected, Undefined) for one in (step, *step.others))


def _is_judged(judge: Judge, step: Step) -> bool:
    """Is it no accident of Java that is not judged? From one on the implementation may be where Java is, or not."""
    return judge.quirks or not (step.why.quirk or QUIRK in step.left)
