"""Hypothesis machines, generated from the declarations of a suite: one rule per operation.

Hypothesis searches, shrinks and prints; arguments come from the domains of an operation, expected answers from the
model. A ``Playground`` is how the implementation plays the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from hypothesis import Phase, example, given, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.choices import Choices
from rocketmq_conformance.suites.declare.judged_step import expect_step, judged_step
from rocketmq_conformance.suites.declare.measured_time import Times
from rocketmq_conformance.suites.declare.operation import OperationSpec
from rocketmq_conformance.suites.declare.oracle import (
    Agreed,
    Astray,
    Differs,
    Oracle,
    Undecided,
    Unmeasurable,
    describe,
)
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

#: Possibilities up to which Hypothesis may add indeterminate outcomes; otherwise it would add little else.
_FEW = 64

T = TypeVar("T")

#: The arguments of an operation.
Args = tuple[Any, ...]
#: The name of all arguments together.
TOGETHER = "args"


class Playground(Protocol):
    """Drives the implementation that a machine is played against: begins cases and plays their steps."""

    profile: Profile

    @property
    def times(self) -> Times | None:
        """Measures when steps took place; None where the clock is virtual."""
        ...

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

    return {TOGETHER: drawn(spec.draw)}


def drawn(draw: Callable[[Choices], T]) -> st.SearchStrategy[T]:
    """What a function draws of the choices of Hypothesis."""

    @st.composite
    def made(choose: Callable[[st.SearchStrategy[int]], int]) -> T:
        return draw(HypothesisChoices(choose))

    return made()


def named(spec: OperationSpec, args: Args) -> dict[str, Any]:
    """Arguments by the names that the operation's rule has for them."""
    if spec.columns() is None:
        return {TOGETHER: args}
    return dict(zip((name for name, _ in spec.domains), args, strict=True))


class Playing(NamedTuple):
    """What the steps of a machine are played on, and by what they are judged."""

    playground: Playground
    bound: BoundModel
    #: The model without the accidents of Java; None where these are judged.
    mended: BoundModel | None
    #: May the configuration of the implementation explain a step that differs?
    doubted: Callable[[Suite, Step], bool]


def playing(
    suite: Suite,
    playground: Playground,
    doubted: Callable[[Suite, Step], bool] = lambda suite, step: False,
    *,
    quirks: bool = True,
) -> Playing:
    """How a suite is played on a playground. Without ``quirks`` accidents of Java are not judged."""
    profile = playground.profile.judged()
    return Playing(playground, suite.bind(profile), None if quirks else suite.bind(profile.mended()), doubted)


class SuiteMachine(RuleBasedStateMachine):
    """A case of a suite: each step is played, and judged by the model.

    A step that differs is a failure unless it is doubted. One that is, or that decides nothing, leaves the rest of the
    case without a verdict: it is not played.
    """

    suite: ClassVar[Suite]
    playing: ClassVar[Playing]

    def __init__(self) -> None:
        super().__init__()
        playground, bound, mended, _ = self.playing
        #: The steps that were played and judged.
        self.steps: list[Step] = []
        #: Did a step leave the rest of the case without a verdict?
        self.cut = False
        self._oracle = Oracle(self.suite, bound, timed=playground.times is not None, mended=mended)
        playground.begin(self.suite, 0)

    def allows(self, position: int) -> bool:
        """May the operation be done now?"""
        return self._oracle.allows(position)

    def may_be_doubtful(self) -> bool:
        """May an operation be done now whose outcome can be indeterminate?"""
        return self._oracle.possibilities <= _FEW

    def step(self, position: int, args: Args) -> None:
        """Play an operation, and judge the answer."""
        if self.cut:
            return
        playground, row = self.playing.playground, (position, args)
        timed = expect_step(self._oracle, row, playground.times)
        judgement, _ = judged_step(self._oracle, row, playground.do(self.suite, row), playground.times, timed)
        match judgement:
            case Agreed(step):
                self.steps.append(step)
            case Differs(step):
                self.steps.append(step)
                self.cut = True
                if not self.playing.doubted(self.suite, step):
                    raise AssertionError(self.difference())
            case Undecided() | Astray() | Unmeasurable():
                self.cut = True

    def difference(self) -> str:
        """The last step, which differs, in words."""
        return describe(self.suite, self.steps[-1])


def machine(
    suite: Suite,
    playground: Playground,
    doubted: Callable[[Suite, Step], bool] = lambda suite, step: False,
    *,
    quirks: bool = True,
) -> type[RuleBasedStateMachine]:
    """The machine of a suite, played on a playground; arguments as of ``playing``."""
    fields = {"suite": suite, "playing": playing(suite, playground, doubted, quirks=quirks)}
    return with_rules(type("Machine", (SuiteMachine,), fields), suite, suite.offered(playground.profile))


def with_rules(base: type[Steps], suite: Suite, positions: Iterable[int]) -> type[RuleBasedStateMachine]:
    """A machine with a rule for the operations of a suite at these positions; ``base`` does the steps."""
    name = "".join(part.title() for part in suite.name.split("-")) + "Machine"
    specs = {position: suite.operations[position].spec for position in positions}
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


def play_plan(made: type[RuleBasedStateMachine], suite: Suite, name: str, rows: Sequence[Row]) -> Any:
    """Play a plan by the rules of a suite's machine, as an explicit example; AssertionError where it diverges.

    Hypothesis reports the failure of an example like that of a search: step by step, under ``name``, the plan's. The
    profile has every operation of the plan. The machine, as the plan left it.
    """
    played = []

    @settings(phases=(Phase.explicit,), deadline=None)
    @example(plan=name)
    @given(plan=st.just(name))
    def conforms(plan: str) -> None:
        played.append(walk(made, suite, rows))

    conforms()
    return played[0]


def walk(made: type[RuleBasedStateMachine], suite: Suite, rows: Sequence[Row]) -> Any:
    """A machine of a suite that was led along a plan, within a test of Hypothesis; its invariants held at each step.

    Steps that may not be done in the model's state are left out.
    """
    note(f"state = {made.__name__}()")
    state: Any = made()
    try:
        _hold(state)
        for position, args in rows:
            spec = suite.operations[position].spec
            if state.allows(position):
                given = named(spec, args)
                note(f"state.{spec.name}({', '.join(f'{name}={value!r}' for name, value in given.items())})")
                if hasattr(made, spec.name):
                    getattr(state, spec.name)(**given)
                else:  # it has no rule for it
                    state.step(position, args)
                _hold(state)
    finally:
        note("state.teardown()")
        state.teardown()
    return state


def _hold(state: RuleBasedStateMachine) -> None:
    """Check the invariants of a machine that may be checked now."""
    for one in state.invariants:
        if all(allows(state) for allows in one.preconditions):
            one.function(state)
