"""Judging: a case is played, and every outcome compared with what the model expects."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

from rocketmq_conformance.models.outcome import (
    UNDEFINED,
    Err,
    Expected,
    Outcome,
    Result,
    Undefined,
    Unsupported,
    agrees,
    outcome_class,
    result_of,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Why
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNDECIDED, UNSUPPORTED
from rocketmq_conformance.suites.declare.indeterminate import MOST, UNKNOWN, Possibility, TooMany, narrowed, unanswered
from rocketmq_conformance.suites.declare.measured_time import LEFT_OUT, Elapsed, Span, Times, by_time
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite


class Step(NamedTuple):
    """One judged step: the model's state around it, what was expected and what was observed."""

    row: Row
    before: Any
    after: Any
    expected: Expected
    observed: Expected
    why: Why
    #: The same step as other possibilities have it, while an outcome is indeterminate.
    others: tuple[Step, ...] = ()


@dataclass
class Judged:
    """A case as far as it was judged. Only the last step can diverge."""

    verdict: str
    steps: list[Step] = field(default_factory=list)
    reason: str = ""
    #: Operations answered Unsupported, with the reason.
    unsupported: dict[str, str] = field(default_factory=dict)
    #: When each step took place, where time is measured.
    spans: list[Span] = field(default_factory=list)
    #: Was the rest left out, because no answer could be told from the time that was measured?
    cut: bool = False

    @property
    def rows(self) -> list[Row]:
        """The plan of the steps."""
        return [step.row for step in self.steps]


#: Stands for every list with something in it.
_ITEMS: Expected = (None,)


class Coverage:
    """How often which rule met which kind of state and answered in which class."""

    #: Distinct (why, result) pairs that are kept before they are folded into classes.
    _MOST = 1 << 15

    def __init__(self) -> None:
        self._raw: Counter[tuple[Why, Expected]] = Counter()
        self._folded: Counter[tuple[Why, str]] = Counter()

    def add(self, whys: Sequence[Why], results: Sequence[Expected]) -> None:
        """Count the answers of a case."""
        # of a list counts only whether anything is in it: one stands for all, or each would be kept until it is folded
        counted = [_ITEMS if type(result) is tuple and result else result for result in results]
        self._raw.update(zip(whys, counted, strict=True))
        if len(self._raw) > self._MOST:
            self._fold()

    def rows(self) -> list[list[Any]]:
        """[rule, kind of state, outcome class, times], sorted."""
        self._fold()
        counted: Counter[tuple[str, str, str]] = Counter()
        for (why, kind), times in self._folded.items():
            for rule in why.rules:
                counted[rule, why.kind, kind] += times
        return [[*key, times] for key, times in sorted(counted.items())]

    def _fold(self) -> None:
        for (why, result), times in self._raw.items():
            self._folded[why, outcome_class(result)] += times
        self._raw.clear()


