"""The clock that real time is measured with and waited on."""

from __future__ import annotations

from typing import Protocol


class SteadyClock(Protocol):
    """Seconds that only grow, and a wait: the module ``time``, or a simulated clock in tests."""

    def monotonic(self) -> float:
        """Seconds since some moment."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Wait."""
        ...
