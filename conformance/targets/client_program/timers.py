"""The timers of a consumer program, as settings of its address: how long a case waits for what depends on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

from rocketmq_conformance.conformance.adapter import FASTEST
from rocketmq_conformance.conformance.targets.client_program.timing import Timing

#: The timers that looks depend on, and what clients have by default, in seconds.
STANDARD: Mapping[str, float] = {
    "rebalance": 20.0,
    "persist": 5.0,
    "first_persist": 10.0,
    "correction": 10.0,
    "heartbeat": 30.0,
    "routes": 30.0,
}
#: The shortest and the longest timer that can be set, in seconds.
SHORTEST, LONGEST = 0.01, 600.0
#: How much longer than a timer is waited for it, at least and in standard time.
_LATE = 0.5
#: The part of a look, in standard seconds, that is no timer's: three tries of what was refused, and a busy machine.
_REST = 5.0


def timers_of(settings: Mapping[str, str], pace: float) -> dict[str, float]:
    """The timers in seconds: those of the settings, others ``pace`` times faster than standard. ValueError with a
    sentence."""
    return {name: _seconds(name, settings, standard / pace) for name, standard in STANDARD.items()}


def _seconds(name: str, settings: Mapping[str, str], default: float) -> float:
    if name not in settings:
        return default
    try:
        seconds = float(settings[name])
    except ValueError:
        seconds = -1.0
    if not (isfinite(seconds) and SHORTEST <= seconds <= LONGEST):
        raise ValueError(
            f"{name}={settings[name]} is no time: write seconds from {SHORTEST:g} to {LONGEST:g}, such as "
            f"{name}={STANDARD[name] / 20:g}."
        )
    return seconds


def slowest(timers: Mapping[str, float]) -> float:
    """How many times faster than standard the slowest of these timers is."""
    return min(standard / timers[name] for name, standard in STANDARD.items())


def overall_pace(timers: Mapping[str, float], pace: float) -> float:
    """How many times faster than standard a look is."""
    first = max(timers["first_persist"], timers["persist"])
    standard = STANDARD["correction"] + STANDARD["rebalance"] + STANDARD["first_persist"] + _REST
    faster = standard / (timers["correction"] + timers["rebalance"] + first + _REST / pace)
    return min(round(faster, 6), FASTEST)


def timing_of(timers: Mapping[str, float], pace: float) -> Timing:
    """How long is waited for a program with these timers, whose others are ``pace`` times faster than standard."""
    late = _LATE + _LATE / pace
    first = max(timers["first_persist"], timers["persist"])
    return replace(
        Timing.of(min(pace, slowest(timers))),
        program_pace=pace,
        look=_REST + timers["correction"] + timers["rebalance"] + first + _REST / pace,
        quiet=late,
        round=timers["rebalance"] + late,
        write=first + late,
        routes=max(timers["routes"], timers["heartbeat"]) + late,
    )
