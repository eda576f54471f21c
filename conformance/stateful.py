"""Hypothesis machines for the tests of other projects: any suite, against any address or adapter.

docs/tutorial/hypothesis.md is the tutorial. A machine opens what it judges with its first case, or when its
``TestCase`` begins, and closes it when that ends, or the process does.
"""

from __future__ import annotations

import atexit
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, cast
from unittest import SkipTest, TestCase

from hypothesis import currently_in_test_context, event, settings

from rocketmq_conformance.conformance.adapter import Adapter
from rocketmq_conformance.conformance.engine import plan as plan_files
from rocketmq_conformance.conformance.engine.divergence import divergence_event
from rocketmq_conformance.conformance.engine.doubt import NotedDoubts
from rocketmq_conformance.conformance.engine.judge import Judged, fingerprint_of
from rocketmq_conformance.conformance.engine.shrink import Shrunk
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.opening import Opening, opened
from rocketmq_conformance.conformance.strategies import DrawnPlan, positions_of
from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.divergence_block import what_differs
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.reports.text import clean
from rocketmq_conformance.suites.declare.discovery import suite_of
from rocketmq_conformance.suites.declare.hypothesis_machine import (
    Playing,
    SuiteMachine,
    play_plan,
    playing,
    walk,
    with_rules,
)
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: What a machine judges: an address, an adapter, or what makes one.
Target = str | Adapter | Callable[[], Adapter]
#: Stands for the address of an adapter that no module names.
UNNAMED = "ADDRESS"


class _Subject:
    """What the cases of a machine are played on, once it is open, and what they showed."""

    def __init__(self, suite: Suite, target: Target, releases: Mapping[str, str], quirks: bool | None) -> None:
        self.suite = suite
        self._target = target
        self._releases = releases
        self._quirks = quirks
        self._open = ExitStack()
        self._playing: Playing | None = None
        self.stage: Stage | None = None
        #: Cases that decided something.
        self.decided = 0
        #: The command and the plan that show the last difference once more, or "".
        self.replay = ""

    def playing(self) -> Playing:
        """How steps are played; SkipTest with the reason when it does not offer the suite, CannotRunError and
        AdapterError as of opening it."""
        if self._playing is None:
            self._playing = self._opened()
        return self._playing

    def _opened(self) -> Playing:
        made = self._target() if callable(self._target) else self._target
        entered = self._open.enter_context(opened(Opening(made, self._releases), [self.suite]))
        atexit.register(self._open.close)
        self.stage, hello, _ = entered
        refused = hello.refuses(self.suite)
        if refused:
            self.close()
            raise SkipTest(f"{self.suite.name} is unsupported: {clean(refused)}")
        self.doubted = NotedDoubts(hello)
        quirks = hello.quirks if self._quirks is None else self._quirks
        return playing(self.suite, self.stage, self.doubted, quirks=quirks)

    @contextmanager
    def replayable(self) -> Iterator[None]:
        """Print how the difference is played again that ends what is done here, where no report breaks its lines."""
        self.replay = ""
        try:
            yield
        except BaseException:
            if self.replay:
                unnamed = f" (write the address of your adapter for {UNNAMED})" if self.address == UNNAMED else ""
                print(f"Play it again{unnamed}:\n\n{self.replay}\n")
            raise

    def close(self) -> None:
        """Close what can be opened again."""
        if isinstance(self._target, str) or callable(self._target):
            atexit.unregister(self._open.close)
            self._open.close()
            self._playing = self.stage = None

    @property
    def address(self) -> str:
        """Its address, as far as that is known."""
        if isinstance(self._target, str):
            return self._target
        module, name = getattr(self._target, "__module__", ""), getattr(self._target, "__qualname__", "")
        return f"python:{module}:{name}" if name and "<" not in name else UNNAMED

    @property
    def replay_words(self) -> list[str]:
        """The command that plays a plan of standard input as it was played here."""
        releases = [word for side, release in self._releases.items() for word in ("--with", f"{side}={release}")]
        return ["rocketmq-conformance", "replay", "-", self.address, *releases, *(["--quirks"] if self._quirks else [])]


class _TestCaseOf:
    """The ``TestCase`` of a machine, as Hypothesis makes it, with what is pinned, opened and concluded around it."""

    def __get__(self, state: object, owner: type[ConformanceMachine]) -> type[TestCase]:
        return _test_case(owner)


