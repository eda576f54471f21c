"""The player: cases of one suite, played on a stage and judged, one by one or side by side."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from types import MappingProxyType
from typing import NamedTuple, cast

from rocketmq_conformance.conformance.adapter import (
    AdapterError,
    CannotRunError,
    NoAnswerError,
    Play,
    SideBySide,
    Streams,
    TakesTurns,
    UnderWay,
)
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, digest, fingerprint_of, fingerprints_of
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Expected, Outcome, Unsupported, result_of
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED
from rocketmq_conformance.suites.declare.answer_parts import showing
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.oracle import describe
from rocketmq_conformance.suites.declare.suite import Row

#: What an adapter raises when it, or what it drives, is broken.
BROKEN = (AdapterError, CannotRunError)
Broken = AdapterError | CannotRunError
#: How often a case is played at most while an expected answer changes within the clock's measurement error: the
#: machine may be less busy the next time.
TRIES = 3
#: Why a case that was played a second time, step by step, decides nothing.
ENDED_ONCE = "it ended while it did all steps of the case at once, and not when it did them one by one"
#: A case to be played: its number and its plan.
Numbered = tuple[int, list[Row]]


@dataclass(slots=True)
class _Ended:
    """A case that was judged in its lane."""

    number: int
    rows: list[Row]
    judged: Judged | Broken
    seconds: float
    #: The fingerprint of a difference that is new.
    kind: str = ""
    #: How often it is to be played again beside other cases, and what came of that.
    repeats: int = 0
    again: list[Judged | Broken] = field(default_factory=list)


class Played(NamedTuple):
    """A case that has ended."""

    number: int
    #: The plan as it was given; where all steps agreed at once, without those that are unsupported.
    rows: list[Row]
    verdict: str
    steps: int
    #: Wall time in seconds.
    seconds: float
    #: 16 hexadecimal digits, or "" when nothing was judged.
    digest: str
    #: Why the verdict is not "conforms".
    reason: str = ""
    #: Its steps; None when all of them agreed at once, or the case could not be run.
    judged: Judged | None = None
    #: Of a case that diverges: the case up to each step that does.
    differences: Sequence[Judged] = ()
    #: Why steps were left out, by the name of the operation, where all others agreed at once.
    unsupported: Mapping[str, str] = MappingProxyType({})
    #: Of a case that is undecided since its first difference is in doubt: the case up to there.
    doubtful: Judged | None = None

    @property
    def reordered(self) -> bool:
        """Do its answers depend on client ids that the plan does not say?"""
        return self.judged is not None and self.judged.reordered


class Player:
    """Plays cases of one suite; divergences that ``doubts`` explain do not count as such.

    With ``goes_on`` a case goes on after a divergence as long as the model can follow. Differences on a real clock are
    confirmed, but for those that are ``known``, as nobody reports them.
    """

    def __init__(
        self,
        stage: Stage,
        judge: Judge,
        doubts: Doubts | None = None,
        *,
        goes_on: bool = False,
        known: Callable[[Judged], bool] = lambda judged: False,
    ) -> None:
        self.stage = stage
        self._known = known
        self._goes_on = goes_on and not stage.times
        self._doubts = doubts or Doubts()
        self.judge = judge
        self.suite = judge.suite
        #: Kinds of differences, by their fingerprints, that showed every time that they were played.
        self._repeated: set[str] = set()
        self._play_steps = stage.step_player(judge.suite)
        #: Are the steps of a case done all at once? Not where the model decides which of them may be done.
        self._whole = stage.plays_whole(judge.suite) and not judge.stepwise
        adapter = stage.adapter
        #: Seconds for which cases were played in lanes, and played again.
        self.seconds = 0.0
        #: Cases that are played side by side.
        self.lanes = 1
        if isinstance(adapter, Streams) or (isinstance(adapter, SideBySide) and not judge.guarded):
            self.lanes = adapter.lanes(judge.suite)

    def play(self, cases: Iterable[Numbered]) -> Iterator[Played]:
        """Play cases, in their order; a broken adapter ends the case, not the playing."""
        if self.lanes > 1 and isinstance(self.stage.adapter, Streams):
            yield from cast(Iterator[Played], self._in_lanes(self.stage.adapter, cases))
            return
        if self.lanes > 1 and isinstance(self.stage.adapter, SideBySide):
            yield from self._side_by_side(self.stage.adapter, cases)
            return
        for number, rows in cases:
            yield self.one(number, rows)

    def take_turns(self, adapter: TakesTurns, cases: Iterable[Numbered]) -> Generator[Played | UnderWay, None, None]:
        """The same beside the cases of other suites: it says when one has begun, and when it has to be waited for."""
        return self._in_lanes(adapter, cases, turns=True)

    def one(self, number: int, rows: list[Row]) -> Played:
        """Play one case."""
        start = time.monotonic()
        try:
            if self._play_steps is not None:
                with self.stage.guarded(f"case {number} of {self.suite.name}"):
                    self.stage.begin(self.suite, number)
                    found = self.judge.agrees_at_once(rows, self._play_steps)
                if found is not None:
                    return Played(number, rows, CONFORMS, len(rows), time.monotonic() - start, found)
            if self._whole:
                return self._at_once(number, rows, start)
            judged = self.execute(rows, number, goes_on=self._goes_on)
            return self._settle(number, rows, judged, time.monotonic() - start)
        except NoAnswerError as error:
            return Played(number, rows, UNDECIDED, 0, time.monotonic() - start, "", str(error))
        except BROKEN as error:
            return Played(number, rows, COULD_NOT_RUN, 0, time.monotonic() - start, "", str(error))

    def _at_once(self, number: int, rows: list[Row], start: float) -> Played:
        """Play a case whose steps the implementation does all at once."""
        outcomes = self.stage.play_whole(self.suite, number, rows)
        if len(outcomes) < len(rows):
            judged = self.execute(rows, number, goes_on=self._goes_on)
            if judged.verdict == CONFORMS:
                judged.verdict, judged.reason = UNDECIDED, ENDED_ONCE
            return self._settle(number, rows, judged, time.monotonic() - start)
        done: list[Row] = []
        results: list[Expected] = []
        lacks: dict[str, str] = {}
        for row, outcome in zip(rows, outcomes, strict=True):
            if isinstance(outcome, Unsupported):
                lacks[self.suite.operations[row[0]].spec.name] = outcome.reason
            else:
                done.append(row)
                results.append(result_of(outcome))
        found = self.judge.agrees_with(done, results) if done else None
        if found is not None:
            return Played(number, done, CONFORMS, len(done), time.monotonic() - start, found, unsupported=lacks)
        return self._settle(number, rows, self._judge_outcomes(rows, outcomes), time.monotonic() - start)

    def execute(self, rows: Sequence[Row], number: int = 0, *, goes_on: bool = False) -> Judged:
        """Play a plan step by step; it counts for nothing. AdapterError and CannotRunError when that cannot be done.

        Where suites take turns it has a lane, and may be in any thread.
        """
        adapter = self.stage.adapter
        if isinstance(adapter, TakesTurns):
            (ended,) = adapter.stream(self.suite, [self._play(rows, goes_on=goes_on)])
            return ended.result()
        for _ in range(TRIES):
            self.stage.begin(self.suite, number)
            judged = self.judge.judge(
                rows,
                lambda row: self.stage.do(self.suite, row),
                count=False,
                times=self.stage.times,
                goes_on=goes_on,
            )
            self.stage.end()
            if not judged.cut:
                break
        return judged

    def replay(self, plans: Iterable[Sequence[Row]]) -> Iterator[Judged | Broken]:
        """What comes of each plan, in lanes where cases are; it counts for nothing, and goes on after a difference."""
        adapter = self.stage.adapter
        if isinstance(adapter, TakesTurns):  # in any thread
            for playing in adapter.stream(self.suite, (self._play(plan, goes_on=True) for plan in plans)):
                try:
                    yield playing.result()
                except BROKEN as error:
                    yield error
            return
        if self.lanes > 1 and isinstance(adapter, Streams):
            stored = ((number, list(plan)) for number, plan in enumerate(plans))
            for ended in cast(Iterator[_Ended], self._stream(adapter, stored, "stored plan", goes_on=True)):
                yield ended.judged
            return
        for plan in plans:
            try:
                yield self.execute(plan, goes_on=True)
            except BROKEN as error:
                yield error

    def _in_lanes(
        self, adapter: Streams, cases: Iterable[Numbered], *, turns: bool = False
    ) -> Generator[Played | UnderWay, None, None]:
        """Every case is judged while it is played. One that differs in a new way comes once it was played again, and
        those that follow come after it."""
        #: Cases that wait for that; those whose plans are to be played again; and what each play is a repetition of.
        waiting: deque[_Ended] = deque()
        again: deque[_Ended] = deque()
        of: deque[_Ended | None] = deque()

        def mixed() -> Iterator[Numbered]:
            following = iter(cases)
            while True:
                case = again.popleft() if again else None
                numbered = (case.number, case.rows) if case else next(following, None)
                if numbered is None:
                    return
                of.append(case)
                yield numbered

        for ended in self._stream(adapter, mixed(), "case", goes_on=self._goes_on, turns=turns):
            if isinstance(ended, UnderWay):
                yield ended
                continue
            case = of.popleft()
            if case is not None:
                case.again.append(ended.judged)
            else:
                ended.kind = self._new_kind(ended.judged)
                if ended.kind and all(one.kind != ended.kind for one in waiting):
                    ended.repeats = self.suite.confirmations
                    again.extend([ended] * ended.repeats)
                waiting.append(ended)
            while waiting and len(waiting[0].again) == waiting[0].repeats:
                yield self._finish(waiting.popleft())
        plans = ((case.number, case.rows) for case in tuple(again))
        for ended in self._stream(adapter, plans, "case", goes_on=self._goes_on, turns=turns):
            if isinstance(ended, UnderWay):
                yield ended
            else:
                again.popleft().again.append(ended.judged)
        yield from map(self._finish, waiting)

    def _new_kind(self, judged: Judged | Broken) -> str:
        """The kind of a difference that counts only once it was played again; "" of anything else."""
        if isinstance(judged, BROKEN) or judged.verdict != DIVERGES or not self._repeats:
            return ""
        if all(map(self._known, judged.differences())):
            return ""
        fingerprint = fingerprint_of(self.suite, judged.steps[-1])
        return "" if fingerprint in self._repeated else fingerprint

    def _finish(self, ended: _Ended) -> Played:
        """A case in its lane, once it was played again as often as it is to be."""
        try:
            if isinstance(ended.judged, BROKEN):
                raise ended.judged
            return self._settle(ended.number, ended.rows, ended.judged, ended.seconds, ended.again)
        except BROKEN as error:
            return Played(ended.number, ended.rows, COULD_NOT_RUN, 0, ended.seconds, "", str(error))

    def _stream(
        self, adapter: Streams, cases: Iterable[Numbered], name: str, *, goes_on: bool, turns: bool = False
    ) -> Iterator[_Ended | UnderWay]:
        """What comes of each case; ``name`` says what one is that breaks."""
        started: deque[Numbered] = deque()

        def plays() -> Iterator[Play[tuple[Judged, float]]]:
            for numbered in cases:
                started.append(numbered)
                yield _timed(self._play(numbered[1], goes_on=goes_on))

        if turns and isinstance(adapter, TakesTurns):
            playing = adapter.take_turns(self.suite, plays())
        else:
            playing = adapter.stream(self.suite, plays())
        try:
            while True:
                with self.stage.guarded(f"cases of {self.suite.name}"):
                    ended = next(playing, None)
                if ended is None:
                    return
                if isinstance(ended, UnderWay):
                    yield ended
                    continue
                number, rows = started.popleft()
                judged: Judged | Broken
                seconds = 0.0
                try:
                    with self.stage.guarded(f"{name} {number} of {self.suite.name}"):
                        judged, seconds = ended.result()
                except BROKEN as error:
                    judged = error
                self.seconds += seconds
                yield _Ended(number, rows, judged, seconds)
        finally:
            playing.close()

    def _play(self, rows: Sequence[Row], *, goes_on: bool = False) -> Play[Judged]:
        """Plays and judges a plan, in any thread; counts nothing."""
        given = self.suite.for_implementation
        return lambda do: self.judge.judge(rows, lambda row: do(given(row)), count=False, goes_on=goes_on)

    def _side_by_side(self, adapter: SideBySide, cases: Iterable[Numbered]) -> Iterator[Played]:
        """A case is judged when it has ended, while others are played."""
        waiting = iter(cases)
        for first in waiting:
            yield from self._until_one_differs(adapter, chain([first], waiting))

    def _until_one_differs(self, adapter: SideBySide, cases: Iterator[Numbered]) -> Iterator[Played]:
        """Cases until one differs. Those that are under way end before it is handed over: it may be played again."""
        started: deque[Numbered] = deque()
        kept: list[tuple[Numbered, Judged, float]] = []

        def plans() -> Iterator[list[Operation]]:
            for numbered in cases:
                started.append(numbered)
                yield [self.suite.for_implementation(row) for row in numbered[1]]
                if kept:
                    return

        reason, start = "", time.monotonic()
        playing = adapter.play_cases(self.suite, plans())
        try:
            while True:
                with self.stage.guarded(f"cases of {self.suite.name}"):
                    outcomes = next(playing, None)
                if outcomes is None:
                    break
                numbered = started.popleft()
                judged = self._judge_outcomes(numbered[1], outcomes)
                seconds, start = time.monotonic() - start, time.monotonic()
                if kept or judged.verdict == DIVERGES:
                    kept.append((numbered, judged, seconds))
                else:
                    yield self._settle(*numbered, judged, seconds)
        except BROKEN as error:
            reason = str(error)
            started.extend(islice(cases, 0 if started else 1))
        finally:
            playing.close()
        for numbered, judged, seconds in kept:
            yield self._settle(*numbered, judged, seconds)
        for number, rows in started:
            yield Played(number, rows, COULD_NOT_RUN, 0, 0.0, "", reason)

    def _judge_outcomes(self, rows: Sequence[Row], outcomes: Iterable[Outcome]) -> Judged:
        answers = iter(outcomes)
        return self.judge.judge(rows, lambda _: next(answers), count=False, goes_on=self._goes_on)

    @property
    def _repeats(self) -> bool:
        """Is a difference played again before it counts?"""
        return bool(self.stage.times and self.suite.confirmations)

    def _confirm(self, judged: Judged, again: Sequence[Judged | Broken] = ()) -> Judged:
        """A difference on a real clock counts when it shows every time; otherwise the case is undecided. Where several
        parts of the answer differ, those count that do so every time.

        ``again`` is what came of its plan when it was played again; that is done now if there is nothing. A kind that
        showed every time in one case counts in others as soon as it shows.
        """
        fingerprint = fingerprint_of(self.suite, judged.steps[-1])
        if fingerprint in self._repeated:
            return judged
        again = again or self._repeat(judged.rows)
        kinds = fingerprints_of(self.suite, judged.steps[-1])
        shown = [kinds]
        for one in again:
            if isinstance(one, BROKEN):
                raise one
            if one.verdict == DIVERGES and fingerprint_of(self.suite, one.steps[-1]) in self._repeated:
                return one
            shown.append(fingerprints_of(self.suite, one.steps[-1]) if one.verdict == DIVERGES else {})
        repeated = {part for kind, part in kinds.items() if all(kind in others for others in shown)}
        if not repeated:
            same, said = sum(fingerprint in one for one in shown), describe(self.suite, judged.steps[-1])
            judged.verdict, judged.reason = UNDECIDED, f"it differed in {same} of {len(shown)} plays: {said}"
            return judged
        judged.steps[-1] = showing(self.suite, judged.steps[-1], repeated)
        self._repeated.add(fingerprint_of(self.suite, judged.steps[-1]))
        return judged

    def _repeat(self, rows: Sequence[Row]) -> list[Judged]:
        """Play a plan again, as often as a difference has to show."""
        plans = [rows] * self.suite.confirmations
        adapter = self.stage.adapter
        if isinstance(adapter, Streams):
            with self.stage.guarded(f"the repetition of a case of {self.suite.name}"):
                return [ended.result() for ended in adapter.stream(self.suite, map(self._play, plans))]
        return [self.execute(plan) for plan in plans]

    def _settle(
        self, number: int, rows: list[Row], judged: Judged, seconds: float, again: Sequence[Judged | Broken] = ()
    ) -> Played:
        """A case that was played, as it counts: it is counted here, once."""
        judged, differences, doubtful = self._doubts.settle(self.suite, judged)
        if self._repeats and not all(map(self._known, differences)):
            judged = self._confirm(judged, again)
            differences = judged.differences()
        self.judge.count(judged)
        result = (judged.verdict, len(judged.steps), seconds, digest(judged), judged.reason, judged)
        differences = differences if judged.verdict == DIVERGES else []
        return Played(number, rows, *result, differences, doubtful=doubtful)


def _timed(play: Play[Judged]) -> Play[tuple[Judged, float]]:
    """The same, and the seconds that it took."""

    def timed(do: Callable[[Operation], Outcome]) -> tuple[Judged, float]:
        start = time.monotonic()
        return play(do), time.monotonic() - start

    return timed
