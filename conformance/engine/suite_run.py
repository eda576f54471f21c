"""One suite of a run: its cases, its divergences, its control, and the verdict on it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.control import control
from rocketmq_conformance.conformance.engine.corpus import CorpusCase
from rocketmq_conformance.conformance.engine.divergence import divergence_event, listen, plan_file
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, fingerprint
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.player import BROKEN, Numbered, Played, Player
from rocketmq_conformance.conformance.engine.shrink import BUDGET, Shrunk, shrink
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.transcript import Message
from rocketmq_conformance.conformance.engine.verdict import together
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED, UNSUPPORTED, Event
from rocketmq_conformance.suites.declare.reach import reachable
from rocketmq_conformance.suites.declare.suite import Suite

#: Cases in a row that cannot be run before a suite is given up.
GIVE_UP = 3
#: Executions that shrinking may take when each takes its time.
IN_TIME = 40
#: Seconds between two progress events.
PROGRESS = 0.25


class Stop(Exception):  # noqa: N818 - not an error: the run ends here
    """The run ends before its time; the text says why."""


class SuiteRun:
    """Plays one suite of a run, as a stream of events."""

    def __init__(
        self,
        stage: Stage,
        refused: str,
        doubts: Doubts,
        profile: Profile,
        options: Options,
        suite: Suite,
        *,
        of: int,
        share: float | None,
        corpus: Mapping[int, CorpusCase],
        writer: plan.PlanWriter | None,
    ) -> None:
        self.stage = stage
        #: Why the implementation does not offer the suite, or "".
        self.refused = refused
        self.profile = profile
        self.options = options
        self.suite = suite
        #: Number of its cases.
        self.of = of
        #: Cases of the corpus, by the negative number that they have in this run.
        self.corpus = corpus
        #: Seconds of playing after which no case begins: every suite gets its share of the time limit.
        self.share = share
        #: Writes the plan, case by case, where one is kept.
        self.writer = writer
        self.judge = Judge(suite, profile.judged())
        #: What may explain a divergence of the implementation.
        self.doubts = doubts
        self.counts = dict.fromkeys(event.VERDICTS, 0)
        self.steps = 0
        self.divergences = 0
        self.verdict = UNDECIDED
        #: Was the planted wrong answer noticed? None when none could be planted.
        self.control: bool | None = None
        #: Rules that could have fired, and never did; a plan that is replayed is not meant to reach any.
        self.silent: list[str] = []
        #: Did the time limit end the suite before its last case?
        self.cut_short = False
        self.started = time.monotonic()
        #: Seconds that drawing and writing plans took.
        self.planning = 0.0
        self.last_progress = 0.0
        self.unsupported: dict[str, str] = {}
        #: The fingerprint under which a divergence is reported, after shrinking, by the one it was found with.
        self.reported: dict[str, str] = {}
        #: Fingerprints whose plan is on disk.
        self.kept: set[str] = set()
        self.failed_in_row = 0
        self.reason = ""
        #: A case that conformed, for the control: a generated one if there is any.
        self.good: Numbered | None = None
        self.done = 0
        #: Cases among them that are not of the corpus: generated ones, or those of a given plan.
        self.generated = 0
        #: Events of cases that cannot be played here; they are handed over with the next case.
        self._waiting: list[Event] = []

    @property
    def playing(self) -> float:
        """Seconds since the suite began, without those for its plan."""
        return time.monotonic() - self.started - self.planning

    def run(self, cases: Iterable[Numbered]) -> Iterator[Event]:
        """Play the cases (``of`` of them), then the control; always ends with SuiteEnded.

        Stop and KeyboardInterrupt go on after it.
        """
        stop: BaseException | None = None
        if self.refused:
            self.reason = self.refused
            for number, _ in cases:
                yield from self._count(Played(number, [], UNSUPPORTED, 0, 0.0, "", self.refused))
        else:
            try:
                yield from self._play(cases)
                if self.good is not None:
                    self.control = control(self.stage, self.judge, self.good[1])
            except (Stop, KeyboardInterrupt) as error:
                stop = error
                self.reason = f"{str(error) or event.INTERRUPTED} after {self.done} of {self.of} cases"
            except BROKEN as error:
                self.reason = str(error)
            yield from self._waiting
        yield self._end(stop)
        if stop:
            raise stop

    def _play(self, cases: Iterable[Numbered]) -> Iterator[Event]:
        player = Player(self.stage, self.judge, self.doubts)
        for played in player.play(self._offered(self._in_time(cases))):
            yield from self._settle(player, played)
        if self.cut_short:
            self.reason = f"{event.TIME_LIMIT} after {self.done} of {self.of} cases"

    def _in_time(self, cases: Iterable[Numbered]) -> Iterator[Numbered]:
        """The cases that begin before the suite's share of the time is used up; the first one always does."""
        waiting = iter(cases)
        for at in range(self.of):
            if at and self.share is not None and self.playing >= self.share:
                self.cut_short = True
                return
            yield self._planned(waiting)

    def _planned(self, cases: Iterator[Numbered]) -> Numbered:
        """The next case, which is in the plan file from now on."""
        begin = time.monotonic()
        number, rows = next(cases)
        if self.writer and number not in self.corpus:
            self.writer.add(number, rows)
        self.planning += time.monotonic() - begin
        return number, rows

    def _offered(self, cases: Iterable[Numbered]) -> Iterator[Numbered]:
        """The cases that can be played; a plan of the corpus may be for another release, and counts as that."""
        for number, rows in cases:
            lacking = self.suite.lacking(self.profile, rows) if number in self.corpus else ""
            if lacking:
                reason = f"{self.profile} has no {lacking}"
                self._waiting += self._count(Played(number, rows, UNSUPPORTED, 0, 0.0, "", reason))
            else:
                yield number, rows

    def _settle(self, player: Player, played: Played) -> Iterator[Event]:
        waiting, self._waiting = self._waiting, []
        yield from waiting
        yield from self._count(played)
        self.failed_in_row = self.failed_in_row + 1 if played.verdict == COULD_NOT_RUN else 0
        if self.failed_in_row >= GIVE_UP:
            raise AdapterError(
                f"given up after {self.failed_in_row} cases in a row that could not be run: {played.reason}"
            )
        if played.verdict == CONFORMS and (self.good is None or self.good[0] < 0 <= played.number):
            self.good = played.number, played.rows if played.judged is None else played.judged.rows
        if played.judged is not None:
            self.unsupported.update(played.judged.unsupported)
            if played.verdict == DIVERGES:
                yield from self._diverged(player, played.number, played.judged)

    def _count(self, played: Played) -> list[Event]:
        """Count a case; its events."""
        self.counts[played.verdict] += 1
        self.steps += played.steps
        self.done += 1
        self.generated += played.number not in self.corpus
        ended = event.CaseEnded(
            suite=self.suite.name,
            case=played.number,
            verdict=played.verdict,
            steps=played.steps,
            seconds=played.seconds,
            digest=played.digest,
            reason=played.reason,
        )
        now = time.monotonic()
        if now - self.last_progress < PROGRESS:
            return [ended]
        self.last_progress = now
        return [
            ended,
            event.Progress(
                suite=self.suite.name,
                cases=self.done,
                of=self.of,
                steps=self.steps,
                seconds=now - self.started,
            ),
        ]

    def _diverged(self, player: Player, number: int, judged: Judged) -> Iterator[Event]:
        self.divergences += 1
        found = fingerprint(self.suite, judged.steps[-1])
        mark = self.reported.get(found)
        shrunk, minimal = Shrunk(judged, 0), False
        messages: list[list[Message]] = []
        if mark is None:
            try:
                budget = IN_TIME if self.stage.times else BUDGET
                shrunk = shrink(self.judge, lambda rows: player.execute(rows, number, count=False), judged, budget)
                minimal = True
                shrunk, messages = listen(self.stage, self.judge, shrunk, number)
            except BROKEN:
                pass  # reported as found, without shrinking or messages
            except KeyboardInterrupt:
                yield self._report(number, found, shrunk, len(judged.steps), messages, minimal=minimal)
                raise
            mark = self.reported[found] = fingerprint(self.suite, shrunk.judged.steps[-1])
        yield self._report(number, mark, shrunk, len(judged.steps), messages, minimal=minimal)
        if self.options.stop_at_first:
            raise Stop("first divergence")

    def _report(
        self, number: int, mark: str, shrunk: Shrunk, found: int, messages: list[list[Message]], *, minimal: bool
    ) -> Event:
        """The event of a divergence.

        The first of its kind is kept as a plan when that is ``minimal``; the others are replayed from the seed.
        """
        path, options = "", self.options
        command = self._again(number)
        if options.out and minimal and mark not in self.kept:
            self.kept.add(mark)
            of = self.corpus.get(number)
            kept, seed = (of.number, of.seed) if of else (number, options.seed)
            file = plan_file(options.out, self.suite, mark)
            plan.write(file, self.suite, self.profile, seed, [(kept, shrunk.judged.rows)])
            path = str(file)
            command = ["replay", path, options.address]
        command += options.judged_as
        return divergence_event(self.suite, number, mark, shrunk, found, path, command, messages)

    def _again(self, number: int) -> list[str]:
        """The words of the command line that play a case of this run once more."""
        options = self.options
        if number in self.corpus:
            of = self.corpus[number]
            return ["replay", str(of.path), options.address, "--case", str(of.number)]
        if options.plan:
            return ["replay", str(options.plan), options.address, "--case", str(number)]
        words = ["run", options.address, "-k", self.suite.name, "--seed", str(options.seed)]
        words += ["--cases", str(number + 1)]
        if options.steps:
            words += ["--steps", str(options.steps)]
        return words

    def _end(self, stop: BaseException | None) -> event.SuiteEnded:
        self.verdict = self._judged(stop)
        coverage = self.judge.coverage.rows()
        fired = {row[0] for row in coverage}
        if self.done and not self.refused and not self.options.plan:
            self.silent = [rule for rule in reachable(self.suite, self.profile) if rule not in fired]
        if self.verdict == UNDECIDED and (self.cut_short or not self.reason):
            self.reason = ": ".join(filter(None, (self.reason, self._why_undecided())))
        return event.SuiteEnded(
            suite=self.suite.name,
            verdict=self.verdict,
            cases=dict(self.counts),
            steps=self.steps,
            seconds=time.monotonic() - self.started,
            coverage=coverage,
            silent_rules=self.silent,
            control=self.control,
            unsupported=self.unsupported,
            reason=self.reason,
        )

    def _judged(self, stop: BaseException | None) -> str:
        """The verdict. What the corpus alone says is no pass: its plans are few, and known to implementers."""
        verdict = together(self.counts)
        if verdict == CONFORMS:
            return UNDECIDED if stop or not self.control or self._by_corpus_alone else CONFORMS
        return UNDECIDED if verdict == UNSUPPORTED and not self.generated else verdict

    @property
    def _by_corpus_alone(self) -> bool:
        """Do plans of the corpus conform, and no other case?"""
        return self.good is not None and self.good[0] in self.corpus

    def _why_undecided(self) -> str:
        if self.counts[UNDECIDED]:
            return f"{self.counts[UNDECIDED]} cases decided nothing"
        if not self.generated:
            return "no generated case was played"
        if self._by_corpus_alone:
            return "no generated case conforms, only plans of the corpus do"
        return "the planted wrong answer was not noticed" if self.control is False else "no control could be played"
