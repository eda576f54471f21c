"""The oracle of a test case: the expected answer to each step, and the states of the model that are possible after it.

The engine's judge and the generated Hypothesis machines both ask an oracle, so that a step is judged in one place. An
oracle usually knows one state of the model. After a request whose outcome is indeterminate it knows several
(:mod:`indeterminate`), and on a real clock it follows the model at the earliest and the latest time at which each
step may have happened (:mod:`measured_time`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from rocketmq_conformance.models.message_queue import sort_ids
from rocketmq_conformance.models.outcome import (
    UNDEFINED,
    Err,
    Expected,
    Ok,
    Outcome,
    Unsupported,
    agrees,
    outcome_class,
    result_of,
)
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.answer_parts import differing_parts, filled, is_accident, weaker
from rocketmq_conformance.suites.declare.indeterminate import (
    MOST,
    UNKNOWN,
    Answered,
    Possibility,
    TooMany,
    after_step,
    answers,
    unanswered,
)
from rocketmq_conformance.suites.declare.measured_time import LEFT_OUT, Elapsed, Ready, Span, depends_on_time
from rocketmq_conformance.suites.declare.operation import OperationSpec
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

#: Stands for the whole answer, or its parts, where they are an accident of Java that is not judged.
QUIRK = "an accident of Java"
#: The report of a step before which an accident of Java was done in a way of the implementation's own.
ASTRAY = "what an accident of Java left behind is unknown; the rest of the case is skipped"


@dataclass(frozen=True, slots=True)
class Agreed:
    """The model allows the observed answer."""

    step: Step


@dataclass(frozen=True, slots=True)
class Differs:
    """The model does not allow the observed answer."""

    step: Step


@dataclass(frozen=True, slots=True)
class Skipped:
    """The implementation does not offer the operation: the state of the model stays as it was."""

    operation: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """From here on nothing can be concluded from the test case."""

    reason: str


@dataclass(frozen=True, slots=True)
class Astray:
    """An accident of Java was done in a way that is neither Java's nor the mended one, so that the state of the
    implementation is unknown: the rest of the case is skipped."""

    operation: str
    reason: str = ASTRAY


@dataclass(frozen=True, slots=True)
class Unmeasurable:
    """The expected answer changes within the measurement error of a real clock: the rest of the case is skipped."""

    operation: str
    reason: str = LEFT_OUT


Judgement = Agreed | Differs | Skipped | Undecided | Astray | Unmeasurable


class Oracle:
    """Follows the model through one test case.

    ``timed``: steps take place at measured times, and :meth:`judge` is given the span of each. With a ``mended`` model,
    one without the accidents of Java, these are not judged: after one the implementation may be where either is.
    """

    def __init__(
        self, suite: Suite, bound: BoundModel, *, timed: bool = False, mended: BoundModel | None = None
    ) -> None:
        self._suite = suite
        self._mended = mended
        self._bound = bound
        self._state = bound.initial
        #: More than one possibility, or one with in-flight requests; empty while the state is certain.
        self._possible: list[Possibility] = []
        #: Did client ids of members sort otherwise than their numbers, which the plan alone does not say?
        self.reordered = False
        #: Does no possible state explain what was observed?
        self._lost = False
        #: Is the state after an accident of Java unknown?
        self._astray = False
        self._elapsed = Elapsed(suite, bound) if timed and depends_on_time(suite) else None

    @property
    def possibilities(self) -> int:
        """How many states of the model are possible at this moment."""
        return len(self._possible) or 1

    def allows(self, position: int) -> bool:
        """May the operation at this position be done, in every state that is possible?"""
        guard = self._suite.operations[position].spec.guard
        if guard is None:
            return True
        if not self._possible:
            return guard(self._state)
        return all(guard(one.state) for one in self._possible)

    def ready(self, row: Row) -> Ready | None:
        """On a measured clock: is the expected answer the same from one time to another?"""
        return partial(self._elapsed.definite, row) if self._elapsed else None

    def judge(self, row: Row, outcome: Outcome, span: Span | None = None) -> Judgement:
        """Compare the observed outcome with the expected one, and go on from the states that remain possible."""
        spec = self._suite.operations[row[0]].spec
        if isinstance(outcome, Unsupported):
            return Skipped(spec.name, outcome.reason)
        if self._astray:
            return Astray(spec.name)
        observed = result_of(outcome)
        indeterminate = isinstance(outcome, Err) and not outcome.definite
        if isinstance(outcome, Err) and indeterminate and not spec.may_be_indeterminate:
            ended = f"{self._suite.operation(row)} ended in {outcome_class(observed)}, which decides nothing"
            # what brokers say of being busy is never twice the same
            said = outcome.detail if self._suite.side.runs_by_itself else ""
            return Undecided(f"{ended}: {said}" if said else ended)
        if indeterminate or self._possible:
            try:
                return self._among_possibilities(row, observed, indeterminate=indeterminate)
            except TooMany:
                return Undecided(f"before {self._suite.operation(row)} there are more than {MOST} possibilities")
        if self._bound.learn and outcome.clients:
            self._state = self._bound.learn(self._state, outcome.clients)
            known = tuple(filter(None, outcome.clients))
            self.reordered = self.reordered or sort_ids(known) != known
        before = self._state
        if self._elapsed and span:
            timed = self._elapsed.step(row, span)
            if timed is None:
                return Unmeasurable(spec.name)
            before, self._state, expected, why = timed
        else:
            given = (observed, *row[1]) if spec.observes else row[1]
            self._state, expected, why = self._bound.by_position[row[0]](before, *given)
        if why.unpromised:
            return Undecided(f"{spec.name}: {why.kind} ({', '.join(why.rules)})")
        step = Step(row, before, self._state, expected, observed, why)
        if isinstance(outcome, Ok) and outcome.unshown:
            step = step._replace(unshown=outcome.unshown)
        if why.quirk is True and self._mended is not None:
            return self._beside(step, self._mended)
        return Agreed(step) if agrees(expected, observed) else self._as_far_as_said(spec, step)

    def _as_far_as_said(self, spec: OperationSpec, step: Step) -> Agreed | Differs:
        """Judge an answer that differs: parts that it leaves open are not compared, nor are accidents of Java."""
        said, left = filled(spec, step.expected, step.observed)
        if not agrees(step.expected, said):
            differing = differing_parts(spec, step.expected, said)
            if self._mended is None or step.why.quirk is True or not is_accident(step.why, differing):
                return Differs(step._replace(observed=said, left=left))
            left = (*left, *differing)
            return Agreed(step._replace(why=weaker(step.why, spec, left), left=(QUIRK,)))
        return Agreed(step._replace(why=weaker(step.why, spec, left), left=left))

    def _beside(self, step: Step, mended: BoundModel) -> Judgement:
        """Judge an accident of Java, which need not be repeated, and follow the implementation in what it did."""
        if self._elapsed is None:
            self._state = step.before
            found = self._among_possibilities(step.row, step.observed, indeterminate=False)
            assert isinstance(found, Agreed | Differs)
            return replace(found, step=found.step._replace(unshown=step.unshown))
        spec = self._suite.operations[step.row[0]].spec
        judgement = self._as_far_as_said(spec, step)
        if isinstance(judgement, Agreed):
            return judgement
        if step.why.either:
            _, expected, _ = mended.by_position[step.row[0]](step.before, *step.row[1])
            if isinstance(self._as_far_as_said(spec, step._replace(expected=expected)), Differs):
                return judgement
        self._astray = step.after is not step.before
        return Agreed(_left_open(step))

    def go_on(self, step: Step) -> bool | None:
        """Follow the implementation after a step that differs, as if the expected answer had been given.

        True when the model's state is certain: the operation leaves it as it was, or only such parts of the answer
        differ that nothing later depends on. None when the model cannot follow: when time is measured, or no
        possible state is left.
        """
        if self._elapsed or self._lost:
            return None
        spec = self._suite.operations[step.row[0]].spec
        parts = differing_parts(spec, step.expected, step.observed)
        return step.after is step.before or (bool(parts) and set(parts) <= set(spec.idle))

    def _among_possibilities(self, row: Row, observed: Expected, *, indeterminate: bool) -> Judgement:
        """Judge a step before or after which several states are possible."""
        possible = self._possible or [Possibility(self._state)]
        if indeterminate:
            self._possible = unanswered(self._bound, possible, row)
            return Agreed(Step(row, possible[0].state, self._possible[0].state, UNDEFINED, observed, UNKNOWN))
        spec = self._suite.operations[row[0]].spec
        answered = answers(self._bound, possible, row, observed, observes=spec.observes, mended=self._mended)
        judged = [(one, self._compared(spec, one, row, observed)) for one in answered]
        allowed = [(one, judgement.step) for one, judgement in judged if isinstance(judgement, Agreed)]
        free = [one for one in answered if one.why.quirk is True and not one.why.either] if self._mended else []
        if free and isinstance(observed, Err):  # refused, so that nothing was done
            allowed += [(one._replace(after=one.before), _left_open(_step(one, row, observed))) for one in free]
        elif free and not allowed:
            self._astray = any(one.after.state is not one.before.state for one in answered)
            allowed = [(one, _left_open(_step(one, row, observed))) for one in free]
        self._possible = after_step(one for one, _ in allowed)
        if len(self._possible) > MOST:
            raise TooMany
        # what is done in neither of two ways is not an accident
        wrong = sorted((judgement.step for _, judgement in judged), key=lambda step: step.why.quirk is True)
        first, *others = [step for _, step in allowed] or wrong
        step = first._replace(others=tuple(others))
        if not allowed:
            self._lost = True
            return Differs(step)
        if len(self._possible) == 1 and not self._possible[0].open:
            self._state, self._possible = self._possible[0].state, []
        return Agreed(step)

    def _compared(self, spec: OperationSpec, one: Answered, row: Row, observed: Expected) -> Agreed | Differs:
        """The judgement if this possibility is the right one."""
        step = _step(one, row, observed)
        judgement = Agreed(step) if agrees(one.expected, observed) else self._as_far_as_said(spec, step)
        return Agreed(_left_open(step)) if one.mended and isinstance(judgement, Agreed) else judgement


def _step(one: Answered, row: Row, observed: Expected) -> Step:
    return Step(row, one.before.state, one.after.state, one.expected, observed, one.why)


def _left_open(step: Step) -> Step:
    """A step of which nothing is judged."""
    return step._replace(why=Reason((), step.why.kind), left=(QUIRK,))


def describe(suite: Suite, step: Step) -> str:
    """A difference in one sentence: the operation, every expected answer, the observed one and the rules."""
    expected = " or ".join(repr(one.expected) for one in (step, *step.others))
    rules = ", ".join(step.why.rules)
    return f"{suite.operation(step.row)}: expected {expected}, observed {step.observed!r} ({rules}: {step.why.kind})"
