"""The judge: plays a case and compares every outcome with the one that the model expects."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Callable, Container, Generator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from rocketmq_conformance.conformance.adapter import CRASHED
from rocketmq_conformance.models.outcome import UNDEFINED, Err, Expected, Outcome, Result, Undefined, outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNDECIDED, UNSUPPORTED
from rocketmq_conformance.suites.declare.answer_parts import differing_parts, first_difference, responsible, showing
from rocketmq_conformance.suites.declare.indeterminate import UNKNOWN
from rocketmq_conformance.suites.declare.judged_step import drive, expect_step, judged_step
from rocketmq_conformance.suites.declare.measured_time import Span, Times
from rocketmq_conformance.suites.declare.oracle import Agreed, Astray, Differs, Oracle, Skipped, Undecided, Unmeasurable
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite


@dataclass
class Judged:
    """A case, up to the last step that was judged. Only that one can diverge, unless the case went on."""

    verdict: str
    steps: list[Step] = field(default_factory=list)
    reason: str = ""
    #: Operations answered Unsupported, with the reason.
    unsupported: dict[str, str] = field(default_factory=dict)
    #: When each step took place, where time is measured.
    spans: list[Span] = field(default_factory=list)
    #: Was the rest skipped, because the expected answer changes within the clock's measurement error?
    cut: bool = False
    #: Places of the steps that diverge.
    differing: list[int] = field(default_factory=list)
    #: Parts of answers that were left open, and so not compared: how often.
    unsaid: Counter[str] = field(default_factory=Counter)
    #: How many of the divergences the case could go on from, in a state that the model knows for certain.
    certain: int = 0
    #: Do its answers depend on client ids that the plan does not say? Others' answers to it may be others then.
    reordered: bool = False

    def add(self, step: Step, span: Span | None) -> None:
        """Add a judged step, with its span where time is measured."""
        self.steps.append(step)
        if span:
            self.spans.append(span)

    def leave_open(self, step: Step, suite: Suite) -> None:
        """Count the parts of a step's answer that the implementation left open."""
        for name in step.left:
            self.unsaid[f"{name} of {suite.operations[step.row[0]].spec.name}"] += 1

    @property
    def rows(self) -> list[Row]:
        """The plan of the steps."""
        return [step.row for step in self.steps]

    def differences(self) -> list[Judged]:
        """The case up to each of the steps that diverge."""
        return [
            replace(
                self,
                steps=self.steps[: at + 1],
                spans=self.spans[: at + 1],
                differing=self.differing[: number + 1],
                certain=min(self.certain, number),
            )
            for number, at in enumerate(self.differing)
        ]


class Agreement(NamedTuple):
    """A case whose steps all agree: the digest of its results (hex), and how many steps were played."""

    digest: str
    steps: int


#: Why a case that diverges was not played to its end.
ENDED = "after {} the model cannot follow, so the rest of the case was not played"

#: A step as far as the model knows it before it is played: operation, rules, kind of state, class of the answer.
Forecast = tuple[int, tuple[str, ...], str, str]

#: Stands for every list with something in it.
_ITEMS: Expected = (None,)


class Coverage:
    """How often which rule met which kind of state and answered in which class."""

    #: Distinct (why, result) pairs that are kept before they are folded into classes.
    _MOST = 1 << 15

    def __init__(self) -> None:
        self._raw: Counter[tuple[Reason, Expected]] = Counter()
        self._folded: Counter[tuple[Reason, str]] = Counter()

    def add(self, whys: Sequence[Reason], results: Sequence[Expected]) -> None:
        """Count the answers of a case."""
        # only whether a list is empty counts: one stands for all, or each would be kept until it is folded
        counted = [_ITEMS if type(result) is tuple and result else result for result in results]
        self._raw.update(zip(whys, counted, strict=True))
        if len(self._raw) > self._MOST:
            self._fold()

    def rows(self) -> list[list[Any]]:
        """[rule, kind of state, outcome class, times], sorted."""
        self._fold()
        counted: Counter[tuple[str, str, str]] = Counter()
        for (why, kind), times in self._folded.items():
            for rule in (*why.rules, *why.beneath):
                counted[rule, why.kind, kind] += times
        return [[*key, times] for key, times in sorted(counted.items())]

    def _fold(self) -> None:
        for (why, result), times in self._raw.items():
            self._folded[why, outcome_class(result)] += times
        self._raw.clear()


