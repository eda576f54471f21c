"""Real time, measured in ms of a plan: for implementations whose clock cannot be set.

Time is counted in ms of the plan. An implementation of pace 100 has timers that are a hundred times faster than
standard, so that 20 s of the plan are 200 ms of real time. The time of a step is the measured one, not the plan's:
between two steps some time passes that is in no plan. It cannot be measured when, between its beginning and its end, a
step looked at its clock. So each step has a span, and ``suites.declare.measured_time`` finds out whether the expected
answer is the same throughout.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from math import ceil

from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.suites.declare.measured_time import Ready, Span

#: Real seconds by which two clocks that count in whole ms may differ.
GRAIN = 0.001
#: Real seconds added to the wait for a tick, so that what is due after exactly that time is due on every clock.
GRACE = 0.003
#: Real seconds that a step is expected to take at most. One whose answer changes within them begins after them.
MARGIN = 0.01
#: Real seconds by which a timer may be late: a thread has to wake up first.
LATE = 0.01
#: How often a step is put off at most.
_PUT_OFF = 50


class Timekeeper:
    """Keeps the time of an implementation with a real clock."""

    def __init__(self, pace: float, clock: SteadyClock = time) -> None:
        self.pace = pace
        self._clock = clock
        self._zero = clock.monotonic()
        self._ready: Ready | None = None
        self._span = Span(0, 0)

    def begin_case(self) -> None:
        """Begin a case: its time is 0."""
        self._zero = self._clock.monotonic()
        self._ready = None
        self._span = Span(0, 0)

    def now(self) -> int:
        """Ms of the plan since the case began."""
        return int((self._clock.monotonic() - self._zero) * 1000 * self.pace)

    def seconds(self, millis: int) -> float:
        """Real seconds for ``millis`` ms of the plan."""
        return millis / 1000 / self.pace

    def wait(self, millis: int, beat: Callable[[], None]) -> None:
        """Wait for ``millis`` ms of the plan; ``beat`` is called about once a second."""
        until = self._clock.monotonic() + self.seconds(millis) + GRACE
        while (left := until - self._clock.monotonic()) > 0:
            beat()
            self._clock.sleep(min(left, 1.0))

    def expect(self, ready: Ready) -> None:
        """Give the condition on which the next step may begin."""
        self._ready = ready

    def begin(self) -> int:
        """Begin a step, once its answer does not change while it is played; the time of the plan in ms."""
        ready, self._ready = self._ready, None
        late, margin = self._ms(LATE), self._ms(MARGIN)
        if ready:
            for _ in range(_PUT_OFF):
                now = self.now()
                if ready(now - late, now + margin):
                    break
                self._clock.sleep(MARGIN)
        start = max(self.now(), self._span.earliest)
        self._span = Span(start, start, late)
        return start

    def end(self) -> None:
        """End the step."""
        self._span = self._span._replace(latest=self.now() + self._ms(GRAIN))

    def span(self) -> Span:
        """The span of the last step."""
        return self._span

    def _ms(self, seconds: float) -> int:
        return ceil(seconds * 1000 * self.pace)


class Recorded:
    """The spans of a case that was played before, given again step by step."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans: Iterator[Span] = iter(spans)

    def expect(self, ready: Ready) -> None:
        """Nothing to wait for: the step took place already."""

    def span(self) -> Span:
        """The span of the next step."""
        return next(self._spans)
