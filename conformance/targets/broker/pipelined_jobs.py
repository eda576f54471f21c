"""Runs many jobs side by side over one connection, each in a lane.

One request at a time cannot keep a broker busy: most of the time is spent waiting. A *job* is a generator that
yields requests and is sent the responses; :func:`run` keeps the requests of all jobs in flight at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Generic, TypeVar

from rocketmq_conformance.conformance.engine.steady_clock import SteadyClock
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker.requests import Ask

T = TypeVar("T")

#: Yielded by a job: requests (at least one), or seconds to wait. It is sent the responses in the order of the requests.
Wish = Sequence[Ask] | float
Job = Generator[Wish, list[Command], T]

#: Timeout: without any response for so long (s), the in-flight requests count as unanswered.
PATIENCE = 15.0


def run(
    connection: Connection, jobs: Sequence[Job[T]], patience: float = PATIENCE, clock: SteadyClock = time
) -> list[T]:
    """Run every job to its end; the results are in the order of the jobs.

    A job whose requests are not answered in time gets a TimeoutError where it waits. ConnectionError when the
    connection breaks.
    """
    started = _Run(connection, jobs, patience, clock)
    started.finish()
    return [started.results[at] for at in range(len(jobs))]


class _Run(Generic[T]):
    """The jobs of one call: the responses that they wait for, and the times until which they sleep."""

    def __init__(self, connection: Connection, jobs: Sequence[Job[T]], patience: float, clock: SteadyClock) -> None:
        self.connection = connection
        self.jobs = jobs
        self.patience = patience
        self.clock = clock
        self.results: dict[int, T] = {}
        #: The responses of each waiting job so far, by the place of their request.
        self.answers: dict[int, dict[int, Command]] = {}
        #: The number of responses that each job waits for.
        self.wanted: dict[int, int] = {}
        #: (job, place) of each in-flight request, by opaque.
        self.under_way: dict[int, tuple[int, int]] = {}
        #: (wake-up time, job), the earliest first.
        self.sleeping: list[tuple[float, int]] = []

    def finish(self) -> None:
        """Run until every job has ended."""
        for at, job in enumerate(self.jobs):
            self._resume(at, partial(next, job))
        while self.under_way or self.sleeping:
            self._wait()

    def _wait(self) -> None:
        """Wait until one response arrives, one job wakes up, or the timeout is over."""
        pause = self.sleeping[0][0] - self.clock.monotonic() if self.sleeping else self.patience
        if pause <= 0 or not self.under_way:
            self.clock.sleep(max(pause, 0))
            at = heappop(self.sleeping)[1]
            self._resume(at, partial(self.jobs[at].send, []))
            return
        try:
            answer = self.connection.collect(min(pause, self.patience))
        except TimeoutError:
            if pause >= self.patience:
                self._give_up()
            return
        at, place = self.under_way.pop(answer.opaque)
        answers = self.answers[at]
        answers[place] = answer
        if len(answers) == self.wanted[at]:
            self._resume(at, partial(self.jobs[at].send, [answers[place] for place in range(len(answers))]))

    def _give_up(self) -> None:
        """Timeout: raise a TimeoutError in every job that waits for a response."""
        self.connection.forget()
        waiting = sorted({at for at, _ in self.under_way.values()})
        self.under_way.clear()
        for at in waiting:
            self._resume(at, partial(self.jobs[at].throw, TimeoutError("the broker did not answer in time")))

    def _resume(self, at: int, go_on: Callable[[], Wish]) -> None:
        """Resume a job until it waits again, or ends."""
        try:
            wish = go_on()
        except StopIteration as end:
            self.results[at] = end.value
            return
        if isinstance(wish, float):
            heappush(self.sleeping, (self.clock.monotonic() + wish, at))
            return
        self.answers[at], self.wanted[at] = {}, len(wish)
        for place, (code, ext, body) in enumerate(wish):
            self.under_way[self.connection.post(code, ext, body)] = at, place
