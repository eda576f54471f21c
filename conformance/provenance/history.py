"""The hashes of what rules name, in every release that was reviewed: kept in ``history.txt``, and made by
``regenerate --provenance``.

A line for each member: its name, then ranges of neighbouring releases and the hash of what it is in these. Releases
in which it does not exist have "-". A release that does not tell, as its sources are not published, counts as its
neighbours where these have the member, and has "?" where they do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketmq_conformance.conformance.predict.releases import RELEASES
from rocketmq_conformance.conformance.provenance.named import Named
from rocketmq_conformance.models.release import Release

FILE = Path(__file__).parent / "history.txt"
#: The hash of a member that a release does not have.
ABSENT = "-"
#: Stands for the hash of a member whose sources were not published.
UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class History:
    """The hashes of members in the releases that were reviewed, the oldest first."""

    hashes: Mapping[Named, Mapping[Release, str]]

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases that were reviewed."""
        known = {release for row in self.hashes.values() for release in row}
        return tuple(release for release in RELEASES if release in known)

    def nearest(self, release: Release) -> Release:
        """The reviewed release that another one is compared with: itself, else the newest before it, else the first."""
        before = [known for known in self.releases if known <= release]
        return before[-1] if before else self.releases[0]


def read_history(text: str | None = None) -> History:
    """Read the kept hashes, or a text of them."""
    rows: dict[Named, dict[Release, str]] = {}
    for line in (FILE.read_text("utf-8") if text is None else text).splitlines():
        if not line or line.startswith("#"):
            continue
        name, *parts = line.split()
        owner, _, member = name.partition("#")
        rows[Named(owner, member)] = dict(_of_ranges(parts))
    return History(rows)


def _of_ranges(parts: Iterable[str]) -> Iterable[tuple[Release, str]]:
    for part in parts:
        between, _, digest = part.partition("=")
        first, _, last = between.partition("..")
        if digest == UNKNOWN:
            continue
        begin, end = Release.parse(first), Release.parse(last or first)
        yield from ((release, digest) for release in RELEASES if begin <= release <= end)


def text_of(rows: Mapping[Named, Sequence[tuple[Release, str]]]) -> str:
    """The file's text, of what each member is in all releases, the oldest first."""
    lines = ["# What rules name in the Java sources: Class#member, ranges of releases, the hash of its tokens."]
    for named, row in sorted(rows.items()):
        runs: list[tuple[Release, Release, str]] = []
        for release, digest in row:
            if digest == UNKNOWN and runs and runs[-1][2] != ABSENT:
                continue
            if runs and runs[-1][2] == digest:
                runs[-1] = (runs[-1][0], release, digest)
            else:
                runs.append((release, release, digest))
        ranges = (f"{first if first == last else f'{first}..{last}'}={digest}" for first, last, digest in runs)
        lines.append(" ".join((str(named), *ranges)))
    return "\n".join(lines) + "\n"
