"""What diverges in a suite: each kind is shrunk and reported once, and generated plans avoid it from then on.

A case goes on after a divergence, so that one hides no other. What differs later may follow from what differed before,
though, and is reported only when that is ruled out: when a plan without the earlier steps shows it too, or when
the model's state after them is certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rocketmq_conformance.conformance.adapter import CRASHED
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.corpus import SUFFIX, StoredCase
from rocketmq_conformance.conformance.engine.divergence import divergence_event, listen, plan_file
from rocketmq_conformance.conformance.engine.judge import Forecast, Judge, Judged, fingerprint_of, forecast
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.player import BROKEN, Player
from rocketmq_conformance.conformance.engine.shrink import BUDGET, Shrunk, shrink
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.transcript import Message
from rocketmq_conformance.models.outcome import outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DivergenceFound
from rocketmq_conformance.reports.tiers import CORPUS, HYPOTHESIS
from rocketmq_conformance.suites.declare.answer_parts import showing_as
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row

#: Executions that shrinking may take when each takes its time: by a real clock, or to start a process again.
IN_TIME = 40
#: The same where a case is the life of several processes.
IN_MINUTES = 8
#: Cases in which it is tried whether a kind shows without the divergences before it.
ATTEMPTS = 3
#: Why the plan of a divergence is as it was found.
NOT_SHRUNK_BROKEN = "the implementation could not be played again"
NOT_SHRUNK_INTERRUPTED = "the run was interrupted"
NOT_SHRUNK_BRIEF = "a first look shrinks nothing"
NOT_SHRUNK_AGAIN = "another case of this kind was shrunk"


class Findings:
    """The divergences of one suite in a run."""

    def __init__(
        self,
        stage: Stage,
        judge: Judge,
        profile: Profile,
        options: Options,
        stored: Mapping[int, StoredCase],
        may_shrink: Callable[[], bool],
    ) -> None:
        self._may_shrink = may_shrink
        self._stage = stage
        self._judge = judge
        self._suite = judge.suite
        self._profile = profile
        self._options = options
        self._stored = stored
        #: Fingerprints that are reported already.
        self._reported: set[str] = set()
        #: Fingerprints whose plan is on disk.
        self._kept: set[str] = set()
        #: Steps that generated plans avoid.
        self._avoided: set[Forecast] = set()
        #: Cases in which a kind showed only after other divergences.
        self._consequences: Counter[str] = Counter()

    @property
    def consequences(self) -> int:
        """Kinds that only showed after other divergences, whose consequences they may be; they are not reported."""
        return len(self._consequences.keys() - self._reported)

    def avoid(self, differences: Iterable[Judged]) -> None:
        """Avoid these divergences in plans that are generated from now on."""
        self._avoided.update(forecast(one.steps[-1]) for one in differences)

    def avoiding(self, number: int, rows: list[Row]) -> list[Row]:
        """The plan to be played as a case: every other one avoids what is known to diverge.

        The others go through it, since some faults only show behind it.
        """
        if not self._avoided or number % 2 == 0:
            return rows
        left = self._judge.without(rows, self._avoided)
        plays = any(self._suite.operations[at].spec.side is not Side.WORLD for at, _ in left)
        return left if plays else rows

    def report(self, player: Player, number: int, judged: Judged, doubt: str = "") -> Iterator[DivergenceFound]:
        """The events of a case up to a step that diverges: none while that may follow from an earlier one.

        ``doubt`` is why the difference decides nothing, if it does not.
        """
        fingerprint = fingerprint_of(self._suite, judged.steps[-1])
        found = len(judged.steps)
        if self._options.brief:
            yield self._event(number, fingerprint, Shrunk(judged, 0), found, [], NOT_SHRUNK_BRIEF, doubt)
            return
        if fingerprint in self._reported:
            yield self._event(number, fingerprint, Shrunk(judged, 0), found, [], NOT_SHRUNK_AGAIN, doubt)
            return
        alone = self._isolate(player, number, fingerprint, judged)
        if alone is None and judged.certain < len(judged.differing) - 1:
            return
        goes_on = alone is None
        shrunk, messages, why = Shrunk(alone or judged, 0), list[list[Message]](), NOT_SHRUNK_BROKEN
        try:

            def execute(rows: Sequence[Row]) -> Judged:
                return self._up_to(fingerprint, judged.steps[-1], player.execute(rows, number, goes_on=goes_on))

            shrunk, why = shrink(self._judge, execute, shrunk.judged, self._budget(judged), self._may_shrink), ""
            if self._may_shrink() and not self._stage.turns:  # whose brokers are its own
                shrunk, messages = listen(self._stage, self._judge, shrunk, number, goes_on=goes_on)
        except BROKEN:
            pass  # reported as found, without shrinking or messages
        except KeyboardInterrupt:
            yield self._event(number, fingerprint, shrunk, found, messages, why and NOT_SHRUNK_INTERRUPTED, doubt)
            raise
        self._reported.add(fingerprint)
        yield self._event(number, fingerprint, shrunk, found, messages, why, doubt)

    def knows(self, fingerprint: str) -> bool:
        """Does reporting a divergence of this kind play nothing?"""
        return self._options.brief or fingerprint in self._reported

    def as_found(self, number: int, judged: Judged, why: str, doubt: str = "") -> DivergenceFound:
        """The event of a divergence for which there is no time."""
        fingerprint = fingerprint_of(self._suite, judged.steps[-1])
        return self._event(number, fingerprint, Shrunk(judged, 0), len(judged.steps), [], why, doubt)

    def _isolate(self, player: Player, number: int, fingerprint: str, judged: Judged) -> Judged | None:
        """The case without the steps that diverge before the last one, if the last one then diverges as before."""
        earlier = judged.differing[:-1]
        if not earlier:
            return judged
        self._consequences[fingerprint] += 1
        if self._consequences[fingerprint] > ATTEMPTS or not self._may_shrink():
            return None
        rows = [row for at, row in enumerate(judged.rows) if at not in earlier]
        try:
            found = player.execute(rows, number)
        except BROKEN:
            return None
        same = found.differing and fingerprint_of(self._suite, found.steps[-1]) == fingerprint
        return found if same else None

    def _up_to(self, fingerprint: str, found: Step, judged: Judged) -> Judged:
        """A case up to the divergence of this kind; one that conforms when the case does not show it for certain.

        On a real clock other parts of the answer than those of the step that was ``found`` may differ at times.
        """
        for one in judged.differences():
            if self._stage.times:
                one.steps[-1] = showing_as(self._suite, one.steps[-1], found)
            if fingerprint_of(self._suite, one.steps[-1]) == fingerprint and one.certain >= len(one.differing) - 1:
                return one
        return Judged(CONFORMS)

    def _budget(self, judged: Judged) -> int:
        """Executions that shrinking may take."""
        if self._suite.confirmations and self._stage.times:
            return IN_MINUTES
        return IN_TIME if self._stage.times or outcome_class(judged.steps[-1].observed) == CRASHED else BUDGET

    def _event(
        self,
        number: int,
        fingerprint: str,
        shrunk: Shrunk,
        found: int,
        messages: list[list[Message]],
        unshrunk: str,
        doubt: str,
    ) -> DivergenceFound:
        """The event of a divergence; ``unshrunk`` is why it was not shrunk, or "".

        The first of its kind is kept as a plan when it is minimal; the others are replayed from the seed.
        """
        path, options = "", self._options
        command = self._replay_command(number)
        if options.out and not unshrunk and fingerprint not in self._kept:
            self._kept.add(fingerprint)
            stored = self._stored.get(number)
            kept, seed = (stored.number, stored.seed) if stored else (number, options.seed)
            file = plan_file(options.out, self._suite, fingerprint)
            plan.write(file, self._suite, self._profile, seed, [(kept, shrunk.judged.rows)])
            path = str(file)
            command = ["replay", path, options.address]
        command += options.judged_as
        return divergence_event(
            self._suite,
            number,
            fingerprint,
            shrunk,
            found,
            path,
            command,
            messages=messages,
            unshrunk=unshrunk,
            doubt=doubt,
        )

    def _replay_command(self, number: int) -> list[str]:
        """The words of the command line that play a case of this run once more, by itself where that can be asked."""
        options = self._options
        stored = self._stored.get(number)
        if stored and stored.tier == CORPUS:
            return ["replay", str(stored.path), options.address, "--case", str(stored.number)]
        if options.plan:
            return ["replay", str(options.plan), options.address, "--case", str(number)]
        words = ["run", options.address, "-k", self._suite.name]
        if stored:
            return [*words, "--tier", stored.tier]
        cases = self._suite.cases if options.cases is None else options.cases
        given = self._suite.name in options.plans
        drawn = number >= cases and not given
        if options.out and (drawn or given):
            return ["replay", str(options.out / f"{self._suite.name}{SUFFIX}"), options.address, "--case", str(number)]
        if given and options.plans_again:
            return [*options.plans_again]
        seed = ["--seed", str(options.seed)]
        if drawn:  # how many examples there are decides what is drawn
            return [*words, "--tier", HYPOTHESIS, *seed, "--examples", str(options.examples_of(self._suite))]
        words += [*seed, "--cases", str(number + 1)]
        if options.steps:
            words += ["--steps", str(options.steps)]
        return words
