"""The first step at which two implementations did different things with the same plan.

Steps whose result the rules leave open do not count. What is compared: two sequences of steps, or one plan that
is played on both now.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.models.outcome import UNDEFINED, agrees
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row

#: Why two sequences of steps have no first difference.
LEFT_OPEN = "the two differ only in what the rules leave open"
CUT_SHORT = "the same as far as both were played"
LEFT_OUT = "the same up to a step that one of the two does not offer"


def first_difference(ours: Sequence[Step], theirs: Sequence[Step]) -> tuple[int | None, str]:
    """The position (0 is the first step) at which two sides of one plan differ, or None and why there is none."""
    left_open = False
    for at, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if one.row != other.row:  # one of them does not offer the operation
            return None, LEFT_OUT
        if UNDEFINED in (one.expected, other.expected):
            left_open = True
        elif not agrees(other.observed, one.observed):
            return at, ""
    return None, LEFT_OPEN if left_open else CUT_SHORT


def play_and_compare(ours: Player, theirs: Player, rows: Sequence[Row], number: int) -> Judged:
    """Play a plan on both; it diverges at their first difference."""
    first = ours.execute(rows, number)
    second = theirs.execute(rows, number)
    found = differing_step(first.steps, second.steps)
    if found is None:
        return Judged(CONFORMS, first.steps)
    at, step = found
    return Judged(DIVERGES, [*first.steps[: at - 1], step])


def conforming_steps(judge: Judge, rows: Sequence[Row]) -> list[Step]:
    """The steps of a case whose results were what the model expects; what it leaves open stays open."""
    return [step._replace(observed=step.expected) for step in judge.expected(rows)]


def steps_of(player: Player, played: Played) -> list[Step]:
    """The steps of a case that was decided."""
    return played.judged.steps if played.judged else conforming_steps(player.judge, played.rows)


def differing_step(ours: Sequence[Step], theirs: Sequence[Step]) -> tuple[int, Step] | None:
    """The first step (1 is the first) at which two sides of a plan differ, or None; the step is ours, with what they
    did as expected."""
    at, _ = first_difference(ours, theirs)
    return None if at is None else (at + 1, ours[at]._replace(expected=theirs[at].observed))
