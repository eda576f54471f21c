"""Curves of discovery: behaviours first seen over cases, the random and the steered arm side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rocketmq_conformance.reports.event import Discovery
from rocketmq_conformance.reports.html_text import clipped, figure, share

#: Charts and points of a curve that are drawn.
CHARTS, POINTS = 24, 600
#: The chart's plane; text keeps its size on a phone because the chart is not scaled below it.
WIDTH, HEIGHT = 340, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 12, 30
#: From so many cases on, the axis of cases is logarithmic: most is seen in the first few.
_LOG = 100
#: A larger number is not a plausible count, and floats lose digits of it.
_MOST = 10**15


@dataclass(frozen=True)
class Tick:
    """A mark on an axis, at a place in the plane."""

    at: float
    label: str


@dataclass(frozen=True)
class Curve:
    """One arm."""

    arm: str
    #: "random" or "steered"; anything else is drawn as "other".
    style: str
    #: Points of the polyline, as SVG has them.
    points: str
    #: The last point.
    end: tuple[float, float] | None
    cases: str
    behaviours: str
    chance: str
    #: Points of the event that are not drawn.
    left_out: int


@dataclass(frozen=True)
class Chart:
    """The arms of one suite, or of all of them."""

    suite: str
    curves: list[Curve]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    logarithmic: bool


def charts(discoveries: Sequence[Discovery]) -> tuple[list[Chart], int]:
    """A chart per suite, that of all suites first; and how many are left out."""
    suites: dict[str, list[Discovery]] = {}
    for one in sorted(discoveries, key=lambda one: one.suite != ""):
        suites.setdefault(one.suite, []).append(one)
    names = list(suites)
    return [_chart(name, suites[name]) for name in names[:CHARTS]], max(0, len(names) - CHARTS)


def _chart(suite: str, arms: list[Discovery]) -> Chart:
    points = [_points(arm) for arm in arms]
    most_cases = max([cases for line in points for cases, _ in line], default=1)
    most_seen = max([seen for line in points for _, seen in line], default=1)
    logarithmic = most_cases >= _LOG
    y_ticks = _round_numbers(most_seen)
    top = max(y_ticks[-1], most_seen, 1)

    def x(cases: int) -> float:
        reached = math.log(max(cases, 1)) / math.log(most_cases) if logarithmic else cases / max(most_cases, 1)
        return round(_LEFT + reached * (WIDTH - _LEFT - _RIGHT), 1)

    def y(seen: int) -> float:
        return round(HEIGHT - _BOTTOM - seen / top * (HEIGHT - _TOP - _BOTTOM), 1)

    curves = []
    for arm, line in zip(arms, points, strict=True):
        places = [(x(cases), y(seen)) for cases, seen in line]
        curves.append(
            Curve(
                clipped(arm.arm, 40) or "unnamed",
                arm.arm if arm.arm in ("random", "steered") else "other",
                " ".join(f"{across:g},{down:g}" for across, down in places),
                places[-1] if places else None,
                figure(arm.cases),
                figure(arm.behaviours),
                share(arm.chance),
                len(arm.curve) - len(line),
            )
        )
    x_ticks = (
        _powers(most_cases) if logarithmic else [tick for tick in _round_numbers(most_cases) if tick <= most_cases]
    )
    return Chart(
        clipped(suite, 80),
        curves,
        [Tick(x(tick), _short(tick)) for tick in x_ticks],
        [Tick(y(tick), _short(tick)) for tick in y_ticks],
        logarithmic,
    )


def _points(arm: Discovery) -> list[tuple[int, int]]:
    """The well-formed points, in the order of their cases, thinned out evenly when there are too many."""
    good = sorted((min(max(p[0], 0), _MOST), min(max(p[1], 0), _MOST)) for p in arm.curve if len(p) == 2)
    if len(good) <= POINTS:
        return good
    return [good[at * (len(good) - 1) // (POINTS - 1)] for at in range(POINTS)]


def _round_numbers(most: int) -> list[int]:
    """0 and about three round numbers up to ``most`` or a little more."""
    step = 1
    while step * 4 < most:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return [step * at for at in range(-(-most // step) + 1)]


def _powers(most: int) -> list[int]:
    """Powers of ten up to ``most``, at most six of them."""
    powers = range(len(str(most)))
    return [10**power for power in powers if power % (len(powers) // 6 + 1) == 0]


def _short(number: int) -> str:
    """``20``, ``1 k``, ``2.5 M``."""
    for size, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:g} {unit}"
    return str(number)
