"""Cases of programs that are played side by side, in lanes that all suites share."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from functools import partial

from rocketmq_conformance.conformance.adapter import Play, T, UnderWay
from rocketmq_conformance.conformance.targets.client_program.lanes import Lanes
from rocketmq_conformance.suites.declare.suite import Suite

#: How many times as many cases as there are lanes may be under way before the first of them has ended.
_AHEAD = 4


class SideBySide(ABC):
    """An adapter whose cases are played side by side, and whose suites take turns."""

    exclusive = False

    def __init__(self, lanes: int) -> None:
        self._lanes = Lanes(lanes)
        self._interrupted = threading.Event()
        #: What ends the cases of each stream.
        self._streams: set[threading.Event] = set()

    @abstractmethod
    def play(self, suite: Suite, play: Play[T], interrupted: threading.Event) -> T:
        """Play a case, until it is interrupted."""

    def lanes(self, suite: Suite) -> int:
        """How many cases are played side by side."""
        return self._lanes.count

    def stream(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T], None, None]:
        """Play cases, each in a group of its own; a next one as soon as one has ended."""
        with closing(self._stream(suite, cases, waits=True)) as playing:
            for ended in playing:
                if not isinstance(ended, UnderWay):
                    yield ended

    def take_turns(self, suite: Suite, cases: Iterable[Play[T]]) -> Generator[Future[T] | UnderWay, None, None]:
        """The same without waiting for a lane, or for a case to end."""
        return self._stream(suite, cases, waits=False)

    def _stream(
        self, suite: Suite, cases: Iterable[Play[T]], *, waits: bool
    ) -> Generator[Future[T] | UnderWay, None, None]:
        waiting = iter(cases)
        under_way: deque[Future[T]] = deque()
        interrupted = threading.Event()
        self._streams.add(interrupted)
        begins = True
        try:
            while under_way or begins:
                started = False
                while begins and not started and len(under_way) < _AHEAD * self._lanes.count:
                    if not self._lanes.take(waits=waits and not under_way):
                        break
                    play = next(waiting, None)
                    if play is None:
                        begins = False
                        self._lanes.leave()
                        break
                    under_way.append(self._lanes.begin(partial(self.play, suite, play, interrupted)))
                    started = not waits
                if under_way and under_way[0].done():
                    yield under_way.popleft()
                elif not waits:
                    yield UnderWay(self._lanes.under_way, started)
                else:
                    wait([one for one in under_way if not one.done()], return_when=FIRST_COMPLETED)
        finally:
            self._streams.discard(interrupted)
            if under_way:
                interrupted.set()
                wait(under_way)

    def interrupt(self) -> None:
        """End the cases that are under way."""
        for interrupted in (self._interrupted, *self._streams):
            interrupted.set()

    def end_lanes(self) -> None:
        """Wait for them."""
        self._lanes.close()
