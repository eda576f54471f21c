"""Hypothesis machines, generated from the declarations of a suite: one rule per operation.

Hypothesis searches, shrinks and prints; arguments come from the domains of an operation, expected answers from the
model. A ``Playground`` is how the implementation plays the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from hypothesis import Phase, example, given, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.judged_step import expect_step, judged_step
from rocketmq_conformance.suites.declare.measured_time import Times
from rocketmq_conformance.suites.declare.operation import OperationSpec
from rocketmq_conformance.suites.declare.oracle import Astray, Differs, Oracle, Undecided, Unmeasurable, describe
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Possibilities up to which Hypothesis may add indeterminate outcomes; otherwise it would add little else.
_FEW = 64


#: The arguments of an operation.
Args = tuple[Any, ...]
#: The name of all arguments together.
TOGETHER = "args"


class Playground(Protocol):
    """Drives the implementation that a machine is played against: begins cases and plays their steps."""

    profile: Profile
    #: Measures when steps took place; None where the clock is virtual.
    times: Times | None

    def begin(self, suite: Suite, number: int) -> None:
        """Begin a case."""
        ...

    def do(self, suite: Suite, row: Row) -> Outcome:
        """Play one operation."""
        ...


class Steps(Protocol):
    """What the rules of a machine call."""

    def allows(self, position: int) -> bool:
        """May the operation be done now?"""
        ...

    def may_be_doubtful(self) -> bool:
        """May an operation be done now whose outcome can be indeterminate?"""
        ...

    def step(self, position: int, args: Args) -> None:
        """Do an operation."""
        ...


class HypothesisChoices:
    """Decisions that Hypothesis draws, records and shrinks."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        """A whole number in ``[0, n)``."""
        return self._draw(st.integers(0, n - 1))


def arguments(spec: OperationSpec) -> dict[str, st.SearchStrategy[Any]]:
    """The strategies of an operation's arguments by name, or that of all together, TOGETHER, where none can be drawn
    alone."""
    columns = spec.columns()
    if columns is not None:
        return {name: st.sampled_from(column) for (name, _), column in zip(spec.domains, columns, strict=True)}

    @st.composite
    def drawn(draw: Callable[[st.SearchStrategy[int]], int]) -> Args:
        return spec.draw(HypothesisChoices(draw))

    return {TOGETHER: drawn()}


def named(spec: OperationSpec, args: Args) -> dict[str, Any]:
    """Arguments by the names that the operation's rule has for them."""
    if spec.columns() is None:
        return {TOGETHER: args}
    return dict(zip((name for name, _ in spec.domains), args, strict=True))


def machine(
    suite: Suite,
    playground: Playground,
    doubted: Callable[[Suite, Step], bool] = lambda suite, step: False,
    *,
    quirks: bool = True,
) -> type[RuleBasedStateMachine]:
    """The machine of a suite, played against the implementation that ``playground`` drives.

    A step that differs is a failure unless it is ``doubted``: then it leaves its test case without a verdict. Without
    ``quirks`` accidents of Java are not judged.
    """
    profile = playground.profile.judged()
    bound, mended = suite.bind(profile), None if quirks else suite.bind(profile.mended())

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.oracle = Oracle(suite, bound, timed=playground.times is not None, mended=mended)
            #: Did a step leave the rest of the test case without a verdict?
            self.cut = False
            playground.begin(suite, 0)

        def allows(self, position: int) -> bool:
            return self.oracle.allows(position)

        def may_be_doubtful(self) -> bool:
            return self.oracle.possibilities <= _FEW

        def step(self, position: int, args: Args) -> None:
            if self.cut:
                return
            row, times = (position, args), playground.times
            timed = expect_step(self.oracle, row, times)
            judgement, _ = judged_step(self.oracle, row, playground.do(suite, row), times, timed)
            match judgement:
                case Differs(step):
                    if not doubted(suite, step):
                        raise AssertionError(describe(suite, step))
                    self.cut = True
                case Undecided() | Astray() | Unmeasurable():
                    self.cut = True

    return with_rules(Machine, suite, playground.profile)


def with_rules(base: type[Steps], suite: Suite, profile: Profile) -> type[RuleBasedStateMachine]:
    """A machine with a rule for every operation of a suite that the profile has; ``base`` does the steps."""
    name = "".join(part.title() for part in suite.name.split("-")) + "Machine"
    specs = {position: suite.operations[position].spec for position in suite.offered(profile)}
    rules = {spec.name: _rule(spec, position) for position, spec in specs.items()}
    return type(name, (base,), {**rules, "__qualname__": name})


def _rule(spec: OperationSpec, position: int) -> Any:
    def do(self: Steps, **given: Any) -> None:
        self.step(position, given[TOGETHER] if TOGETHER in given else tuple(given[name] for name, _ in spec.domains))

    do.__name__ = spec.name
    declare: Any = rule
    made = declare(**arguments(spec))(do)
    if spec.guard is not None:
        made = precondition(lambda self: self.allows(position))(made)
    if spec.may_be_indeterminate:
        made = precondition(lambda self: self.may_be_doubtful())(made)
    return made


def play_plan(made: type[RuleBasedStateMachine], suite: Suite, name: str, rows: Sequence[Row]) -> None:
    """Play a plan by the rules of a suite's machine, as an explicit example; AssertionError where it diverges.

    Hypothesis reports the failure of an example like that of a search: step by step, under ``name``, the plan's.
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
                if state.allows(position):
                    given = named(spec, args)
                    note(f"state.{spec.name}({', '.join(f'{name}={value!r}' for name, value in given.items())})")
                    getattr(state, spec.name)(**given)
        finally:
            note("state.teardown()")
            state.teardown()

    conforms()