class Judge:
    """Judges cases of one suite by one profile."""

    def __init__(
        self, suite: Suite, profile: Profile, coverage: Coverage | None = None, *, quirks: bool = True
    ) -> None:
        self.suite = suite
        #: Are accidents of Java judged?
        self.quirks = quirks
        self.bound: BoundModel = suite.bind(profile)
        self._mended = None if quirks else suite.bind(profile.mended())
        self.coverage = coverage or Coverage()
        #: How often each rule was met in a step that does not show that it holds; these are counted there, too.
        self.unproven: Counter[str] = Counter()
        self._guards = [op.spec.guard for op in suite.operations]
        self._guarded = any(self._guards)
        self._observes = any(op.spec.observes for op in suite.operations)

    def judge(
        self,
        rows: Sequence[Row],
        do: Callable[[Row], Outcome],
        *,
        count: bool = True,
        times: Times | None = None,
        goes_on: bool = False,
    ) -> Judged:
        """Play ``rows`` as of :meth:`asking`, each with ``do``."""
        judged = drive(self.asking(rows, times=times, goes_on=goes_on), do)
        if count:
            self.count(judged)
        return judged

    def asking(
        self, rows: Sequence[Row], *, times: Times | None = None, goes_on: bool = False
    ) -> Generator[Row, Outcome, Judged]:
        """Ask for ``rows`` one by one, until the first divergence or an outcome that decides nothing.

        ``times`` measures when steps took place; None when the plan's own time counts. With ``goes_on`` the case goes
        on after a divergence, from what was observed, as long as the model can follow.
        """
        judged = Judged(CONFORMS)
        oracle = Oracle(self.suite, self.bound, timed=times is not None, mended=self._mended)
        for row in rows:
            if not oracle.allows(row[0]):
                continue
            timed = expect_step(oracle, row, times)
            judgement, span = judged_step(oracle, row, (yield row), times, timed)
            match judgement:
                case Agreed(step):
                    judged.add(step, span)
                    judged.leave_open(step, self.suite)
                case Differs(step):
                    judged.differing.append(len(judged.steps))
                    judged.add(step, span)
                    judged.leave_open(step, self.suite)
                    judged.verdict = DIVERGES
                    if not goes_on:
                        break
                    follows = oracle.go_on(step) if outcome_class(step.observed) != CRASHED else None
                    if follows is None:
                        judged.reason = ENDED.format(self.suite.operations[row[0]].spec.name)
                        break
                    if follows and judged.certain == len(judged.differing) - 1:
                        judged.certain += 1
                case Skipped(operation, reason):
                    judged.unsupported[operation] = reason
                case Undecided(reason):
                    if not judged.differing:
                        judged.verdict, judged.reason = UNDECIDED, reason
                    break
                case Astray(operation, reason):
                    judged.unsupported[operation] = reason
                    break
                case Unmeasurable(operation, reason):
                    judged.unsupported[operation] = reason
                    judged.cut = True
                    break
        judged.reordered = oracle.reordered
        if judged.verdict == CONFORMS and not judged.steps:
            judged.verdict = UNSUPPORTED
            judged.reason = next(iter(judged.unsupported.values()), "no step could be played")
        elif judged.verdict == CONFORMS and all(step.why is UNKNOWN for step in judged.steps):
            judged.verdict = UNDECIDED
            judged.reason = "every operation in this test case had an indeterminate outcome"
        return judged

    def count(self, judged: Judged) -> None:
        """Count what a case covered, and what it shows of no rule: nothing, when it neither conforms nor diverges."""
        self.coverage.add([step.why for step in judged.steps], [step.expected for step in judged.steps])
        decides = judged.verdict in (CONFORMS, DIVERGES)
        for at, step in enumerate(judged.steps):
            rules = (*step.why.rules, *step.why.beneath)
            doubted = at in judged.differing or not decides
            self.unproven.update(rules if doubted else step.unshown.intersection(rules))

    @property
    def guarded(self) -> bool:
        """Do some operations have a guard, so that the state decides which steps of a plan are played?"""
        return self._guarded

    @property
    def stepwise(self) -> bool:
        """Must cases be judged step by step, as the plan or the expected answers depend on what was before?"""
        return self._guarded or self._observes

    def agrees_at_once(
        self, rows: Sequence[Row], play: Callable[[Sequence[Row]], Sequence[Result]]
    ) -> Agreement | None:
        """Play a whole case without looking at single steps: what it comes to when all agree, else None.

        As long as all agree, the model alone says which steps the guards allow. None without playing anything when the
        suite observes: its cases are judged step by step.
        """
        return None if self._observes else self._at_once(rows, lambda allowed: [*play(allowed)])

    def agrees_with(self, rows: Sequence[Row], observed: list[Expected]) -> Agreement | None:
        """The same for a case that was played, with what each step showed; None when the suite has guards, too."""
        return None if self.stepwise else self._at_once(rows, lambda allowed: observed)

    def _at_once(self, rows: Sequence[Row], observe: Callable[[Sequence[Row]], list[Expected]]) -> Agreement | None:
        handlers, guards, state = self.bound.by_position, self._guards, self.bound.initial
        allowed: list[Row] = []
        expected: list[Expected] = []
        whys: list[Reason] = []
        for row in rows:
            at, args = row
            guard = guards[at]
            if guard is None or guard(state):
                state, result, why = handlers[at](state, *args)
                allowed.append(row)
                expected.append(result)
                whys.append(why)
        if not allowed:
            return None
        observed = observe(allowed)
        if observed != expected:
            observed = [UNDEFINED if e is UNDEFINED else o for e, o in zip(expected, observed, strict=True)]
            if observed != expected:
                return None
        packed = _packed(observed)
        if packed is None or packed != _packed(expected):
            return None
        self.coverage.add(whys, expected)
        return Agreement(blake2b(packed, digest_size=8).hexdigest(), len(expected))

    def without(self, rows: Sequence[Row], avoided: Container[Forecast]) -> list[Row]:
        """A plan without the steps that would be answered as one of ``avoided``, by the model alone.

        The plan itself when the expected answers depend on what is observed.
        """
        if self._observes:
            return list(rows)
        state, left = self.bound.initial, []
        for at, args in rows:
            guard = self._guards[at]
            if guard and not guard(state):
                left.append((at, args))
                continue
            after, expected, why = self.bound.by_position[at](state, *args)
            if (at, why.rules, why.kind, outcome_class(expected)) in avoided:
                continue
            state = after
            left.append((at, args))
        return left

    def expected(self, rows: Sequence[Row]) -> list[Step]:
        """The steps of a plan with every expected answer taken as observed; for suites without observations."""
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
        """Do expected answers depend on what was observed?"""
        return self._observes or not self.suite.repeatable


