"""One suite of a run: its cases, its divergences, its control, and the verdict on it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from rocketmq_conformance.conformance.adapter import AdapterError, TakesPart, TakesTime, UnderWay
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.control import carries, control
from rocketmq_conformance.conformance.engine.corpus import StoredCase
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.expected_divergences import ExpectedDivergences, without_differences
from rocketmq_conformance.conformance.engine.findings import NOT_SHRUNK_BROKEN, NOT_SHRUNK_INTERRUPTED, Findings
from rocketmq_conformance.conformance.engine.hypothesis_cases import HypothesisCases
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, fingerprint_of
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.player import BROKEN, Numbered, Played, Player
from rocketmq_conformance.conformance.engine.shortening import Differing, Shortening
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.turns import Turns, steps_of
from rocketmq_conformance.conformance.engine.verdict import worst_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED, UNSUPPORTED, Event
from rocketmq_conformance.reports.tiers import CORPUS
from rocketmq_conformance.suites.declare.answer_parts import responsible
from rocketmq_conformance.suites.declare.reach import reachable
from rocketmq_conformance.suites.declare.suite import Suite

#: Cases in a row that cannot be run before a suite is given up.
GIVE_UP = 3
#: Seconds between two progress events.
PROGRESS = 0.25
#: As many cases count as if they had taken what was expected.
EXPECTED = 3
#: Seconds for which shorter plans may still be looked for once the time is up.
SHRINKS_ON = 10.0

T = TypeVar("T")


class Stop(Exception):  # noqa: N818 - not an error: the run ends here
    """The run ends before its time; the text says why."""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What one suite adds to a run; it can be sent to another process."""

    ended: event.SuiteEnded
    found: Sequence[event.DivergenceFound] = ()
    occurred: Sequence[event.ExpectedDivergence] = ()
    #: Entries of expected divergences that occurred, and those that fail the run.
    signed: int = 0
    expected_faults: int = 0
    #: Seconds of playing.
    playing: float = 0.0
    #: Did the time limit end the suite before its last case?
    cut_short: bool = False


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
        number_of_cases: int,
        share: float | None,
        stored: Mapping[int, StoredCase],
        writer: plan.PlanWriter | None,
        drawn: HypothesisCases | None = None,
        expected: ExpectedDivergences | None = None,
        quirks: bool = True,
        turns: Turns | None = None,
    ) -> None:
        self.stage = stage
        #: What it shares with the suites with which it takes turns; None where it is played by itself.
        self.turns = turns
        #: How many cases have started, and their steps.
        self.cases_started = self.steps_started = 0
        #: Why the implementation does not offer the suite, or "".
        self.refused = refused
        self.profile = profile
        self.options = options
        self.suite = suite
        #: Number of its cases.
        self.number_of_cases = number_of_cases
        #: Cases of stored plans, by the negative number that they have in this run.
        self.stored = stored
        #: Seconds of playing after which no case begins: every suite gets its share of the time limit.
        self.share = share
        #: Writes the plan, case by case, where one is kept.
        self.writer = writer
        #: The cases that Hypothesis draws, which come last.
        self.drawn = drawn
        self.judge = Judge(suite, profile.judged(), quirks=quirks)
        #: What may explain a divergence of the implementation.
        self.doubts = doubts
        self.counts = dict.fromkeys(event.VERDICTS, 0)
        self.steps = 0
        self.divergences = 0
        #: The divergences, and the end, once it is there.
        self.found: list[event.DivergenceFound] = []
        self.ended: event.SuiteEnded | None = None
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
        #: Parts of answers that were left open, and so not compared: how often.
        self.unsaid: Counter[str] = Counter()
        #: What diverges, and how it is reported.
        self.findings = Findings(stage, self.judge, profile, options, stored, self._may_shrink)
        self.shortening = Shortening(self.findings)
        #: When each kind was found first, by its fingerprint; of suites that take turns.
        self._found_after: dict[str, float] = {}
        self._player: Player | None = None
        #: A case with expected divergences, without them: it carries the control when there is no better one.
        self._rest: Numbered | None = None
        #: Divergences that are expected.
        self.expected = expected or ExpectedDivergences(())
        self.failed_in_row = 0
        self.reason = ""
        #: A case that conformed, for the control: a generated one if there is any.
        self.good: Numbered | None = None
        self.done = 0
        #: Cases among them that are not of the corpus: covering and generated ones, or those of a given plan.
        self.generated = 0
        #: Events of cases that cannot be played here; they are handed over with the next case.
        self._waiting: list[Event] = []

    @property
    def playing(self) -> float:
        """Seconds since the suite began, without those for its plan."""
        return time.monotonic() - self.started - self.planning

    def result(self) -> SuiteResult | None:
        """What the suite adds to the run; None where its events have not come to their end."""
        if self.ended is None:
            return None
        return SuiteResult(
            self.ended,
            self.found,
            list(self.expected.events()),
            signed=self.expected.occurred,
            expected_faults=self.expected.faults,
            playing=self.playing,
            cut_short=self.cut_short,
        )

    def _may_shrink(self) -> bool:
        """May a shorter plan still be looked for? It may take a moment more than the suite's share of the time."""
        if self.turns:
            return self.turns.may_shrink(SHRINKS_ON)
        return self.share is None or self.playing < self.share + SHRINKS_ON

    @property
    def seconds(self) -> float:
        """Of its cases in their lanes."""
        return self._player.seconds if self._player else 0.0

    @property
    def seconds_of_case(self) -> float:
        """Of a case in its lane, with what is played again: as expected, and more and more as they were. While none has
        ended, the first one takes as long as it has taken until now, at least."""
        first = self.playing if self.cases_started and not self.done else 0.0
        return max(first, (self.seconds + EXPECTED * self._expected_seconds) / (self.done + EXPECTED))

    @property
    def seconds_started(self) -> float:
        """About how long the cases take that have started, by their steps."""
        steps = [steps_of(case.rows) for case in self.stored.values()] or [self.suite.steps]
        return self.seconds_of_case * self.steps_started * len(steps) / sum(steps)

    @property
    def _expected_seconds(self) -> float:
        """Of a case that conforms."""
        adapter = self.stage.adapter
        return adapter.case_seconds(self.suite) if isinstance(adapter, TakesTime) else 1.0

    @property
    def kinds(self) -> int:
        """Kinds of divergences so far."""
        return len(self.shortening.kinds | {one.fingerprint for one in self.found})

    def run(self, cases: Iterable[Numbered]) -> Iterator[Event | UnderWay]:
        """Play the cases (``number_of_cases`` of them), then the control; always ends with SuiteEnded.

        Where suites take turns it says in between what it waits for. Stop and KeyboardInterrupt go on after it.
        """
        stop: BaseException | None = None
        if self.refused:
            self.reason = self.refused
            for number, _ in cases:
                yield from self._count(Played(number, [], UNSUPPORTED, 0, 0.0, "", self.refused))
        else:
            try:
                yield from self._play(cases)
                self.good = self.good or (yield from self._later(self._rest_of_expected))
                if self.good is not None:
                    self.control = yield from self._later(partial(control, self.stage, self.judge, self.good[1]))
            except (Stop, KeyboardInterrupt) as error:
                stop = error
                self.reason = f"{str(error) or event.INTERRUPTED} after {self.done} of {self.number_of_cases} cases"
            except BROKEN as error:
                self.reason = str(error)
            yield from self._waiting
            yield from self._noted(self.shortening.as_found(NOT_SHRUNK_INTERRUPTED if stop else NOT_SHRUNK_BROKEN))
        yield from self.expected.events()
        yield self._end(stop)
        if stop:
            raise stop

    def _later(self, work: Callable[[], T]) -> Generator[UnderWay, None, T]:
        """What comes of work that plays cases, while other suites have their turns."""
        if self.turns is None:
            return work()
        job = self.turns.begin(work)
        while not job.done():
            yield UnderWay(frozenset({job}))
        return job.result()

    def _play(self, cases: Iterable[Numbered]) -> Iterator[Event | UnderWay]:
        player = self._player = Player(
            self.stage,
            self.judge,
            self.doubts,
            goes_on=not self.options.stop_at_first,
            known=partial(self.expected.knows, self.suite),
        )
        if self.expected.entries:
            self.findings.avoid((yield from self._later(partial(self.expected.replay, player, self.suite))))
        cases = self._offered(self._in_time(cases))
        if self.turns and self.stage.turns:
            with closing(player.take_turns(self.stage.turns, cases)) as playing:
                yield from self._take_turns(self.turns, player, playing)
        else:
            for played in player.play(cases):
                yield from self._settle(player, played)
        if self.cut_short:
            self.reason = f"{event.TIME_LIMIT} after {self.done} of {self.number_of_cases} cases"

    def _take_turns(
        self, turns: Turns, player: Player, playing: Iterator[Played | UnderWay]
    ) -> Iterator[Event | UnderWay]:
        for played in playing:
            if isinstance(played, UnderWay):
                yield from self._noted(self.shortening.go_on(turns, player))
                yield played._replace(waits_for=played.waits_for | self.shortening.jobs)
            else:
                yield from self._settle(player, played)
        turns.playing.discard(self.suite.name)
        while self.shortening:
            yield from self._noted(self.shortening.go_on(turns, player))
            if self.shortening:
                yield UnderWay(self.shortening.jobs)

    def _noted(self, found: Iterable[event.DivergenceFound]) -> Iterator[Event]:
        for one in found:
            one = replace(one, found_after=self._found_after.get(one.fingerprint, 0.0))
            if not one.doubt:
                self.divergences += 1
                self.found.append(one)
            yield one

    def _in_time(self, cases: Iterable[Numbered]) -> Iterator[Numbered]:
        """The cases that begin before the suite's share of the time is used up; the first one always does."""
        waiting = iter(cases)
        for at in range(self.number_of_cases):
            over = self.turns.is_over if self.turns else self.share is not None and self.playing >= self.share
            if at and over:
                self.cut_short = True
                return
            planned = self._planned(waiting)
            if planned is None:  # Hypothesis finds no further case
                self.number_of_cases = at
                return
            yield planned

    def _planned(self, cases: Iterator[Numbered]) -> Numbered | None:
        """The next case, if there is any; it is in the plan file from now on."""
        begin = time.monotonic()
        planned = next(cases, None)
        if planned is None:
            return None
        number, rows = planned
        if self.suite.name not in self.options.plans and number not in self.stored:
            rows = self.findings.avoiding(number, rows)
        if self.writer and number not in self.stored:
            self.writer.add(number, rows)
        self.planning += time.monotonic() - begin
        self.cases_started += 1
        self.steps_started += steps_of(rows)
        return number, rows

    def _offered(self, cases: Iterable[Numbered]) -> Iterator[Numbered]:
        """The cases that can be played; a plan of the corpus may be for another release, and counts as that."""
        for number, rows in cases:
            lacking = self.suite.lacking(self.profile, rows) if number in self.stored else ""
            if lacking:
                reason = f"{self.profile} has no {lacking}"
                self._waiting += self._count(Played(number, rows, UNSUPPORTED, 0, 0.0, "", reason))
            else:
                yield number, rows

    def _settle(self, player: Player, played: Played) -> Iterator[Event]:
        waiting, self._waiting = self._waiting, []
        yield from waiting
        self.findings.avoid(played.differences if played.doubtful is None else [played.doubtful])
        if self.drawn and played.differences:
            self.drawn.diverges(played.number)
        whole, differing = not played.differences, played
        played = self.expected.settle(self.suite, played)
        found: list[Event] = []
        stop: BaseException | None = None
        if len(differing.differences) > len(played.differences) > 0:
            found, stop = _take_all(self._diverged(player, played.number, played.differences))
            if not found and stop is None:  # they may follow from those that are expected
                played = without_differences(played)
        if differing.judged is not None and played.verdict == CONFORMS and not whole:
            left_out = {one.differing[-1] for one in differing.differences}
            self._rest = played.number, [row for at, row in enumerate(differing.judged.rows) if at not in left_out]
        yield from self._count(played)
        failed = played.verdict == COULD_NOT_RUN or (played.verdict == UNDECIDED and played.judged is None)
        self.failed_in_row = self.failed_in_row + 1 if failed else 0
        if self.failed_in_row >= GIVE_UP:
            raise AdapterError(
                f"given up after {self.failed_in_row} cases in a row that could not be run: {played.reason}"
            )
        if played.verdict == CONFORMS and whole and (self.good is None or self.good[0] < 0 <= played.number):
            rows = played.rows if played.judged is None else played.judged.rows
            if carries(self.judge, rows):
                self.good = played.number, rows
        self.unsupported.update(played.unsupported)
        if played.judged is not None:
            self.unsupported.update(played.judged.unsupported)
            self.unsaid.update(played.judged.unsaid)
            if found or stop:
                yield from found
                if stop:
                    raise stop
            elif played.verdict == DIVERGES:
                yield from self._diverged(player, played.number, played.differences)
            elif played.doubtful is not None:
                yield from self._report(player, played.number, played.doubtful, played.reason)

    def _rest_of_expected(self) -> Numbered | None:
        """What is left of a case without the steps that are expected to diverge, when that conforms by itself."""
        if self._rest is None or self._player is None:
            return None
        judged = self._player.execute(self._rest[1], self._rest[0])
        return self._rest if judged.verdict == CONFORMS else None

    def _count(self, played: Played) -> list[Event]:
        """Count a case; its events."""
        self.counts[played.verdict] += 1
        self.steps += played.steps
        self.done += 1
        self.generated += not self._in_corpus(played.number)
        ended = event.CaseEnded(
            suite=self.suite.name,
            case=played.number,
            verdict=played.verdict,
            steps=played.steps,
            seconds=played.seconds,
            digest=played.digest,
            reason=played.reason,
            rule=responsible(self.suite, played.differences[0].steps[-1]) if played.differences else "",
        )
        now = time.monotonic()
        if now - self.last_progress < PROGRESS or self.turns:
            return [ended]
        self.last_progress = now
        return [
            ended,
            event.Progress(
                suite=self.suite.name,
                cases=self.done,
                of=self.number_of_cases,
                steps=self.steps,
                seconds=now - self.started,
            ),
        ]

    def _diverged(self, player: Player, number: int, differences: Iterable[Judged]) -> Iterator[Event]:
        """The events of the divergences of a case, each kind once."""
        seen: set[str] = set()
        for one in differences:
            fingerprint = fingerprint_of(self.suite, one.steps[-1])
            if fingerprint not in seen:
                seen.add(fingerprint)
                yield from self._report(player, number, one)
        if self.options.stop_at_first and self.divergences:
            raise Stop("first divergence")

    def _report(self, player: Player, number: int, judged: Judged, doubt: str = "") -> Iterator[Event]:
        """Report a difference; where suites take turns a new kind waits until shorter plans are looked for."""
        fingerprint = fingerprint_of(self.suite, judged.steps[-1])
        if self.turns:
            self._found_after.setdefault(fingerprint, self.turns.seconds)
        at_once = not self.turns or self.options.stop_at_first or self.findings.knows(fingerprint)
        if at_once:
            yield from self._noted(self.findings.report(player, number, judged, doubt))
        else:
            self.shortening.add(fingerprint, Differing(number, judged, doubt))

    def _end(self, stop: BaseException | None) -> event.SuiteEnded:
        self.verdict = self._verdict(stop)
        if self.turns:
            self.turns.playing.discard(self.suite.name)
        coverage = self.judge.coverage.rows()
        fired = {row[0] for row in coverage}
        if self.done and not self.refused and not self.options.plan:
            self.silent = [rule for rule in reachable(self.suite, self.profile) if rule not in fired]
        if self.verdict == UNDECIDED and (self.cut_short or not self.reason):
            self.reason = ": ".join(filter(None, (self.reason, self._why_undecided())))
        self.ended = event.SuiteEnded(
            suite=self.suite.name,
            verdict=self.verdict,
            cases=dict(self.counts),
            steps=self.steps,
            seconds=self.seconds / self.turns.lanes if self.turns else time.monotonic() - self.started,
            coverage=coverage,
            silent_rules=self.silent,
            control=self.control,
            unsupported=self.unsupported,
            reason=self.reason,
            consequences=self.findings.consequences,
            unsaid=dict(sorted(self.unsaid.items())),
            unproven=dict(sorted(self.judge.unproven.items())),
        )
        return self.ended

    def _verdict(self, stop: BaseException | None) -> str:
        """The verdict. What the corpus alone says is no pass: its plans are few, and known to implementers."""
        if self.refused:
            return UNSUPPORTED
        verdict = worst_of(self.counts)
        if verdict == CONFORMS:
            weak = (
                stop or not self.control or self._by_corpus_alone or self._is_absent or not self.judge.coverage.rows()
            )
            return UNDECIDED if weak else CONFORMS
        return UNDECIDED if verdict == UNSUPPORTED and not self.generated else verdict

    @property
    def _by_corpus_alone(self) -> bool:
        """Do plans of the corpus conform, and no other case?"""
        return self.good is not None and self._in_corpus(self.good[0])

    @property
    def _is_absent(self) -> bool:
        """Was what is judged part of no case?"""
        adapter = self.stage.adapter
        return isinstance(adapter, TakesPart) and not adapter.took_part(self.suite)

    def _in_corpus(self, number: int) -> bool:
        return number in self.stored and self.stored[number].tier == CORPUS

    def _why_undecided(self) -> str:
        if self.counts[UNDECIDED]:
            return f"{self.counts[UNDECIDED]} cases decided nothing"
        if not self.generated:
            return "no generated case was played"
        if self._by_corpus_alone:
            return "no generated case conforms, only plans of the corpus do"
        if self._is_absent:
            return "no case came to start what is judged: play more of them"
        if self.unsaid and not self.judge.coverage.rows():
            return "no rule fired: the implementation left open all parts that rules decide"
        return "the planted wrong answer was not noticed" if self.control is False else "no control could be played"


def _take_all(events: Iterator[Event]) -> tuple[list[Event], BaseException | None]:
    """All events, and what ended them before their time."""
    taken: list[Event] = []
    try:
        for one in events:
            taken.append(one)
    except (Stop, KeyboardInterrupt) as stop:
        return taken, stop
    return taken, None
