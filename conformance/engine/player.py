"""The player: cases of one suite, played on a stage and judged, one by one or side by side."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from rocketmq_conformance.conformance.adapter import (
    AdapterError,
    CannotRunError,
    NoAnswerError,
    Play,
    Streams,
    TakesTurns,
    UnderWay,
)
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, digest, fingerprint_of, fingerprints_of
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Outcome, Unsupported, outcome_of
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED
from rocketmq_conformance.suites.declare.answer_parts import showing
from rocketmq_conformance.suites.declare.judged_step import by_operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.oracle import describe
from rocketmq_conformance.suites.declare.suite import Row, Suite

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
#: Plays cases side by side: a method of what streams them, or takes turns.
_Stream = Callable[[Suite, Iterable[Play[Any]]], Generator[Any, None, None]]


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
        #: Are the steps of a case done all at once? Not where the model decides which of them may be done.
        self._whole = stage.plays_whole(judge.suite) and not judge.stepwise
        self._play_steps = None if self._whole else stage.step_player(judge.suite)
        self._streams, self._turns = stage.streams, stage.turns
        #: Seconds for which cases were played in lanes, and played again.
        self.seconds = 0.0
        #: Cases that are played side by side.
        self.lanes = self._streams.lanes(judge.suite) if self._streams else 1

    def play(self, cases: Iterable[Numbered]) -> Iterator[Played]:
        """Play cases, in their order; a broken adapter ends the case, not the playing."""
        if self._streams and self.lanes > 1:
            yield from cast(Iterator[Played], self._in_lanes(self._streams, self._streams.stream, cases))
            return
        for number, rows in cases:
            yield self.one(number, rows)

    def take_turns(self, turns: TakesTurns, cases: Iterable[Numbered]) -> Generator[Played | UnderWay, None, None]:
        """The same beside the cases of other suites: it says when one has begun, and when it has to be waited for."""
        return self._in_lanes(turns, turns.take_turns, cases)

    def one(self, number: int, rows: list[Row]) -> Played:
        """Play one case."""
        start = time.monotonic()
        try:
            if self._play_steps is not None:
                with self.stage.guarded(f"case {number} of {self.suite.name}"):
                    self.stage.begin(self.suite, number)
                    found = self.judge.agrees_at_once(rows, self._play_steps)
                if found is not None:
                    return Played(number, rows, CONFORMS, found.steps, time.monotonic() - start, found.digest)
            if self._whole:
                return self._at_once(number, rows, start)
            judged = self._once(rows, number, goes_on=self._goes_on)
            return self._settle(number, rows, judged, time.monotonic() - start)
        except NoAnswerError as error:
            return Played(number, rows, UNDECIDED, 0, time.monotonic() - start, "", str(error))
        except BROKEN as error:
            return Played(number, rows, COULD_NOT_RUN, 0, time.monotonic() - start, "", str(error))

    def _at_once(self, number: int, rows: list[Row], start: float) -> Played:
        """Play a case whose steps the implementation does all at once."""
        answers = self.stage.play_whole(self.suite, number, rows)
        if len(answers) < len(rows):
            judged = self.execute(rows, number, goes_on=self._goes_on)
            if judged.verdict == CONFORMS:
                judged.verdict, judged.reason = UNDECIDED, ENDED_ONCE
            return self._settle(number, rows, judged, time.monotonic() - start)
        done, lacks = rows, {}
        results: list[Any] = [*answers]
        if Unsupported in map(type, answers):
            pairs = list(zip(rows, answers, strict=True))
            names = [operation.spec.name for operation in self.suite.operations]
            lacks = {names[at]: one.reason for (at, _), one in pairs if isinstance(one, Unsupported)}
            pairs = [pair for pair in pairs if not isinstance(pair[1], Unsupported)]
            done, results = [row for row, _ in pairs], [one for _, one in pairs]
        found = self.judge.agrees_with(done, results) if done else None
        if found is not None:
            return Played(
                number, done, CONFORMS, found.steps, time.monotonic() - start, found.digest, unsupported=lacks
            )
        judged = self._judge_outcomes(rows, map(outcome_of, answers), self._goes_on)
        return self._settle(number, rows, judged, time.monotonic() - start)

    def execute(self, rows: Sequence[Row], number: int = 0, *, goes_on: bool = False) -> Judged:
        """Play a plan step by step; it counts for nothing. AdapterError and CannotRunError when that cannot be done.

        Where suites take turns it has a lane, and may be in any thread. Where a difference takes luck, the plan is
        played until there is one, as often as its suite says.
        """
        for _ in range(self.suite.tries):
            judged = self._once(rows, number, goes_on=goes_on)
            if judged.verdict == DIVERGES:
                break
        return judged

    def _once(self, rows: Sequence[Row], number: int, *, goes_on: bool) -> Judged:
        if self._turns:
            (ended,) = self._turns.stream(self.suite, [self._play(rows, goes_on=goes_on)])
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
        if self._turns:  # in any thread
            for playing in self._turns.stream(self.suite, (self._play(plan, goes_on=True) for plan in plans)):
                try:
                    yield playing.result()
                except BROKEN as error:
                    yield error
            return
        if self._streams and self.lanes > 1:
            stored = ((number, list(plan)) for number, plan in enumerate(plans))
            for first in stored:
                ended = self._stream(self._streams.stream, chain([first], stored), "stored plan", goes_on=True)
                for case in cast(Iterator[_Ended], ended):
                    yield case.judged
            return
        for plan in plans:
            try:
                yield self.execute(plan, goes_on=True)
            except BROKEN as error:
                yield error

    def _in_lanes(
        self, adapter: Streams, stream: _Stream, cases: Iterable[Numbered]
    ) -> Generator[Played | UnderWay, None, None]:
        """Every case is judged while it is played. One that differs in a new way comes once it was played again, and
        those that follow come after it. Where the adapter must be left alone for it, those under way end first."""
        following, holds = iter(cases), False
        first = next(following, None)
        #: Cases that wait for that; those whose plans are to be played again; and what each play is a repetition of.
        waiting: deque[_Ended] = deque()
        again: deque[_Ended] = deque()
        of: deque[_Ended | None] = deque()

        def mixed() -> Iterator[Numbered]:
            nonlocal first
            while not holds:
                case = again.popleft() if again else None
                numbered = (case.number, case.rows) if case else first or next(following, None)
                if numbered is None:
                    return
                first = first if case else None
                of.append(case)
                yield numbered

        while first or again:
            for ended in self._stream(stream, mixed(), "case", goes_on=self._goes_on):
                if isinstance(ended, UnderWay):
                    yield ended
                    continue
                case = of.popleft()
                if case is not None:
                    case.again.append(ended.judged)
                else:
                    judged = ended.judged
                    ended.kind = self._new_kind(judged)
                    if ended.kind and all(one.kind != ended.kind for one in waiting):
                        ended.repeats = self.suite.confirmations
                        again.extend([ended] * ended.repeats)
                    waiting.append(ended)
                    holds |= adapter.exclusive and not isinstance(judged, BROKEN) and judged.verdict == DIVERGES
                while not holds and waiting and len(waiting[0].again) == waiting[0].repeats:
                    yield self._finish(waiting.popleft())
            if holds:
                yield from map(self._finish, waiting)
                waiting.clear()
                holds = False
            first = first or next(following, None)
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
        self, stream: _Stream, cases: Iterable[Numbered], name: str, *, goes_on: bool
    ) -> Iterator[_Ended | UnderWay]:
        """What comes of each case, until one breaks them all; ``name`` says what one is that breaks."""
        started: deque[Numbered] = deque()
        broken: Broken

        def plays() -> Iterator[Play[tuple[Judged, float]]]:
            for numbered in cases:
                started.append(numbered)
                yield _timed(self._play(numbered[1], goes_on=goes_on))

        playing = stream(self.suite, plays())
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
        except BROKEN as error:
            broken = error
        finally:
            playing.close()
        yield from (_Ended(number, rows, broken, 0.0) for number, rows in started or islice(cases, 1))

    def _play(self, rows: Sequence[Row], *, goes_on: bool = False) -> Play[Judged]:
        """Plays and judges a plan, in any thread; counts nothing."""
        if self._streams and self._streams.exclusive and not self.judge.guarded:
            return lambda: self._afterwards(rows, goes_on)
        return lambda: by_operations(self.suite, self.judge.asking(rows, goes_on=goes_on))

    def _afterwards(self, rows: Sequence[Row], goes_on: bool) -> Generator[Operation, Outcome, Judged]:
        """Judged when all is done: answers that arrive over the connection meanwhile are then read together."""
        outcomes: list[Outcome] = []
        for row in rows:
            outcomes.append((yield self.suite.for_implementation(row)))
        return self._judge_outcomes(rows, outcomes, goes_on)

    def _judge_outcomes(self, rows: Sequence[Row], outcomes: Iterable[Outcome], goes_on: bool) -> Judged:
        answers = iter(outcomes)
        return self.judge.judge(rows, lambda _: next(answers), count=False, goes_on=goes_on)

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
        if self._streams:
            with self.stage.guarded(f"the repetition of a case of {self.suite.name}"):
                return [ended.result() for ended in self._streams.stream(self.suite, map(self._play, plans))]
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
    """The same play, and the seconds that it took."""

    def timed() -> Generator[Operation, Outcome, tuple[Judged, float]]:
        start = time.monotonic()
        judged = yield from play()
        return judged, time.monotonic() - start

    return timed
