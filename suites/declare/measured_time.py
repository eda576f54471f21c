"""Judging by measured time: what the model says of an implementation with a real clock.

On a virtual clock an age is what the plan says. On a real one nobody knows it exactly: a step looks at its clock
somewhere in its *span*, and so did the step that the age is counted from. The model is therefore played
twice side by side. The *old* one takes every step at the beginning of its span and the *young* one at its end; when
both are asked about a later step, the old one at the end of its span and the young one at its beginning, every age
lies between theirs. A rule compares an age with a bound (120 s without a pull, 30 s without a lock, …), so that, when
the two agree in answer and reason, no age in between makes any difference, and the answer is definite. When they do
not agree, nobody can tell what is right, and the rest of the case is left out.

That is rare by construction. Suites draw ticks of seconds, so that ages lie seconds away from bounds or right on them;
one right on a bound is, once measured, a little more than it, as a wait never ends too soon. And a step whose answer
is about to change is put off until it has changed.

A model is asked what time does by the suite's operation with a ``Duration``, before every step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

#: What is told of a step whose answer depends on more than can be measured.
LEFT_OUT = "the expected answer changes within the clock's measurement error; the rest of the case is skipped"

#: Is the answer of the next step the same from one time to another?
Ready = Callable[[int, int], bool]


class Span(NamedTuple):
    """When a step looked at its clock, at the earliest and at the latest, in ms of the plan."""

    begun: int
    ended: int
    #: By how much timers may be late: what was due that long before the step may be done or not.
    late: int = 0


class Times(Protocol):
    """Who knows when the steps of a case took place."""

    def expect(self, ready: Ready) -> None:
        """Say whether the next step may begin."""
        ...

    def span(self) -> Span:
        """When the last step took place."""
        ...


class Told(NamedTuple):
    """What a model says of a step: of the time that passed before it, and of the step itself."""

    state: Any
    passed: tuple[Expected, Reason]
    expected: Expected
    why: Reason

    def like(self, other: Told) -> bool:
        """Does another one say the same?"""
        return self[1:] == other[1:]


class Elapsed:
    """The two models of a case, and when each of them is."""

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
        """Play a step: the old model's state before and after it, the expected answer and why; None when it is not
        definite, and the models stay as they are."""
        old, young = self._old_at(row, span.begun), self._young_at(row, span.ended)
        same = old.like(young) and old.like(self._old_at(row, span.ended))
        if not (same and self.definite(row, span.begun - span.late, span.ended)):
            return None
        before, self._old, self._young, self._span = self._old, old.state, young.state, span
        return before, old.state, old.expected, old.why

    def _old_at(self, row: Row, now: int) -> Told:
        return self._told(self._old, row, now - self._span.begun)

    def _young_at(self, row: Row, now: int) -> Told:
        return self._told(self._young, row, now - self._span.ended)

    def _told(self, state: Any, row: Row, millis: int) -> Told:
        state, result, why = self._handlers[self._tick](state, max(0, millis))
        passed = result, why
        if row[0] == self._tick:
            return Told(state, passed, result, why)
        state, expected, why = self._handlers[row[0]](state, *row[1])
        return Told(state, passed, expected, why)


def by_time(suite: Suite) -> bool:
    """Do answers of the suite depend on the time that passed?"""
    return suite.clock is not None
