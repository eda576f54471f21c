"""Timers on a clock that is turned: what is due is done in the order of its time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count


class VirtualTimers:
    """A clock (s), and what is to be done when."""

    def __init__(self) -> None:
        self._now = 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def now(self) -> float:
        """The time."""
        return self._now

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        """Do something so many seconds from now."""
        heapq.heappush(self._due, (self._now + seconds, next(self._numbers), do))

    def run(self, seconds: float) -> None:
        """Let so many seconds pass."""
        end = self._now + seconds
        while self._due and self._due[0][0] <= end:
            self._now, _, do = heapq.heappop(self._due)
            do()
        self._now = end
