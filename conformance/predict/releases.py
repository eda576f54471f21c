"""The published releases, and how ranges of them are read and written.

Those up to the newest one that the kit was made with are a list in the kit. About later ones Maven is asked; its answer
is kept, with its date.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cache import cache_folder, keep
from rocketmq_conformance.conformance.targets.maven import versions_of
from rocketmq_conformance.models.broker.wire import description, ordinal
from rocketmq_conformance.models.release import KNOWN, PUBLISHED, Release

#: Every release that the kit was made with, the oldest first; clients and brokers are published together.
RELEASES = PUBLISHED
_BY_ORDINAL = {ordinal(release): release for release in (*RELEASES, KNOWN) if not release.stage}
_BY_DESCRIPTION = {description(release): release for release in (*RELEASES, KNOWN)}
#: The artifacts that say whether a release has a client, and a broker.
CLIENT, BROKER = "rocketmq-client", "rocketmq-broker"

Shown = TypeVar("Shown")


class Later(NamedTuple):
    """The releases after those that the kit was made with, as Maven names them."""

    #: Those of which there is an artifact, the oldest first, by artifact.
    releases: dict[str, tuple[Release, ...]]
    #: The day on which Maven was asked; None when it cannot be, for a reason.
    asked: date | None
    reason: str = ""

    @property
    def every(self) -> tuple[Release, ...]:
        """Those of which there is anything."""
        return tuple(sorted({release for some in self.releases.values() for release in some}))


def later_releases(today: date | None = None) -> Later:
    """The releases after those that the kit was made with: Maven is asked once a day."""
    today = today or datetime.now(UTC).date()
    kept = _read()
    if kept and kept.asked == today:
        return kept
    since = str(RELEASES[-1])
    try:
        found = {one: _later(versions) for one, versions in versions_of((BROKER, CLIENT), since).items()}
    except CannotRunError as error:
        return kept or Later({}, None, str(error).rstrip("."))
    lines = [str(today), *(f"{one} {release}" for one, some in found.items() for release in some)]
    with suppress(OSError):
        keep(_file(), "\n".join(lines) + "\n")
    return Later(found, today)


def _file() -> Path:
    return cache_folder() / "later-releases.txt"


def _read() -> Later | None:
    """What Maven answered before; None when nothing is kept."""
    try:
        first, *lines = _file().read_text("utf-8").splitlines()
        found: dict[str, tuple[Release, ...]] = {}
        for artifact, version in (line.split() for line in lines):
            found[artifact] = (*found.get(artifact, ()), *_later([version]))
        return Later(found, date.fromisoformat(first))
    except (OSError, ValueError):
        return None


def _later(versions: Sequence[str]) -> tuple[Release, ...]:
    """The releases among these versions that the kit was not made with."""
    found = set()
    for version in versions:
        with suppress(ValueError):
            found.add(Release.parse(version))
    return tuple(sorted(release for release in found if release > RELEASES[-1]))


def of_ordinal(number: int) -> Release | None:
    """The release that identifies itself by a number; None for none that is known."""
    return _BY_ORDINAL.get(number)


def of_description(text: str) -> Release | None:
    """The release that identifies itself by a name such as V5_5_0; None for none that is known."""
    return _BY_DESCRIPTION.get(text)


def range_of(text: str, artifact: str = "") -> tuple[Release, ...]:
    """The published releases of "4.9.4..5.5.0", "4.9.8" or several of them between commas; ValueError with a sentence
    when one cannot be read or has no release.

    Those after the releases that the kit was made with have the ``artifact``, if one is named.
    """
    found: list[Release] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        begin = Release.parse(first)
        end = Release.parse(last) if dots else begin
        chosen = [release for release in RELEASES if begin <= release <= end]
        if end > RELEASES[-1]:
            later = later_releases()
            _check(end, later)
            among = later.releases.get(artifact, ()) if artifact and dots else later.every
            chosen += [release for release in among if begin <= release <= end]
        if not (chosen or dots):
            raise ValueError(f"{end} is none of the releases from {RELEASES[0]} to {RELEASES[-1]}")
        if not chosen:
            raise ValueError(f"{part.strip()} has no release: write the older one first, such as 4.9.4..5.5.0")
        found += chosen
    return tuple(dict.fromkeys(found))


def _check(release: Release, later: Later) -> None:
    """ValueError with a sentence when a release that the kit was not made with is not published."""
    if release in later.every:
        return
    between = f"{RELEASES[0]} to {RELEASES[-1]}"
    if later.asked is None:
        raise ValueError(f"{release} is not on the list that this kit was made with, {between}; {later.reason}")
    more = f", and {', '.join(map(str, later.every))}" if later.every else ""
    raise ValueError(f"Maven has no release {release}: on {later.asked} it named {between}{more}")


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
