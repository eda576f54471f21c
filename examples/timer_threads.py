"""An implementation with a thread of its own: an orderly listener whose suspended runs are woken by that thread.

Nobody can set its clock, but its timers can be made faster, and the adapter says how much: at a pace of 100 a run that
is suspended for 30 s is woken after 300 ms, and a tick of 30 s is waited for as long. Try it from this folder:
``rocketmq-conformance run 'python:timer_threads:make?pace=100' -k consume-orderly --cases 20``.

What the thread drives is the bundled port, so that the example is short. Yours drives your client.
"""

from __future__ import annotations

import threading
import time

from rocketmq_conformance import SUITES, Case, Hello, Operation, Outcome, Port

#: Seconds between two looks at the clock.
LOOK = 0.001


class TimerThread:
    """The adapter. A thread looks at the clock and wakes what is due; the plan's ticks wake nothing."""

    def __init__(self, pace: float) -> None:
        self.pace = pace
        self.client = Port()
        #: Held while the client is used, by the thread or by an operation.
        self.lock = threading.Lock()
        #: When the client was last told the time of its case, in seconds.
        self.looked = 0.0
        self.closed = threading.Event()
        threading.Thread(target=self.keep_looking, daemon=True).start()

    def keep_looking(self) -> None:
        """Pass on the time of the machine until the adapter is closed."""
        while not self.closed.wait(LOOK):
            with self.lock:
                millis = int((time.monotonic() - self.looked) * 1000 * self.pace)
                self.client.pass_time(millis)
                self.looked += millis / 1000 / self.pace

    def hello(self) -> Hello:
        others = dict.fromkeys((name for name in SUITES if name != "consume-orderly"), "it is an orderly listener")
        return Hello("timer-thread", "1.0", unsupported=others, sides=("client",), clock="real", pace=self.pace)

    def reset(self, case: Case) -> None:
        with self.lock:
            self.client.reset(case)
            self.looked = time.monotonic()

    def apply(self, operation: Operation) -> Outcome:
        with self.lock:
            if operation.spec.duration:  # the time of the plan has passed by now: what came of it?
                return self.client.pass_time(0)
            return self.client.apply(operation)

    def close(self) -> None:
        self.closed.set()
        self.client.close()


def make(pace: str = "1") -> TimerThread:
    """What the address names."""
    return TimerThread(float(pace))
