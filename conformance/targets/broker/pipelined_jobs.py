"""Runs many jobs side by side over one connection, each in a lane.

One request at a time cannot keep a broker busy: most of the time is spent waiting. A *job* is a generator that
yields requests and is sent the responses; :func:`run` keeps the requests of all jobs in flight at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import islice
from typing import Generic, TypeVar

from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker.requests import Ask
from rocketmq_conformance.conformance.waiting import SteadyClock

T = TypeVar("T")

#: Yielded by a job: requests (at least one), or seconds to wait. It is sent the responses in the order of the requests.
Wish = Sequence[Ask] | float
Job = Generator[Wish, list[Command], T]

#: Timeout: without any response for so long (s), the in-flight requests count as unanswered.
PATIENCE = 15.0


def run(
    connection: Connection, jobs: Sequence[Job[T]], patience: float = PATIENCE, clock: SteadyClock = time
) -> list[T]:
    """Run every job to its end, all side by side; the results are in the order of the jobs.

    A job whose requests are not answered in time gets a TimeoutError where it waits. ConnectionError when the
    connection breaks.
    """
    return list(stream(connection, jobs, len(jobs), patience, clock))


def stream(
    connection: Connection,
    jobs: Iterable[Job[T]],
    lanes: int,
    patience: float = PATIENCE,
    clock: SteadyClock = time,
) -> Generator[T, None, None]:
    """The same of jobs that are taken one by one: a result is handed over while others are in flight.

    So many jobs at most have started whose results were not taken yet: which job begins after which result depends on
    their order alone. What is in flight is given up when the generator is closed.
    """
    running: _Run[T] = _Run(connection, patience, clock)
    waiting = iter(jobs)
    started = taken = 0
    try:
        while True:
            for job in islice(waiting, taken + lanes - started):
                running.begin(started, job)
                started += 1
            if taken == started:
                return
            yield running.result(taken)
            taken += 1
    finally:
        running.give_up()


class _Run(Generic[T]):
    """Jobs that run: the responses that they wait for, and the times until which they sleep."""

    def __init__(self, connection: Connection, patience: float, clock: SteadyClock) -> None:
        self.connection = connection
        self.jobs: dict[int, Job[T]] = {}
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

    def begin(self, at: int, job: Job[T]) -> None:
        """Run a job until it waits."""
        self.jobs[at] = job
        self._resume(at, partial(next, job))

    def result(self, at: int) -> T:
        """Run until a job has ended."""
        while at not in self.results:
            self._wait()
        return self.results.pop(at)

    def give_up(self) -> None:
        """Drop what is in flight, and end the jobs that wait for it."""
        if self.under_way:
            self.connection.forget()
        for job in self.jobs.values():
            job.close()

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
                self._time_out()
            return
        at, place = self.under_way.pop(answer.opaque)
        answers = self.answers[at]
        answers[place] = answer
        if len(answers) == self.wanted[at]:
            self._resume(at, partial(self.jobs[at].send, [answers[place] for place in range(len(answers))]))

    def _time_out(self) -> None:
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
            for kept in (self.jobs, self.answers, self.wanted):
                kept.pop(at, None)
            return
        if isinstance(wish, float):
            heappush(self.sleeping, (self.clock.monotonic() + wish, at))
            return
        self.answers[at], self.wanted[at] = {}, len(wish)
        for place, (code, ext, body) in enumerate(wish):
            self.under_way[self.connection.post(code, ext, body)] = at, place