def digest(judged: Judged) -> str:
    """64 bits (hex) of a case's results: the same on every machine and Python version."""
    observed = [UNDEFINED if step.expected is UNDEFINED else step.observed for step in judged.steps]
    packed = _packed(observed)
    if packed is None:
        packed = repr(observed).encode("utf-8", "backslashreplace")
    return blake2b(packed, digest_size=8).hexdigest()


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
    if isinstance(result, Undefined):
        return ...
    return (b"error", result.code, result.definite, *result.commits)


def fingerprint_of(suite: Suite, step: Step) -> str:
    """Equal for two divergences that differ in nothing but values.

    It depends on suite, operation, responsible rule, and the classes of what was expected and observed: not on seed,
    number of steps, arguments or kind of state, so that it is the same before and after shrinking.
    """
    name, expected, observed = first_difference(suite, step)
    parts = (
        suite.name,
        suite.operations[step.row[0]].spec.name,
        responsible(suite, step),
        name,
        _kind(expected),
        _kind(observed),
    )
    return blake2b(repr(parts).encode(), digest_size=4).hexdigest()


def fingerprints_of(suite: Suite, step: Step) -> dict[str, str]:
    """The fingerprints that a step which differs would have by each of its parts alone, with their names."""
    parts = differing_parts(suite.operations[step.row[0]].spec, step.expected, step.observed)
    return {fingerprint_of(suite, showing(suite, step, {part})): part for part in parts or ("",)}


def _kind(result: Expected) -> str:
    """The class of a result, without what shrinking would change: whether a number is 0."""
    return "number" if outcome_class(result) in ("zero", "positive") else outcome_class(result)


def forecast(step: Step) -> Forecast:
    """What is known of a step before it is played."""
    return step.row[0], step.why.rules, step.why.kind, outcome_class(step.expected)


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
