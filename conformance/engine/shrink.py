"""Shrinking: the shortest and simplest plan that still shows a divergence, in few executions.

Executions are expensive (a real broker is slow), the model is free. So the model goes first: steps whose removal
changes neither the expected answer of the last step nor its reason are probably not needed. Only then
are plans executed: chunks of steps are left out, then arguments are replaced by simpler ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rocketmq_conformance.conformance.engine.judge import Judge, Judged, fingerprint_of
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.suite import Row

#: Executions after which shrinking ends with what it has.
BUDGET = 150

Execute = Callable[[Sequence[Row]], Judged]


@dataclass
class Shrunk:
    """The shortest failing case found, and what it cost."""

    judged: Judged
    executions: int


class _Shrinker:
    def __init__(self, judge: Judge, execute: Execute, failing: Judged, budget: int, more: Callable[[], bool]) -> None:
        self.judge = judge
        self.execute = execute
        self.best = failing
        self.budget = budget
        self.more = more
        self.executions = 0
        self.fingerprint = self._fingerprint(failing)
        self.tried: set[str] = {repr(failing.rows)}

    def fails(self, rows: Sequence[Row]) -> bool:
        """Does the plan still show the same divergence? Adopts it if so."""
        key = repr(rows)
        if not rows or key in self.tried or self.executions >= self.budget or not self.more():
            return False
        self.tried.add(key)
        self.executions += 1
        judged = self.execute(rows)
        if judged.verdict != DIVERGES or self._fingerprint(judged) != self.fingerprint:
            return False
        self.best = judged
        return True

    def _fingerprint(self, judged: Judged) -> str:
        """What must stay the same: operation, rule and kinds of outcome. The kind of state may become a simpler one."""
        return fingerprint_of(self.judge.suite, judged.steps[-1])

    def by_model(self) -> None:
        """Leave out every step without which the model expects the last answer for the same reason."""
        if self.judge.observes:
            return
        rows = self.best.rows
        wanted = self._expectation(rows)
        size = max(1, len(rows) // 2)
        while size:
            at = 0
            while at < len(rows) - 1:
                fewer = rows[:at] + rows[min(at + size, len(rows) - 1) :]
                if self._expectation(fewer) == wanted:
                    rows = fewer
                else:
                    at += size
            size //= 2
        self.fails(rows)

    def _expectation(self, rows: Sequence[Row]) -> tuple[str, int] | None:
        """What the model expects of the last step, and why; None when it does not allow that step."""
        steps = self.judge.expected(rows)
        if not steps or steps[-1].row != rows[-1]:
            return None
        return repr(steps[-1].expected), id(steps[-1].why)

    def by_steps(self, size: int) -> None:
        """Leave out chunks of so many steps, then smaller ones; the last step stays."""
        while size:
            at = len(self.best.steps) - 1 - size
            while at > -size:
                rows = self.best.rows
                start = max(at, 0)
                self.fails(rows[:start] + rows[start + size :])
                at -= size
            size //= 2

    def by_arguments(self) -> bool:
        """Replace arguments by simpler ones, the simplest first, the last step first; did anything change?"""
        before = self.best
        for at in range(len(self.best.steps) - 1, -1, -1):
            rows = self.best.rows
            if at >= len(rows):
                continue
            position, args = rows[at]
            for simpler in self.judge.suite.operations[position].spec.simpler(args):
                if self.fails([*rows[:at], (position, simpler), *rows[at + 1 :]]):
                    break
        return self.best is not before


def shrink(
    judge: Judge, execute: Execute, failing: Judged, budget: int = BUDGET, more: Callable[[], bool] = lambda: True
) -> Shrunk:
    """Shrink a diverging case; ``execute`` plays a plan on the implementation and judges it.

    It ends with what it has after ``budget`` executions, and once there is to be no ``more``.
    """
    shrinker = _Shrinker(judge, execute, failing, budget, more)
    if len(failing.steps) > 1:
        shrinker.fails(failing.rows[-1:])
    if len(shrinker.best.steps) > 1:
        shrinker.by_model()
        shrinker.by_steps(max(1, len(shrinker.best.steps) // 2))
    while shrinker.by_arguments() and shrinker.executions < budget:
        shrinker.by_steps(1)
    return Shrunk(shrinker.best, shrinker.executions)
