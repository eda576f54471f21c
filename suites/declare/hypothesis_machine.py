"""Hypothesis machines, generated from the declarations of a suite: one rule per operation.

Hypothesis searches, shrinks and prints; what an operation may be comes from its domains, what it must answer from
the model. ``play`` is how the implementation does one row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from hypothesis import Phase, example, given, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from rocketmq_conformance.models.outcome import Err, Expected, Outcome, Unsupported, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.indeterminate import (
    Answered,
    Possibility,
    allowing,
    left,
    narrowed,
    unanswered,
)
from rocketmq_conformance.suites.declare.measured_time import Elapsed, Span, Times, by_time
from rocketmq_conformance.suites.declare.operation import Guard, OperationSpec
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Possibilities up to which Hypothesis may add to the doubt; it would rather do that than anything else.
_FEW = 64


class Playground(Protocol):
    """Where a machine plays: begins cases and does rows."""

    profile: Profile
    #: Who knows when steps took place, where that is measured.
    times: Times | None

    def begin(self, suite: Suite, number: int) -> None:
        """Begin a case."""
        ...

    def do(self, suite: Suite, row: Row) -> Outcome:
        """Do one operation."""
        ...


class HypothesisChoices:
    """Decisions that Hypothesis draws, records and shrinks."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        """A whole number in ``[0, n)``."""
        return self._draw(st.integers(0, n - 1))


def arguments(spec: OperationSpec) -> st.SearchStrategy[tuple[Any, ...]]:
    """The strategy of an operation's arguments."""
    rows = spec.rows()
    if rows is not None:
        return st.sampled_from(rows)

    @st.composite
    def drawn(draw: Callable[[st.SearchStrategy[int]], int]) -> tuple[Any, ...]:
        return spec.draw(HypothesisChoices(draw))

    return drawn()


def machine(suite: Suite, playground: Playground) -> type[RuleBasedStateMachine]:
    """The machine of a suite against what ``playground`` drives."""
    bound = suite.bind(playground.profile.judged())

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.possible = [Possibility(bound.initial)]
            #: The model by measured time; None when time is what the plan says.
            self.elapsed = Elapsed(suite, bound) if playground.times and by_time(suite) else None
            #: Was the rest left out, because no answer could be told from the time that was measured?
            self.cut = False
            playground.begin(suite, 0)

        def step(self, position: int, args: tuple[Any, ...]) -> None:
            if self.cut:
                return
            spec = suite.operations[position].spec
            if self.elapsed and playground.times:
                playground.times.expect(partial(self.elapsed.definite, (position, args)))
            outcome = playground.do(suite, (position, args))
            if isinstance(outcome, Unsupported):
                return
            if isinstance(outcome, Err) and not outcome.definite:
                if spec.doubtful:
                    self.possible = unanswered(bound, self.possible, (position, args))
                return
            observed = result_of(outcome)
            if self.elapsed and playground.times:
                said, self.possible = self.in_time(self.elapsed, playground.times.span(), (position, args), observed)
            else:
                said, self.possible = narrowed(bound, self.possible, (position, args), observed, observes=spec.observes)
            assert self.possible, (
                f"{suite.operation((position, args))}: expected {' or '.join(repr(one.expected) for one in said)}, "
                f"observed {observed!r} ({', '.join(said[0].why.rules)}: {said[0].why.kind})"
            )

        def in_time(
            self, elapsed: Elapsed, span: Span, row: Row, observed: Expected
        ) -> tuple[list[Answered], list[Possibility]]:
            """What the model says of a step that took place then, and what is possible after it."""
            told = elapsed.step(row, span)
            if told is None:
                self.cut = True
                return [], self.possible
            before, after, expected, why = told
            said = [Answered(Possibility(before), Possibility(after), expected, why)]
            return said, left(allowing(said, observed))

        def allows(self, guard: Guard) -> bool:
            """May an operation be done, whatever is so?"""
            return all(guard(one.state) for one in self.possible)

    for position in suite.offered(playground.profile):
        setattr(Machine, suite.operations[position].spec.name, _rule(suite.operations[position].spec, position))
    Machine.__name__ = Machine.__qualname__ = "".join(part.title() for part in suite.name.split("-")) + "Machine"
    return Machine


def _rule(spec: OperationSpec, position: int) -> Any:
    def do(self: Any, args: tuple[Any, ...]) -> None:
        self.step(position, args)

    do.__name__ = spec.name
    made = rule(args=arguments(spec))(do)
    if spec.guard is not None:
        guard = spec.guard
        made = precondition(lambda self: self.allows(guard))(made)
    if spec.doubtful:
        made = precondition(lambda self: len(self.possible) <= _FEW)(made)
    return made


def play_plan(made: type[RuleBasedStateMachine], suite: Suite, name: str, rows: Sequence[Row]) -> None:
    """Play a plan by the rules of a suite's machine, as an explicit example; AssertionError where it diverges.

    Hypothesis tells the failure of an example as it tells that of a search: by ``name``, the plan's, and step by step.
    Steps that may not be done in the model's state are left out. The profile has every operation of the plan.
    """

    @settings(phases=(Phase.explicit,), deadline=None)
    @example(plan=name)
    @given(plan=st.just(name))
    def conforms(plan: str) -> None:
        note(f"state = {made.__name__}()")
        state: Any = made()
        try:
            for position, args in rows:
                spec = suite.operations[position].spec
                if spec.guard is None or state.allows(spec.guard):
                    note(f"state.{spec.name}(args={args!r})")
                    getattr(state, spec.name)(args=args)
        finally:
            note("state.teardown()")
            state.teardown()

    conforms()
