"""The time of a plan, told by the clock on the wall: for implementations whose clock nobody can set.

Time is counted in ms of the plan. An implementation of pace 100 has timers that are a hundred times faster than
standard, so that 20 s of the plan are 200 ms on the wall. What counts as the time of a step is what was measured, not
what the plan says: between two steps some time passes that is in no plan. Nobody can measure when, between its
beginning and its end, a step looked at its clock. So each step has a span, and ``suites.elapsed`` tells whether its
answer is the same throughout.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from math import ceil

from rocketmq_conformance.suites.declare.measured_time import Ready, Span

#: Seconds on the wall by which two clocks may differ that count in whole ms.
GRAIN = 0.001
#: Seconds on the wall that are waited beyond a tick, so that what is due after exactly that time is due on every clock.
GRACE = 0.003
#: Seconds on the wall that a step is expected to take at most. One whose answer changes within them begins after them.
MARGIN = 0.01
#: Seconds on the wall by which a timer may be late: a thread has to wake up first.
LATE = 0.01
#: How often a step is put off at most.
_PUT_OFF = 50


class Timekeeper:
    """Keeps the time of an implementation with a real clock."""

    def __init__(self, pace: float) -> None:
        self.pace = pace
        self._zero = time.monotonic()
        self._ready: Ready | None = None
        self._span = Span(0, 0)

    def begin_case(self) -> None:
        """Time is 0."""
        self._zero = time.monotonic()
        self._ready = None
        self._span = Span(0, 0)

    def now(self) -> int:
        """Ms of the plan since the case began."""
        return int((time.monotonic() - self._zero) * 1000 * self.pace)

    def seconds(self, millis: int) -> float:
        """Seconds on the wall of some ms of the plan."""
        return millis / 1000 / self.pace

    def wait(self, millis: int, beat: Callable[[], None]) -> None:
        """Wait for some ms of the plan; ``beat`` is called now and then."""
        until = time.monotonic() + self.seconds(millis) + GRACE
        while (left := until - time.monotonic()) > 0:
            beat()
            time.sleep(min(left, 1.0))

    def expect(self, ready: Ready) -> None:
        """Say whether the next step may begin."""
        self._ready = ready

    def begin(self) -> int:
        """A step begins, as soon as its answer does not change while it is played; when, in ms of the plan."""
        ready, self._ready = self._ready, None
        late, margin = self._ms(LATE), self._ms(MARGIN)
        for _ in range(_PUT_OFF if ready else 0):
            now = self.now()
            if ready is None or ready(now - late, now + margin):
                break
            time.sleep(MARGIN)
        begun = max(self.now(), self._span.begun)
        self._span = Span(begun, begun, late)
        return begun

    def end(self) -> None:
        """The step has ended."""
        self._span = self._span._replace(ended=self.now() + self._ms(GRAIN))

    def span(self) -> Span:
        """When the last step took place."""
        return self._span

    def _ms(self, seconds: float) -> int:
        return ceil(seconds * 1000 * self.pace)


class Recorded:
    """The times of a case that was played."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans: Iterator[Span] = iter(spans)

    def expect(self, ready: Ready) -> None:
        """It took place."""

    def span(self) -> Span:
        """When the next step took place."""
        return next(self._spans)
