"""Delay levels: how long a broker keeps a message before it stores it where it belongs (``messageDelayLevel``)."""

from __future__ import annotations

#: A broker's levels by default, and those of the brokers that the kit starts: level 1 takes a second, all others are
#: over at once, so that a case need not wait for them.
DEFAULT_LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
SHORT_LEVELS = "1s " + " ".join(["0s"] * 17)
#: The property that configures them.
LEVELS_PROPERTY = "messageDelayLevel"
_UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def parse_levels(text: str) -> tuple[int, ...]:
    """The time of each level in ms, level 1 first."""
    return tuple(int(level[:-1]) * _UNITS[level[-1]] for level in text.split(" "))


def effective_level(level: int, levels: int) -> int:
    """BQ-DELAY-LEVEL: the level at which a message waits, of so many; 0 when it does not wait."""
    return min(max(level, 0), levels)
