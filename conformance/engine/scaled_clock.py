"""A real clock that is a number of times faster than standard."""

from __future__ import annotations

import time

from rocketmq_conformance.conformance.waiting import SteadyClock


class ScaledClock:
    """Ms of standard time since it began: the machine's steady clock times the pace."""

    def __init__(self, pace: float, clock: SteadyClock = time) -> None:
        self.pace = pace
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """Start again at 0."""
        self._zero = self._clock.monotonic()
        self._seen = 0

    def now(self) -> int:
        """Whole ms since it began."""
        return int((self._clock.monotonic() - self._zero) * 1000 * self.pace)

    def passed(self) -> int:
        """Whole ms since the last call, or since it began."""
        now = self.now()
        passed, self._seen = now - self._seen, now
        return passed
