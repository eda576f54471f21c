"""The clock that real time is measured with, and the wait for what others bring about, by looking again and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Protocol


class SteadyClock(Protocol):
    """Seconds that only grow, and a wait: the module ``time``, or a simulated clock in tests."""

    def monotonic(self) -> float:
        """Seconds since some moment."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Wait."""
        ...


def looks(limit: float, clock: SteadyClock = time, least: int = 0) -> Iterator[bool]:
    """Go round once a look, for ``limit`` seconds, and once more when they are over: is it the last look?

    Who looks pauses in between. More than ``least`` looks are taken on a machine that is too busy for them, too.
    """
    until = clock.monotonic() + limit
    for before in count():
        last = before >= least and clock.monotonic() >= until
        yield last
        if last:
            return


def fair_looks(limit: float, pause: float, longest: float, clock: SteadyClock = time) -> Iterator[None]:
    """Go round once a look, for ``limit`` seconds of which a look is at most two pauses: looks that take longer say
    that the machine is busy, not that what is waited for is late. TimeoutError when the looks take more than
    ``longest`` seconds: that decides nothing.

    Who looks pauses in between, for ``pause`` seconds.
    """
    began = seen = clock.monotonic()
    spent = 0.0
    while spent <= limit:
        yield
        now = clock.monotonic()
        spent += min(now - seen, 2 * pause)
        seen = now
        if spent <= limit and now - began > longest:
            raise TimeoutError(f"what was waited for had not come within {longest:.0f} s, on a machine that is busy")


def wait_until(done: Callable[[], object], limit: float, every: float, clock: SteadyClock = time) -> bool:
    """Look ``every`` so many seconds, for ``limit`` seconds at most, until it is ``done``; False when it is not.

    It is looked at once at least, and once more when the time is up.
    """
    for last in looks(limit, clock):
        if done():
            return True
        if not last:
            clock.sleep(every)
    return False
