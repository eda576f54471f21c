"""An implementation with timers of its own: an orderly listener whose suspended runs are woken by threads.

Nobody can set its clock, but its timers can be made faster, and the adapter says how much: at a pace of 100 a run that
is suspended for 30 s is woken after 300 ms, and a tick of 30 s is waited for as long. Try it from this folder:
``rocketmq-conformance run 'python:timer_threads:make?pace=100' -k consume-orderly --cases 20``.
"""

from __future__ import annotations

import threading

from rocketmq_conformance.conformance.adapter import Case, Hello
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.conformance.targets.port.consume_orderly import ConsumeOrderly
from rocketmq_conformance.conformance.targets.port.process_queue import Backlog
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation


class Woken(ConsumeOrderly):
    """The port's orderly listener, but for its timers."""

    pace = 1.0

    def begin(self, mode: str, max_times: int, batch: int) -> None:
        """A new consumer: what was planned for the one before is forgotten."""
        super().begin(mode, max_times, batch)
        self.planned = []

    def wait(self, backlog: Backlog, suspension: int) -> None:
        """Plan another run."""
        planned = self.planned

        def wake() -> None:
            if planned is self.planned:
                self.runs.append(backlog)

        timer = threading.Timer(self.pause(suspension) / 1000 / self.pace, wake)
        timer.daemon = True
        planned.append(timer)
        timer.start()

    def tick(self, millis: int = 0) -> int:
        """Time has passed, as the clock says: nobody tells how much."""
        return len(self.runs)


class TimerThreads:
    """The adapter."""

    def __init__(self, pace: float) -> None:
        self.pace = pace
        self.port = Port({"consume-orderly": type("Woken", (Woken,), {"pace": pace})})

    def hello(self) -> Hello:
        others = dict.fromkeys((name for name in SUITES if name != "consume-orderly"), "it is an orderly listener")
        return Hello("timer-threads", "1.0", unsupported=others, sides=("client",), clock="real", pace=self.pace)

    def reset(self, case: Case) -> None:
        self.port.reset(case)

    def apply(self, operation: Operation) -> Outcome:
        return self.port.apply(operation)

    def close(self) -> None:
        self.port.close()


def make(pace: str = "1") -> TimerThreads:
    return TimerThreads(float(pace))
