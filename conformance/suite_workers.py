"""Suites side by side: processes that each open the implementation for themselves, and judge one suite at a time.

The events are those of a run in one process, and in its order: of the first suite that has not ended as they come, and
of those that others play meanwhile when it is their turn. A worker that dies takes one suite with it, which could not
be run; another one begins for the suites that are left.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from types import FrameType

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.engine.gc_pause import rare_collections
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.peak_memory import peak_memory
from rocketmq_conformance.conformance.engine.runner import Events, Runner, deliver
from rocketmq_conformance.conformance.engine.suite_run import SuiteResult
from rocketmq_conformance.conformance.opening import Opening, opened
from rocketmq_conformance.conformance.process_group import how_it_ended
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite

#: Seconds in which a worker collects events before it hands them over.
_TOGETHER = 0.1
#: Seconds that workers have to end the case that they play when the run is interrupted.
_END_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class _SuitePlayed:
    """A suite has ended: its last events, what it has come to, and the most memory of the worker so far, in bytes."""

    events: Sequence[Event]
    result: SuiteResult
    memory: int


@dataclass(frozen=True, slots=True)
class _NotOpened:
    """A worker could not open the implementation."""

    reason: str


# --- in the first process ------------------------------------------------------------------------------------------


class _Part:
    """A suite of the run: its events that have not been handed over, and what it has come to."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.events: deque[Event] = deque()
        self.has_begun = False
        self.result: SuiteResult | None = None
        #: Seconds that it may play.
        self.share: float | None = None

    def could_not_run(self, verdict: str, reason: str) -> None:
        """End it: whoever played it is gone."""
        suite = self.suite
        if not self.has_begun:
            self.events.append(
                event.SuiteStarted(suite=suite.name, sentence=suite.sentence, cases=0, steps=suite.steps, plan="")
            )
        ended = event.SuiteEnded(
            suite=suite.name,
            verdict=verdict,
            cases=dict.fromkeys(event.VERDICTS, 0),
            steps=0,
            seconds=0.0,
            coverage=[],
            silent_rules=[],
            control=None,
            unsupported={},
            reason=reason,
        )
        self.events.append(ended)
        self.result = SuiteResult(ended)


class _Worker:
    """A process that plays suites."""

    def __init__(self, number: int, opening: Opening, options: Options, names: Sequence[str]) -> None:
        context = get_context("spawn")  # what the first process has open cannot be forked
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, number, opening, options, names))
        resource_tracker.ensure_running()  # the first start would do it, and let Ctrl-C through
        with _undisturbed(signal.SIGINT):  # which it inherits
            self.process.start()
        other.close()
        #: What it plays.
        self.part: _Part | None = None

    def play(self, part: _Part) -> None:
        """Let it play a suite."""
        self.part = part
        with suppress(OSError):  # it has died, and its suite is seen to be lost
            self.connection.send((part.suite.name, part.share))

    def end(self) -> None:
        """Let it close the implementation, and end; whoever hands something over sees that nobody takes it."""
        self.connection.close()
        if self.part is not None:
            self.process.terminate()

    def how_it_ended(self) -> str:
        """How its process ended, in words."""
        self.process.join(_END_PATIENCE)
        code = self.process.exitcode
        return "its process does not end" if code is None else f"its process {how_it_ended(code)}"


