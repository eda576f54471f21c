"""The player: cases of one suite, played on a stage and judged, one by one or side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, SideBySide
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, digest
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN
from rocketmq_conformance.suites.declare.suite import Row

#: What an adapter raises when it, or what it drives, is broken.
BROKEN = (AdapterError, CannotRunError)
#: How often a case is played at most while an expected answer changes within the clock's measurement error: the
#: machine may be less busy the next time.
TRIES = 3
#: A case to be played: its number and its plan.
Numbered = tuple[int, list[Row]]


class Played(NamedTuple):
    """A case that has ended."""

    number: int
    #: The plan as it was given.
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


class Player:
    """Plays cases of one suite; divergences that ``doubts`` explain do not count as such."""

    def __init__(self, stage: Stage, judge: Judge, doubts: Doubts | None = None) -> None:
        self.stage = stage
        self._doubts = doubts or Doubts()
        self.judge = judge
        self.suite = judge.suite
        self._calls = stage.calls(judge.suite)
        adapter = stage.adapter
        #: Cases that are played side by side.
        self.lanes = 1
        if isinstance(adapter, SideBySide) and not judge.guarded:
            self.lanes = adapter.lanes(judge.suite)

    def play(self, cases: Iterable[Numbered]) -> Iterator[Played]:
        """Play cases, in their order; a broken adapter ends the case, not the playing."""
        if self.lanes > 1:
            waiting = iter(cases)
            while batch := list(islice(waiting, self.lanes)):
                yield from self._side_by_side(batch)
            return
        for number, rows in cases:
            yield self.one(number, rows)

    def one(self, number: int, rows: list[Row]) -> Played:
        """Play one case."""
        start = time.monotonic()
        try:
            if self._calls is not None:
                with self.stage.guarded(f"case {number} of {self.suite.name}"):
                    self.stage.begin(self.suite, number)
                    found = self.judge.agrees_at_once(rows, self._calls)
                if found is not None:
                    return Played(number, rows, CONFORMS, len(rows), time.monotonic() - start, found)
            return self._settled(number, rows, self.execute(rows, number), time.monotonic() - start)
        except BROKEN as error:
            return Played(number, rows, COULD_NOT_RUN, 0, time.monotonic() - start, "", str(error))

    def execute(self, rows: Sequence[Row], number: int = 0, *, count: bool = True) -> Judged:
        """Play a plan step by step; AdapterError and CannotRunError when that cannot be done."""
        for _ in range(TRIES):
            self.stage.begin(self.suite, number)
            judged = self.judge.judge(
                rows, lambda row: self.stage.do(self.suite, row), count=count, times=self.stage.times
            )
            if not judged.cut:
                break
        return judged

    def _side_by_side(self, batch: list[Numbered]) -> list[Played]:
        """All outcomes of a batch are taken first, then judged."""
        adapter = self.stage.adapter
        assert isinstance(adapter, SideBySide)
        start = time.monotonic()
        try:
            with self.stage.guarded(f"cases {batch[0][0]} to {batch[-1][0]} of {self.suite.name}"):
                adapter.reset_many([(lane, self.suite) for lane in range(len(batch))])
                work = [
                    (lane, [self.suite.for_implementation(row) for row in rows]) for lane, (_, rows) in enumerate(batch)
                ]
                outcomes = adapter.play_many(work)
        except BROKEN as error:
            share = (time.monotonic() - start) / len(batch)
            return [Played(number, rows, COULD_NOT_RUN, 0, share, "", str(error)) for number, rows in batch]
        share = (time.monotonic() - start) / len(batch)
        ended = []
        for (number, rows), observed in zip(batch, outcomes, strict=True):
            answers = iter(observed)
            judged = self.judge.judge(rows, lambda row, answers=answers: next(answers))  # type: ignore[misc]
            ended.append(self._settled(number, rows, judged, share))
        return ended

    def _settled(self, number: int, rows: list[Row], judged: Judged, seconds: float) -> Played:
        judged = self._doubts.settle(self.suite, judged)
        return Played(number, rows, judged.verdict, len(judged.steps), seconds, digest(judged), judged.reason, judged)
