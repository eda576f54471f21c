"""Waiting for something that others bring about, by looking again and again."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(
    done: Callable[[], bool], limit: float, every: float, sleep: Callable[[float], object] = time.sleep
) -> bool:
    """Look ``every`` so many seconds, for ``limit`` seconds at most, until it is ``done``; False when it is not.

    It is looked at once at least, and once more when the time is up.
    """
    until = time.monotonic() + limit
    while not done():
        if time.monotonic() > until:
            return False
        sleep(every)
    return True
