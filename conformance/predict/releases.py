"""The published releases, and how ranges of them are read and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rocketmq_conformance.models.broker.wire import description, ordinal
from rocketmq_conformance.models.release import PUBLISHED, Release

#: Every published release, the oldest first; clients and brokers are published together.
RELEASES = PUBLISHED
_BY_ORDINAL = {ordinal(release): release for release in RELEASES if not release.stage}
_BY_DESCRIPTION = {description(release): release for release in RELEASES}

Shown = TypeVar("Shown")


def of_ordinal(number: int) -> Release | None:
    """The release that identifies itself by a number; None for none that is known."""
    return _BY_ORDINAL.get(number)


def of_description(text: str) -> Release | None:
    """The release that identifies itself by a name such as V5_5_0; None for none that is known."""
    return _BY_DESCRIPTION.get(text)


def range_of(text: str) -> tuple[Release, ...]:
    """The published releases of "4.9.4..5.5.0", "4.9.8" or several of them between commas; ValueError with a sentence
    when one cannot be read or has no release."""
    found: list[Release] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        begin = Release.parse(first)
        end = Release.parse(last) if dots else begin
        chosen = [release for release in RELEASES if begin <= release <= end]
        if end > RELEASES[-1] or not (chosen or dots):
            raise ValueError(f"{end} is not published; the releases are {RELEASES[0]} to {RELEASES[-1]}")
        if not chosen:
            raise ValueError(f"{part.strip()} has no release: write the older one first, such as 4.9.4..5.5.0")
        found += chosen
    return tuple(dict.fromkeys(found))


def grouped(releases: Sequence[Release], show: Callable[[Release], Shown]) -> tuple[tuple[str, Shown], ...]:
    """(range, what is shown of its releases), the oldest first: neighbours that show the same are one range."""
    runs: list[tuple[Release, Release, Shown]] = []
    for release in releases:
        shown = show(release)
        if runs and runs[-1][2] == shown:
            runs[-1] = (runs[-1][0], release, shown)
        else:
            runs.append((release, release, shown))
    return tuple((str(first) if first == last else f"{first}–{last}", shown) for first, last, shown in runs)
