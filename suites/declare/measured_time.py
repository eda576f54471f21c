"""Judging by measured time: the expected answers of an implementation with a real clock.

On a virtual clock an age is what the plan says. On a real one it is not known exactly: a step looks at its clock
somewhere in its *span*, and so did the step that the age is counted from. The model is therefore played
twice side by side. The *old* one takes every step at the beginning of its span and the *young* one at its end; when
both are asked about a later step, the old one at the end of its span and the young one at its beginning, every age
lies between theirs. A rule compares an age with a bound (120 s without a pull, 30 s without a lock, …), so that, when
the two agree in answer and reason, no age in between makes any difference, and the answer is definite. When they do
not agree, the expected answer is not known, and the rest of the case is skipped.

That is rare by construction. Suites draw ticks of seconds, so that ages lie seconds away from bounds or right on them;
one right on a bound is, once measured, a little more than it, as a wait never ends early. And a step whose answer
is about to change is put off until it has changed.

Before every step, time passes in a model by the suite's operation with a ``Duration``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

#: The report of a step whose expected answer depends on more than can be measured.
LEFT_OUT = "the expected answer changes within the clock's measurement error; the rest of the case is skipped"

#: Is the answer of the next step the same from one time to another?
Ready = Callable[[int, int], bool]


class Span(NamedTuple):
    """The earliest and the latest time at which a step may have looked at its clock, in ms of the plan."""

    earliest: int
    latest: int
    #: By how much timers may be late: what was due that long before the step may be done or not.
    late: int = 0


class Times(Protocol):
    """Measures when the steps of a case took place."""

    def expect(self, ready: Ready) -> None:
        """Give the condition on which the next step may begin."""
        ...

    def span(self) -> Span:
        """The span of the last step."""
        ...


class TimedAnswer(NamedTuple):
    """A model's answers to the time that passed before a step, and to the step itself."""

    state: Any
    passed: tuple[Expected, Reason]
    expected: Expected
    why: Reason

    def like(self, other: TimedAnswer) -> bool:
        """Are the answers and reasons of another one the same? States are not compared."""
        return self[1:] == other[1:]


class Elapsed:
    """The old and the young model of a case, and the span of the last step, up to which both were played."""

    def __init__(self, suite: Suite, bound: BoundModel) -> None:
        self._handlers = bound.by_position
        assert suite.clock is not None
        self._tick = suite.clock
        self._old: Any = bound.initial
        self._young: Any = bound.initial
        self._span = Span(0, 0)

    def definite(self, row: Row, now: int, until: int) -> bool:
        """Is the answer of a step the same whenever it takes place between two times?"""
        return self._young_at(row, now).like(self._old_at(row, until))

    def step(self, row: Row, span: Span) -> tuple[Any, Any, Expected, Reason] | None:
        """Play a step: the old model's state before and after it, the expected answer and the reason.

        None when the answer is not definite; the models then stay as they are.
        """
        old, young = self._old_at(row, span.earliest), self._young_at(row, span.latest)
        same = old.like(young) and old.like(self._old_at(row, span.latest))
        if not (same and self.definite(row, span.earliest - span.late, span.latest)):
            return None
        before, self._old, self._young, self._span = self._old, old.state, young.state, span
        return before, old.state, old.expected, old.why

    def _old_at(self, row: Row, now: int) -> TimedAnswer:
        return self._answer(self._old, row, now - self._span.earliest)

    def _young_at(self, row: Row, now: int) -> TimedAnswer:
        return self._answer(self._young, row, now - self._span.latest)

    def _answer(self, state: Any, row: Row, millis: int) -> TimedAnswer:
        state, result, why = self._handlers[self._tick](state, max(0, millis))
        passed = result, why
        if row[0] == self._tick:
            return TimedAnswer(state, passed, result, why)
        state, expected, why = self._handlers[row[0]](state, *row[1])
        return TimedAnswer(state, passed, expected, why)


def depends_on_time(suite: Suite) -> bool:
    """Do answers of the suite depend on how much time passed?"""
    return suite.clock is not None
