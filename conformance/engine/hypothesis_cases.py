"""Cases that Hypothesis draws for a run, one by one, by the machine of a suite.

Hypothesis keeps plans that diverge in its example database: the next run begins with them. It is not given a target:
with the score of new pairs of behaviours, cases took 1.4 to 1.8 times the processor and showed fewer pairs. Plans are
drawn on the model alone; the run plays and judges them like any others, many at once if it likes. So its verdicts come
late: with them the search is repeated at the end, up to the first plan that diverges. Hypothesis calls, where a run
asks, so it works in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from rocketmq_conformance.conformance.engine.model_tour import Seen, Tours
from rocketmq_conformance.conformance.engine.player import Numbered
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.hypothesis_machine import Args, with_rules
from rocketmq_conformance.suites.declare.indeterminate import FEW_REQUESTS
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: The folder of the example database, in the current one: where Hypothesis has it in tests.
DATABASE = ".hypothesis/examples"
#: What Hypothesis does: it neither shrinks nor explains, as the run shrinks in fewer plays.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)


class _DivergesError(Exception):
    """A plan diverges."""


class _Closed(KeyboardInterrupt):
    """Nobody asks for plans any more, or there are enough. Hypothesis lets an interrupt through."""


class _Postponed(ExampleDatabase):
    """A database as it is now; what changes in it is postponed."""

    def __init__(self, base: ExampleDatabase) -> None:
        super().__init__()
        self._base = base
        self._changes: list[Callable[[], None]] = []

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """All values of a key."""
        return self._base.fetch(key)

    def save(self, key: bytes, value: bytes) -> None:
        """Add a value, later."""
        self._changes.append(partial(self._base.save, key, value))

    def delete(self, key: bytes, value: bytes) -> None:
        """Remove a value, later."""
        self._changes.append(partial(self._base.delete, key, value))

    def write(self) -> None:
        """Do what was postponed."""
        for change in self._changes:
            change()


class HypothesisCases:
    """An iterator of at most ``examples`` cases, which are numbered from ``begin`` on."""

    def __init__(self, suite: Suite, profile: Profile, examples: int, random_seed: int, begin: int = 0) -> None:
        self._suite = suite
        self._profile = profile
        self._examples = examples
        self._seed = random_seed
        self._begin = begin
        self._tours = Tours(suite, profile)
        self._database = DirectoryBasedExampleDatabase(DATABASE)
        #: What the search adds and removes where no plan diverges.
        self._learned = _Postponed(self._database)
        #: Cases, what broke the search, and None once it has ended.
        self._cases: SimpleQueue[Numbered | BaseException | None] = SimpleQueue()
        #: Is a further plan asked for? Otherwise the search is closed.
        self._requests: SimpleQueue[bool] = SimpleQueue()
        self._thread: Thread | None = None
        self._ended = False
        #: The numbers of the plans that were drawn, and those of cases that diverge.
        self._drawn: dict[tuple[Row, ...], int] = {}
        self._diverging: set[int] = set()

    def __iter__(self) -> Iterator[Numbered]:
        return self

    def __next__(self) -> Numbered:
        if self._ended:
            raise StopIteration
        if self._thread is None:
            self._thread = Thread(target=self._draw, name=f"hypothesis {self._suite.name}", daemon=True)
            self._thread.start()
        else:
            self._requests.put(True)
        case = self._cases.get()
        if isinstance(case, tuple):
            return case
        self._ended = True
        raise case or StopIteration

    def diverges(self, number: int) -> None:
        """A case diverges; it need not be one of these."""
        self._diverging.add(number)

    def close(self) -> None:
        """End the search, and keep what it found; no case may be asked for any more."""
        if self._thread is None:
            return
        self._requests.put(False)
        self._thread.join()
        if self._diverging.isdisjoint(self._drawn.values()):
            self._learned.write()
            return
        with suppress(_DivergesError, Flaky):
            self._search(self._database, self._must_conform)

    def _draw(self) -> None:
        """Draw plans while they are asked for."""
        try:
            self._search(self._learned, self._hand_over)
        except _Closed:
            pass
        except BaseException as error:
            self._cases.put(error)
            return
        self._cases.put(None)

    def _search(self, database: ExampleDatabase, handle: Callable[[tuple[Row, ...]], None]) -> None:
        """Search with this database; it is the same each time, up to what ``handle`` raises for a plan."""
        options = settings(
            max_examples=self._examples,
            stateful_step_count=self._suite.steps,
            deadline=None,
            phases=_PHASES,
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            database=database,
        )
        run_state_machine_as_test(self._machine(handle), settings=options)

    def _machine(self, handle: Callable[[tuple[Row, ...]], None]) -> type[RuleBasedStateMachine]:
        """The machine of the suite on its model alone; ``handle`` gets every plan that decides something."""
        tours, operations = self._tours, self._suite.operations

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
                handle(plan)

        return seed(self._seed)(with_rules(Drawn, self._suite, self._suite.offered(self._profile)))

    def _hand_over(self, plan: tuple[Row, ...]) -> None:
        """Let the run play a plan, unless it has."""
        if plan in self._drawn:
            return
        if len(self._drawn) == self._examples:
            raise _Closed
        self._drawn[plan] = number = self._begin + len(self._drawn)
        self._cases.put((number, list(plan)))
        if not self._requests.get():
            raise _Closed

    def _must_conform(self, plan: tuple[Row, ...]) -> None:
        if self._drawn.get(plan) in self._diverging:
            raise _DivergesError
