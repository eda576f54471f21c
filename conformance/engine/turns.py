"""What suites share that take turns: lanes, the limit of time, and the moment from which shorter plans are looked for.

Cases of consumer programs wait for timers, many of them side by side. So the suites of a run share the lanes: the one
whose cases have taken least time has the next lane, and no lane waits for the last case of a suite. What is
computed for a suite meanwhile, and plays plans of its own, does so in a thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from rocketmq_conformance.conformance.engine.covering import tours_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: The share of the time that is left to shorter plans, when there is a limit and they are looked for.
SHORTENING = 0.25
#: As many cases are played about for a kind of divergences: to confirm it, and to look for its shortest plan.
CASES_OF_KIND = 10
#: And so many of them one after the other: each shorter plan is chosen by what the one before it showed.
IN_A_ROW = 4

T = TypeVar("T")


class Turns:
    """The turns of suites whose cases are played in so many lanes, for ``limit`` seconds at most."""

    def __init__(self, lanes: int, limit: float | None) -> None:
        self.lanes = lanes
        self.limit = limit
        self.began = time.monotonic()
        #: Suites that have cases left to begin.
        self.playing: set[str] = set()
        self._ended = False
        self._threads = ThreadPoolExecutor(lanes)

    @property
    def seconds(self) -> float:
        """Since the first turn."""
        return time.monotonic() - self.began

    @property
    def is_over(self) -> bool:
        """Is the time used up, so that no case begins?"""
        return self.limit is not None and self.seconds >= self.limit

    @property
    def shortens(self) -> bool:
        """Are shorter plans looked for? Once all plans are through, or their share of the time is."""
        return not self.playing or (self.limit is not None and self.seconds >= self.limit * (1 - SHORTENING))

    def may_shrink(self, grace: float) -> bool:
        """May the next shorter plan be tried, with so many seconds more than the time?"""
        return not self._ended and (self.limit is None or self.seconds < self.limit + grace)

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Begin in a thread what plays plans."""
        return self._threads.submit(work)

    def end(self) -> None:
        """Begin nothing more."""
        self._ended = True
        self._threads.shutdown(wait=False, cancel_futures=True)


def by_yield(suite: Suite, profile: Profile, plans: Mapping[int, Sequence[Row]]) -> Iterator[int]:
    """The numbers of plans, first those that show most new behaviours and rules for the steps that they wait for."""
    tours = tours_of(suite, profile)
    shows = {
        number: {one for step in tours.play(rows) for one in (*step.behaviours, *step.behaviour[1])}
        for number, rows in plans.items()
    }
    known: set[object] = set()
    while shows:
        number = max(shows, key=lambda number: len(shows[number] - known) / steps_of(plans[number]))
        known |= shows.pop(number)
        yield number


def steps_of(rows: Sequence[Row]) -> int:
    """How many steps the time of a plan is: one for the programs that begin and end."""
    return len(rows) + 1
