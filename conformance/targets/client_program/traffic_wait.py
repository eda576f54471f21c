"""The wait for what a step is expected to show in the traffic of a case, no longer than the client may take.

Owners and what was given have a limit of their own, before that of stored offsets, which wait for a timer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from rocketmq_conformance.conformance.waiting import wait_until

#: Seconds between two looks at the traffic.
_POLL_INTERVAL = 0.05


class Interrupted(Exception):  # noqa: N818 - not an error: the run ends
    """The run ends while a case is played."""


class Clock:
    """The time of the machine (s); ``interrupted`` ends every wait."""

    def __init__(self, interrupted: threading.Event) -> None:
        self._interrupted = interrupted

    @property
    def is_over(self) -> bool:
        """Does the run end?"""
        return self._interrupted.is_set()

    def monotonic(self) -> float:
        """The time."""
        return time.monotonic()

    def sleep(self, seconds: float, /) -> None:
        """Let time pass; Interrupted at the end of a run."""
        if self._interrupted.wait(seconds):
            raise Interrupted

    def wait(self, done: Callable[[], object], limit: float) -> None:
        """Wait until something is the case, so many seconds at most."""
        wait_until(done, limit, _POLL_INTERVAL, self)


class Limits(NamedTuple):
    """Seconds until owners, and everything, are seen; how long it goes on to be seen; how much later both may be when
    a heartbeat has to come first; and until everything is seen of clients whose timers are standard, if these are
    faster (else 0)."""

    owners: float
    everything: float
    quiet: float
    heartbeat: float = 0.0
    standard: float = 0.0


def wait_for_traffic(
    clock: Clock,
    limits: Limits,
    owners: Callable[[], bool],
    everything: Callable[[], bool],
    ended: Callable[[], object],
    later: Callable[[], float] = lambda: 0.0,
) -> bool:
    """Was everything seen in time, and for a while? Back at once when members have ``ended``, or owners are late.

    By so many seconds ``later`` a member may do everything, by what it is seen to wait for.
    """
    began = clock.monotonic()

    def spent() -> float:
        return clock.monotonic() - began - later()

    def is_late() -> bool:
        return spent() >= limits.owners and not owners()

    while True:
        clock.wait(
            lambda: ended() or everything() or is_late() or spent() >= limits.everything,
            limits.everything + limits.heartbeat,
        )
        if is_late():
            return False
        clock.wait(ended, limits.quiet)
        if ended() or everything():
            return not ended()
        if spent() >= limits.everything:
            return False
