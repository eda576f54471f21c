"""The timers of a consumer program, as settings of its address: how long a case waits for what depends on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import FASTEST
from rocketmq_conformance.conformance.targets.address_kinds import STANDARD
from rocketmq_conformance.conformance.targets.client_program.timing import Timing

#: How much longer than a timer is waited for it, at least and in standard time.
_LATE = 0.5
#: The part of a look, in standard seconds, that is no timer's: three tries of what was refused, and a busy machine.
_REST = 5.0


def timers_of(given: Mapping[str, float], pace: float) -> dict[str, float]:
    """The timers in seconds: those that are given, others ``pace`` times faster than standard."""
    return {name: standard / pace for name, standard in STANDARD.items()} | dict(given)


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
