"""Comparing two implementations: the first step at which the same plan parts them."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.models.outcome import UNDEFINED, agrees
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.oracle import Step
from rocketmq_conformance.suites.declare.suite import Row


def compared(ours: Player, one: Played, theirs: Player, other: Played) -> tuple[int, Step] | None:
    """The first step (1 is the first) at which two cases of the same plan part, or None when none was judged on both.

    The step is ours, with what they did as expected. Results that the rules leave open do not count, nor do suites
    whose results depend on the time.
    """
    if ours.judge.observes or not {one.verdict, other.verdict} <= {CONFORMS, DIVERGES}:
        return None
    return _parting(_steps(ours, one), _steps(theirs, other))


def differing(ours: Player, theirs: Player, rows: Sequence[Row], number: int) -> Judged:
    """Play a plan on both; it diverges where they part."""
    first = ours.execute(rows, number, count=False)
    second = theirs.execute(rows, number, count=False)
    found = _parting(first.steps, second.steps)
    if found is None:
        return Judged(CONFORMS, first.steps)
    at, step = found
    return Judged(DIVERGES, [*first.steps[: at - 1], step])


def agreed(judge: Judge, rows: Sequence[Row]) -> list[Step]:
    """The steps of a case whose results were what the model expects; what it leaves open stays open."""
    return [step._replace(observed=step.expected) for step in judge.expected(rows)]


def _steps(player: Player, played: Played) -> list[Step]:
    return played.judged.steps if played.judged else agreed(player.judge, played.rows)


def _parting(ours: Sequence[Step], theirs: Sequence[Step]) -> tuple[int, Step] | None:
    for at, (one, other) in enumerate(zip(ours, theirs, strict=False), start=1):
        if one.row != other.row:  # one of them does not offer the operation
            return None
        if UNDEFINED in (one.expected, other.expected):
            continue
        if not agrees(other.observed, one.observed):
            return at, one._replace(expected=other.observed)
    return None