class SuiteWorkers:
    """So many processes, each with an implementation of its own."""

    def __init__(self, count: int, opening: Opening, options: Options) -> None:
        self._count = count
        self._opening = opening
        self._options = replace(options, clauses={})  # they are for what is reported of rules, which is done here
        self._parts: list[_Part] = []
        #: The place of the suite whose events are handed over.
        self._turn = 0
        #: Suites that have not begun.
        self._left: deque[_Part] = deque()
        #: Those that can play, and all that have ever begun.
        self._workers: list[_Worker] = []
        self._begun: list[_Worker] = []
        #: Why no worker could open the implementation, as the last one of them says.
        self._not_opened = ""
        #: When the time limit is over, once the first of them plays.
        self._end_of_time: float | None = None
        #: When workers are killed that have not ended; None before the run is interrupted.
        self._deadline: float | None = None

    def play(self, runner: Runner, suites: Sequence[Suite]) -> Events:
        """Play the suites of a run; KeyboardInterrupt goes on after the events of those that had begun."""
        self._parts = [_Part(suite) for suite in suites]
        self._left = deque(self._parts)
        try:
            for _ in range(min(self._count, len(suites))):
                self._begin_worker()
            try:
                yield from self._events(runner)
            except KeyboardInterrupt:
                self._interrupt()
                yield from self._events(runner)
                raise
        finally:
            self._end()

    def _events(self, runner: Runner) -> Events:
        """Hand over the events of the suites in their order, until all have ended that have begun or may begin."""
        while self._turn < len(self._parts):
            part = self._parts[self._turn]
            while part.events:
                yield part.events.popleft()
            if part.result is not None:
                runner.add(part.result)
                self._turn += 1
            elif self._deadline is not None and part in self._left:
                self._turn += 1
            else:
                self._hand_out()
                self._take(runner)

    def _begin_worker(self) -> None:
        names = [part.suite.name for part in self._parts]
        worker = _Worker(len(self._begun) + 1, self._opening, self._options, names)
        self._begun.append(worker)
        self._workers.append(worker)

    def _hand_out(self) -> None:
        """Give every worker that has none a suite."""
        for worker in self._workers:
            if worker.part is None and self._left and self._deadline is None:
                part = self._left.popleft()
                part.share = self._share()
                worker.play(part)
        if not self._workers and self._deadline is None:
            while self._left:
                self._left.popleft().could_not_run(event.COULD_NOT_RUN, self._not_opened)

    def _share(self) -> float | None:
        """Seconds that the next suite may play: its share of what is left to all workers."""
        limit = self._options.max_time
        if limit is None:
            return None
        spent = sum(part.result.playing if part.result else part.share or 0.0 for part in self._parts)
        share = max(0.0, limit * self._count - spent) / (len(self._left) + 1)
        if self._end_of_time is None:
            return share
        return min(share, max(0.0, self._end_of_time - time.monotonic()))

    def _take(self, runner: Runner) -> None:
        """Wait for workers that play, and take what they hand over."""
        timeout = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        playing = [worker for worker in self._workers if worker.part is not None]
        ready = wait([worker.connection for worker in playing], timeout) if playing else []
        if not ready:  # they were interrupted, and have had their time
            for worker in playing:
                worker.process.kill()
        for worker in playing:
            if worker.connection in ready:
                self._take_from(worker, runner)

    def _take_from(self, worker: _Worker, runner: Runner) -> None:
        part = worker.part
        assert part is not None
        try:
            with _undisturbed(signal.SIGINT, signal.SIGTERM):
                message = worker.connection.recv()
        except (EOFError, OSError):
            self._lose(worker, part)
            return
        if isinstance(message, OSError):
            raise message
        if self._end_of_time is None and self._options.max_time is not None and not isinstance(message, _NotOpened):
            self._end_of_time = time.monotonic() + self._options.max_time
        if isinstance(message, _SuitePlayed):
            part.events.extend(message.events)
            part.result, worker.part = message.result, None
            runner.memory_elsewhere[worker.process.pid or 0] = message.memory
        elif isinstance(message, _NotOpened):
            self._not_opened = message.reason
            self._left.appendleft(part)
            worker.part = None
            self._workers.remove(worker)
        else:
            part.has_begun = True
            part.events.extend(message)

    def _lose(self, worker: _Worker, part: _Part) -> None:
        """A worker has died while it played a suite."""
        self._workers.remove(worker)
        if self._deadline is not None:
            part.could_not_run(event.UNDECIDED, event.INTERRUPTED)
            return
        part.could_not_run(event.COULD_NOT_RUN, worker.how_it_ended())
        if self._left:
            self._begin_worker()

    def _interrupt(self) -> None:
        """Begin no other suite, and let those that are played end with the step that they are at."""
        self._deadline = time.monotonic() + _END_PATIENCE
        for worker in self._workers:
            worker.process.terminate()

    def _end(self) -> None:
        """End all processes; each closes its implementation first."""
        for worker in self._begun:
            worker.end()
        deadline = time.monotonic() + _END_PATIENCE
        try:
            for worker in self._begun:
                worker.process.join(max(0.0, deadline - time.monotonic()))
        finally:  # Ctrl-C again: they have no more time
            for worker in self._begun:
                worker.process.kill()
                worker.process.join()


# --- in a worker ---------------------------------------------------------------------------------------------------


class _GoneError(Exception):
    """There is nothing to hand over, or the first process takes nothing any more."""


def _work(connection: Connection, number: int, opening: Opening, options: Options, names: Sequence[str]) -> None:
    """Open the implementation, and play suites for as long as there are any."""
    # Ctrl-C reaches all processes of a terminal: the first one says when the others end
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    log = options.out / f"worker-{number}" if options.out else None
    with suppress(KeyboardInterrupt, EOFError, _GoneError):
        suites = {name: SUITES[name] for name in names}
        try:
            with opened(opening, list(suites.values()), log=log) as (stage, hello, profile), rare_collections():
                runner = Runner(stage, hello, profile, options)
                while True:
                    name, share = connection.recv()
                    _play(connection, runner, suites[name], share)
        except (AddressError, AdapterError, CannotRunError) as error:
            _send(connection, _NotOpened(str(error)))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _play(connection: Connection, runner: Runner, suite: Suite, share: float | None) -> None:
    """Play a suite, and hand over its events, some at a time."""
    events: list[Event] = []
    sent, before = time.monotonic(), runner.last

    def receive(one: Event) -> None:
        nonlocal events, sent
        events.append(one)
        now = time.monotonic()
        if now - sent >= _TOGETHER and not isinstance(one, event.SuiteEnded):
            waiting, events, sent = events, [], now
            _send(connection, waiting)

    try:
        deliver(runner.suite(suite, share), receive)
    except KeyboardInterrupt:
        pass  # its last event says so
    except OSError as error:
        _send(connection, error)
        return
    if runner.last is None or runner.last is before:  # interrupted before it began
        raise _GoneError
    _send(connection, _SuitePlayed(events, runner.last, peak_memory()))


def _send(connection: Connection, message: object) -> None:
    try:
        with _undisturbed(signal.SIGINT, signal.SIGTERM):
            connection.send(message)
    except OSError as error:
        raise _GoneError from error


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _undisturbed(*signals: signal.Signals) -> Iterator[None]:
    """Let nobody interrupt what must be sent, received or started whole; on Windows workers are ended instead."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
