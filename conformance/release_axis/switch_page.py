"""The switches between two releases, as a page and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rocketmq_conformance.models.broker import switches as broker
from rocketmq_conformance.models.client import switches as client
from rocketmq_conformance.models.release import KNOWN, PUBLISHED, Release, Switch, switches_of
from rocketmq_conformance.reports.prediction import DOUBTFUL, GOOD, PLAIN, Cell, Page, Section
from rocketmq_conformance.reports.text import count

_DECLARED = {"client": switches_of(client), "broker": switches_of(broker)}


def switched(side: str, first: Release, last: Release) -> list[tuple[Release, Switch]]:
    """What differs between the two releases of a side, each with the release on the way that made it differ last."""
    way = _way(first, last)
    found = []
    for switch in _DECLARED[side]:
        if switch.on(first) != switch.on(last):
            made = [later for earlier, later in pairwise(way) if switch.on(earlier) != switch.on(later)]
            found.append((made[-1], switch))
    return sorted(found, key=lambda pair: way.index(pair[0]))


def _way(first: Release, last: Release) -> list[Release]:
    """The releases from one to the other, downwards where that leads down."""
    older, newer = sorted((first, last))
    between = [release for release in sorted({*PUBLISHED, KNOWN}) if older < release < newer]
    way = [older, *between, newer]
    return way if first <= last else way[::-1]


def switches_page(first: Release, last: Release, sides: Sequence[str]) -> Page:
    """What changes, side by side."""
    found = {side: switched(side, first, last) for side in sides}
    text = " and ".join(f"{count(len(some), 'change')} of {side}s" for side, some in found.items())
    newer = [Cell(f"The kit knows releases up to {KNOWN}.", DOUBTFUL)] if max(first, last) > KNOWN else []
    sections = [Section("Note", lines=tuple(newer))] if newer else []
    for side, some in found.items():
        if some:
            rows = tuple(_row(release, switch, last) for release, switch in some)
            sections.append(Section(f"{side.capitalize()}s", ("at", "switch", "what changes", "rules", "source"), rows))
    return Page(f"From {first} to {last}", Cell(f"{text}.", PLAIN if any(found.values()) else GOOD), tuple(sections))


def _row(release: Release, switch: Switch, last: Release) -> tuple[Cell, ...]:
    return (
        Cell(str(release)),
        Cell(switch.id),
        Cell(switch.change_at(last)),
        Cell(", ".join(switch.rules)),
        Cell(switch.source.replace("`", "")),
    )


def switches_document(first: Release, last: Release, sides: Sequence[str]) -> dict[str, Any]:
    """What changes, side by side."""
    return {
        "format": 1,
        "from": str(first),
        "to": str(last),
        **{
            f"{side}s": [
                {
                    "release": str(release),
                    "switch": switch.id,
                    "on": switch.on(last),
                    "change": switch.change,
                    "rules": list(switch.rules),
                    "source": switch.source.replace("`", ""),
                }
                for release, switch in switched(side, first, last)
            ]
            for side in sides
        },
    }
