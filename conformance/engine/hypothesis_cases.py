"""Cases that Hypothesis draws for a run, one by one, by the machine of a suite.

Hypothesis looks for plans with pairs of behaviours that no earlier plan had, and keeps those that diverge in its
example database: the next run begins with them. Plans are drawn on the model alone; the run plays and judges them like
any others. Hypothesis calls, where a run asks, so it works in a thread of its own, which waits for every verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from queue import SimpleQueue
from threading import Thread

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings, target
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from rocketmq_conformance.conformance.engine.judge import Forecast
from rocketmq_conformance.conformance.engine.model_tour import Seen, Tours
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.hypothesis_machine import Args, with_rules
from rocketmq_conformance.suites.declare.indeterminate import FEW_REQUESTS
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: The folder of the example database, in the current one: where Hypothesis has it in tests.
DATABASE = ".hypothesis/examples"
#: What Hypothesis does: it neither shrinks nor explains, as the run shrinks in fewer plays.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.target)


class _DivergesError(Exception):
    """A plan diverges."""


class _Closed(KeyboardInterrupt):
    """Nobody asks for plans any more, or there are enough. Hypothesis lets an interrupt through."""


class HypothesisCases:
    """An iterator of at most ``examples`` plans. Say :meth:`diverges` before the next one is asked for."""

    def __init__(self, suite: Suite, profile: Profile, examples: int, random_seed: int) -> None:
        self._suite = suite
        self._profile = profile
        self._examples = examples
        self._seed = random_seed
        self._tours = Tours(suite, profile)
        self._plans: SimpleQueue[list[Row] | BaseException | None] = SimpleQueue()
        #: Answers of the run: did the plan diverge? None when it is closed.
        self._answers: SimpleQueue[bool | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._diverges = False
        self._ended = False
        #: Whether each plan so far diverged.
        self._verdicts: dict[tuple[Row, ...], bool] = {}
        #: Pairs of behaviours that plans have shown.
        self._known: set[tuple[Forecast, Forecast]] = set()

    def __iter__(self) -> Iterator[list[Row]]:
        return self

    def __next__(self) -> list[Row]:
        if self._ended:
            raise StopIteration
        if self._thread is None:
            self._thread = Thread(target=self._search, name=f"hypothesis {self._suite.name}", daemon=True)
            self._thread.start()
        else:
            self._answers.put(self._diverges)
        self._diverges = False
        plan = self._plans.get()
        if isinstance(plan, list):
            return plan
        self._ended = True
        raise plan or StopIteration

    def diverges(self) -> None:
        """The latest plan diverges."""
        self._diverges = True

    def close(self) -> None:
        """End the search; no plan may be asked for any more."""
        if self._thread:
            self._answers.put(None)
            self._thread.join()

    def _search(self) -> None:
        try:
            while self._examples > len(self._verdicts):
                if self._round():
                    break
        except _Closed:
            pass
        except BaseException as error:
            self._plans.put(error)
            return
        self._plans.put(None)

    def _round(self) -> bool:
        """Search until a plan diverges that did not in an earlier round; is the search over?"""
        settled = set(self._verdicts)
        options = settings(
            max_examples=self._examples - len(self._verdicts),
            stateful_step_count=self._suite.steps,
            deadline=None,
            phases=_PHASES,
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            # a later round would drop from it what an earlier one found
            database=None if self._verdicts else DirectoryBasedExampleDatabase(DATABASE),
        )
        try:
            run_state_machine_as_test(self._machine(settled), settings=options)
        except (_DivergesError, Flaky):
            return False
        return True

    def _machine(self, settled: set[tuple[Row, ...]]) -> type[RuleBasedStateMachine]:
        """The machine of the suite on its model alone."""
        tours, asked, known = self._tours, self._asked, self._known
        operations = self._suite.operations

        class Drawn(RuleBasedStateMachine):
            def __init__(self) -> None:
                super().__init__()
                self.place = tours.begin
                self.seen: list[Seen] = []

            def allows(self, position: int) -> bool:
                return tours.allows(position, self.place)

            def may_be_doubtful(self) -> bool:
                # later answers may settle some of them, but which ones only the play shows
                return sum(operations[step.row[0]].spec.may_be_indeterminate for step in self.seen) < FEW_REQUESTS

            def step(self, position: int, args: Args) -> None:
                self.seen += tours.play([(position, args)], self.place)
                self.place = self.seen[-1].after

            def teardown(self) -> None:
                plan = tuple(step.row for step in self.seen)
                if not plan or not tours.decides(self.seen):
                    return  # nothing would be judged
                new = set(pairwise(step.behaviour for step in self.seen)) - known
                target(float(len(new)), label="new pairs of behaviours")
                if asked(plan) and plan not in settled:
                    raise _DivergesError

        return seed(self._seed + len(settled))(with_rules(Drawn, self._suite, self._profile))

    def _asked(self, plan: tuple[Row, ...]) -> bool:
        """Does a plan diverge? A plan is played once."""
        if plan not in self._verdicts:
            if len(self._verdicts) == self._examples:
                raise _Closed
            self._known.update(pairwise(step.behaviour for step in self._tours.play(plan)))
            self._plans.put(list(plan))
            answer = self._answers.get()
            if answer is None:
                raise _Closed
            self._verdicts[plan] = answer
        return self._verdicts[plan]