class Judge:
    """Judges cases of one suite by one profile."""

    def __init__(self, suite: Suite, profile: Profile, coverage: Coverage | None = None) -> None:
        self.suite = suite
        self.bound: BoundModel = suite.bind(profile)
        self.coverage = coverage or Coverage()
        self._observes = [op.spec.observes for op in suite.operations]
        self._doubtful = [op.spec.doubtful for op in suite.operations]
        self._guards = [op.spec.guard for op in suite.operations]
        self._guarded = any(self._guards)
        self._stepwise = self._guarded or any(self._observes)

    def judge(
        self, rows: Sequence[Row], do: Callable[[Row], Outcome], *, count: bool = True, times: Times | None = None
    ) -> Judged:
        """Play ``rows`` one by one with ``do``, until the first divergence or an outcome that decides nothing.

        ``times`` tells when steps took place, if that is measured and not what the plan says.
        """
        judged = Judged(CONFORMS)
        state = self.bound.initial
        elapsed = Elapsed(self.suite, self.bound) if times and by_time(self.suite) else None
        #: While there is more than one, ``state`` is not looked at.
        possible: list[Possibility] = []
        for row in rows:
            guard = self._guards[row[0]]
            if guard and not all(guard(one.state) for one in possible or [Possibility(state)]):
                continue
            if times and elapsed:
                times.expect(partial(elapsed.definite, row))
            outcome = do(row)
            if isinstance(outcome, Unsupported):
                judged.unsupported[self.suite.operations[row[0]].spec.name] = outcome.reason
                continue
            observed = result_of(outcome)
            unknown = isinstance(outcome, Err) and not outcome.definite
            if unknown and not self._doubtful[row[0]]:
                judged.verdict = UNDECIDED
                judged.reason = f"{self.suite.operation(row)} ended in {outcome_class(observed)}, which decides nothing"
                break
            if unknown or possible:
                try:
                    step, possible = self._in_doubt(possible or [Possibility(state)], row, observed, unknown=unknown)
                except TooMany:
                    judged.verdict = UNDECIDED
                    judged.reason = f"before {self.suite.operation(row)} there are more than {MOST} possibilities"
                    break
                judged.steps.append(step)
                if not possible:
                    judged.verdict = DIVERGES
                    break
                if len(possible) == 1 and not possible[0].open:
                    state, possible = possible[0].state, []
                continue
            handler = self.bound.by_position[row[0]]
            before = state
            if times and elapsed:
                span = times.span()
                told = elapsed.step(row, span)
                if told is None:
                    judged.unsupported[self.suite.operations[row[0]].spec.name] = LEFT_OUT
                    judged.cut = True
                    break
                before, state, expected, why = told
                judged.spans.append(span)
            elif self._observes[row[0]]:
                state, expected, why = handler(state, observed, *row[1])
            else:
                state, expected, why = handler(state, *row[1])
            judged.steps.append(Step(row, before, state, expected, observed, why))
            if not agrees(expected, observed):
                judged.verdict = DIVERGES
                break
        if judged.verdict == CONFORMS and not judged.steps:
            judged.verdict = UNSUPPORTED
            judged.reason = next(iter(judged.unsupported.values()), "no step could be played")
        elif judged.verdict == CONFORMS and all(step.why is UNKNOWN for step in judged.steps):
            judged.verdict = UNDECIDED
            judged.reason = "of nothing that was asked for is it known whether it was done"
        if count:
            self.coverage.add([s.why for s in judged.steps], [s.expected for s in judged.steps])
        return judged

    def _in_doubt(
        self, possible: list[Possibility], row: Row, observed: Expected, *, unknown: bool
    ) -> tuple[Step, list[Possibility]]:
        """A step while there is more than one possibility, and what is possible after it: nothing when it diverges."""
        if unknown:
            after = unanswered(self.bound, possible, row)
            return Step(row, possible[0].state, after[0].state, UNDEFINED, observed, UNKNOWN), after
        said, after = narrowed(self.bound, possible, row, observed, observes=self._observes[row[0]])
        first, *others = [Step(row, one.before.state, one.after.state, one.expected, observed, one.why) for one in said]
        return first._replace(others=tuple(others)), after

    @property
    def guarded(self) -> bool:
        """Does it depend on the state which steps of a plan are played?"""
        return self._guarded

    def agrees_at_once(self, rows: Sequence[Row], calls: Sequence[Callable[..., Result]]) -> str | None:
        """Play a whole case without looking at single steps: the digest when all agree, else None.

        None without playing anything when the suite is guarded or observes: its cases are judged step by step.
        """
        if self._stepwise:
            return None
        handlers = self.bound.by_position
        state = self.bound.initial
        expected: list[Expected] = []
        whys: list[Why] = []
        for at, args in rows:
            state, result, why = handlers[at](state, *args)
            expected.append(result)
            whys.append(why)
        observed: list[Expected] = [calls[at](*args) for at, args in rows]
        if observed != expected:
            observed = [UNDEFINED if e is UNDEFINED else o for e, o in zip(expected, observed, strict=True)]
            if observed != expected:
                return None
        said = _packed(observed)
        if said is None or said != _packed(expected):
            return None
        self.coverage.add(whys, expected)
        return blake2b(said, digest_size=8).hexdigest()

    def expected(self, rows: Sequence[Row]) -> list[Step]:
        """What the model says of a plan, taking every expected answer as observed; for suites without observations."""
        state = self.bound.initial
        steps: list[Step] = []
        for at, args in rows:
            guard = self._guards[at]
            if guard and not guard(state):
                continue
            before = state
            state, result, why = self.bound.by_position[at](state, *args)
            steps.append(Step((at, args), before, state, result, None, why))
        return steps

    @property
    def observes(self) -> bool:
        """Does what the model expects depend on what was observed?"""
        return any(self._observes) or not self.suite.repeatable


def digest(judged: Judged) -> str:
    """64 bits (hex) of a case's results: the same on every machine and Python version."""
    observed = [UNDEFINED if step.expected is UNDEFINED else step.observed for step in judged.steps]
    said = _packed(observed)
    if said is None:
        said = repr(observed).encode("utf-8", "backslashreplace")
    return blake2b(said, digest_size=8).hexdigest()


def _packed(results: list[Any]) -> bytes | None:
    """Results as bytes that differ when a type differs (True is not 1); None when one of them is no result.

    Format 0 of marshal is the oldest and has not changed since; it is much faster than ``repr``.
    """
    try:
        return marshal.dumps(results, 0)
    except ValueError:  # an error among them, as a rule
        pass
    try:
        return marshal.dumps([_marshalled(result) if type(result) in _OTHERS else result for result in results], 0)
    except ValueError:
        return None


#: Results that are no values.
_OTHERS = frozenset({Err, Undefined})


def _marshalled(result: Err | Undefined) -> object:
    return ... if isinstance(result, Undefined) else (b"error", result.code, result.definite)


def fingerprint(suite: Suite, step: Step) -> str:
    """Equal for two divergences that differ in nothing but values: rule, operation, kind of state, classes."""
    parts = (
        suite.name,
        suite.operations[step.row[0]].spec.name,
        step.why.rules,
        step.why.kind,
        outcome_class(step.expected),
        outcome_class(step.observed),
    )
    return blake2b(repr(parts).encode(), digest_size=4).hexdigest()


def wrong(result: Result) -> Result:
    """A planted wrong answer."""
    match result:
        case bool():
            return not result
        case int():
            return result + 1
        case str():
            return result + "?"
        case tuple():
            return (*result, "planted")
        case Err():
            return None
        case _:
            return Err("PLANTED")