class ConformanceMachine(SuiteMachine):
    """A case of a suite as a Hypothesis machine: one rule per operation, named like it, with its arguments by name.

    Rules, invariants and preconditions of your own go into a subclass. ``answers`` is what was done so far.
    """

    subject: ClassVar[_Subject]
    #: Plans that a TestCase plays before it searches.
    pinned: ClassVar[Sequence[tuple[str, list[Row]]]] = ()
    TestCase = _TestCaseOf()  # type: ignore[assignment]

    def __init__(self) -> None:
        # opened before the first case; a class attribute, as that is what the cases of a machine share
        type(self).playing = self.subject.playing()
        super().__init__()
        self._offered = frozenset(self.suite.offered(self._stage.profile))

    @property
    def _stage(self) -> Stage:
        return cast(Stage, self.playing.playground)

    @property
    def adapter(self) -> Adapter:
        """The adapter that is judged."""
        return self._stage.adapter

    @property
    def answers(self) -> list[tuple[Operation, Expected]]:
        """The operations of the case that were judged, each with its answer: a value, or an ``Err``."""
        return [(self.suite.operation(step.row), step.observed) for step in self.steps]

    def allows(self, position: int) -> bool:
        """Do these releases have the operation, and may it be done now?"""
        return position in self._offered and super().allows(position)

    def difference(self) -> str:
        """The last step, which differs: its consequence, its rule and both answers."""
        last = self.steps[-1]
        shrunk = Shrunk(Judged(DIVERGES, list(self.steps)), 0)
        found = divergence_event(self.suite, 0, fingerprint_of(self.suite, last), shrunk, len(self.steps), "", ())
        expected, observed = what_differs(found)
        rule = found.rules[0]
        command = shlex.join(self.subject.replay_words)
        plan = plan_files.plan_text(self.suite, self._stage.profile, [step.row for step in self.steps])
        self.subject.replay = f"{command} <<'PLAN'\n{plan}PLAN"
        lines = [
            f"{self.suite.name}, step {len(self.steps)}: {self.suite.operation(last.row)}",
            f"{found.harm}: {found.consequence}" if found.consequence else "",
            f"rule      {rule['id']} ({rule['level']}): {rule['sentence']}",
            f"state     {last.why.kind}",
            f"expected  {expected}",
            f"observed  {observed}",
        ]
        return "\n".join(clean(line) for line in lines if line)

    def teardown(self) -> None:
        """End the case."""
        subject = self.subject
        self._stage.end()
        if all(self.suite.operations[step.row[0]].spec.side is Side.WORLD for step in self.steps):
            event("nothing was decided")
            return
        subject.decided += 1

    @classmethod
    def play(cls, plan: str | Path | DrawnPlan) -> list[tuple[Operation, Expected]]:
        """Play a plan, drawn or of a file; AssertionError where it diverges. The answers of its last case.

        SkipTest where the releases lack one of its operations; ValueError for a file that is no plan of this suite.
        """
        state: Any = None
        for name, rows in _cases(cls.suite, plan):
            lacking = cls.suite.lacking(cls.subject.playing().playground.profile, rows)
            if lacking:
                raise SkipTest(
                    f"{name} plays {lacking}, which {cls.subject.playing().playground.profile} does not have"
                )
            if currently_in_test_context():
                state = walk(cls, cls.suite, rows)
            else:
                with cls.subject.replayable():
                    state = play_plan(cls, cls.suite, name, rows)
        return state.answers if state else []


@cache
def _test_case(machine: type[ConformanceMachine]) -> type[TestCase]:
    base: Any = super(ConformanceMachine, machine).TestCase

    class MachineTestCase(base):  # type: ignore[misc]
        settings = settings(base.settings, stateful_step_count=machine.suite.steps)

        @classmethod
        def setUpClass(cls) -> None:
            machine.subject.playing()

        @classmethod
        def tearDownClass(cls) -> None:
            machine.subject.close()

        def runTest(self) -> None:  # noqa: N802
            subject = machine.subject
            subject.decided = 0
            with subject.replayable():
                for name, rows in machine.pinned:
                    play_plan(machine, machine.suite, name, rows)
                super().runTest()
            reasons = subject.doubted.take()
            if reasons or not subject.decided:
                raise SkipTest("; ".join(reasons) or "no case decided anything")

    # what the pytest plugin of Hypothesis and HypoFuzz look for
    vars(MachineTestCase.runTest).update(vars(base.runTest))
    MachineTestCase.__name__, MachineTestCase.__qualname__ = base.__name__, base.__qualname__
    return MachineTestCase


def machine(
    suite: str | Suite,
    target: Target = "port",
    *,
    releases: Mapping[str, str] | None = None,
    quirks: bool | None = None,
    operations: str | Collection[str] | None = None,
    plans: str | Path | Iterable[str | Path] = (),
) -> type[ConformanceMachine]:
    """A ``RuleBasedStateMachine`` that judges an address, an adapter, or what a function makes, by a suite.

    ``releases`` say which release judges a side, as in ``run``; ``quirks`` whether accidents of Java are judged, by
    default as the adapter says. With ``operations`` it has the rules of these alone. ``plans`` are files whose cases
    its ``TestCase`` plays before it searches.

    ValueError for what does not exist: a suite, a release, an operation, a plan of this suite.
    """
    known = suite_of(suite)
    _check_releases(releases or {})
    files = [plans] if isinstance(plans, str | Path) else plans
    positions = positions_of(known, [operations] if isinstance(operations, str) else [*(operations or ())])
    fields = {
        "suite": known,
        "subject": _Subject(known, target, releases or {}, quirks),
        "pinned": [case for plan in files for case in _cases(known, plan)],
        "__module__": __name__,
    }
    base = type("Machine", (ConformanceMachine,), fields)
    return cast("type[ConformanceMachine]", with_rules(base, known, positions))


def _check_releases(releases: Mapping[str, str]) -> None:
    """ValueError with a sentence for a side, or a release, that there is none of."""
    unknown = [side for side in releases if side not in ("client", "broker", "java")]
    if unknown or isinstance(releases, str):
        raise ValueError(
            f"releases={releases!r} is not understood: say which release judges a side, such as "
            "{'client': '4.9.8', 'broker': '5.1.4', 'java': '11'}."
        )
    for side in {"client", "broker"} & releases.keys():
        Release.parse(releases[side])


def _cases(suite: Suite, plan: str | Path | DrawnPlan) -> Sequence[tuple[str, list[Row]]]:
    """The cases of a plan, with a name each; ValueError when it is none of the suite."""
    if isinstance(plan, DrawnPlan):
        read, name = plan.suite, "a drawn plan"
        cases = [(name, list(plan.rows))]
    else:
        given, name = plan_files.read(Path(plan)), Path(plan).name
        read, cases = given.suite, given.named(name)
    if read is not suite:
        raise ValueError(f"{name} is a plan of {read.name}, not of {suite.name}.")
    return cases
