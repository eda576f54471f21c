"""A steady clock that moves when it is read or waited on, and by nothing else: no other process changes it."""

from __future__ import annotations

from collections.abc import Callable

#: Seconds that pass between two readings.
READING = 20e-6


class SimulatedClock:
    """What a real clock shows on a machine that has nothing else to do."""

    def __init__(self) -> None:
        self.seconds = 100.0
        #: Every wait, in seconds.
        self.waits: list[float] = []
        #: What others get done while somebody waits.
        self.meanwhile: Callable[[], None] = _nothing

    def monotonic(self) -> float:
        self.seconds += READING
        return self.seconds

    def sleep(self, seconds: float, /) -> None:
        self.meanwhile()
        self.waits.append(seconds)
        self.seconds += seconds


def _nothing() -> None:
    pass
