"""Releases: two lines of RocketMQ run side by side, 4.x and 5.x, and a rule may change in both.

``Release.parse("4.9.8") < Release.parse("5.0.0-ALPHA") < Release.parse("5.0.0")``; use ``Switch`` to ask
whether a change has arrived in a release of either line, and ``Releases`` for the releases that a rule is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cache, lru_cache, total_ordering
from types import ModuleType

_FORM = re.compile(r"([0-9]{1,6})\.([0-9]{1,6})\.([0-9]{1,6})(?:-(PREVIEW|ALPHA|incubating))?")
#: Order of the stages that may follow the numbers; a plain release is newest.
_STAGES = ("PREVIEW", "ALPHA", "")


@total_ordering
@dataclass(frozen=True, slots=True)
class Release:
    """One release, such as 5.1.4 or 5.0.0-ALPHA."""

    major: int
    minor: int
    patch: int
    stage: str = ""

    @staticmethod
    def parse(text: str) -> Release:
        """Read "5.1.4"; raises ValueError with a sentence for anything else."""
        return _release(text)

    def __lt__(self, other: Release) -> bool:
        return self._key < other._key

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + (f"-{self.stage}" if self.stage else "")

    @property
    def _key(self) -> tuple[int, int, int, int]:
        return self.major, self.minor, self.patch, _STAGES.index(self.stage)


@lru_cache(maxsize=1024)
def _release(text: str) -> Release:
    found = _FORM.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a RocketMQ release; write one such as 4.9.8 or 5.5.0")
    major, minor, patch, stage = found.groups()
    if int(major) < 4:
        raise ValueError(f"{text} is older than 4.0.0, with which the rules begin; write one such as 4.9.8 or 5.5.0")
    return Release(int(major), int(minor), int(patch), "" if stage in (None, "incubating") else stage)


#: Newest release that was published whole: it judges where nothing says which one does.
NEWEST = Release(5, 5, 0)
#: Newest release that the rules know; anything newer is judged by it, and the report says so. Maven has only a part of
#: it, without a client.
KNOWN = Release(5, 5, 1)
#: The releases that were published when the kit was made, the oldest first. Of some only the client was; 5.3.4, of
#: which only the broker was, is not among them.
PUBLISHED = tuple(
    map(
        Release.parse,
        (
            *("4.0.0", "4.1.0", "4.2.0", "4.3.0", "4.3.1", "4.3.2", "4.4.0", "4.5.0", "4.5.1", "4.5.2", "4.6.0"),
            *("4.6.1", "4.7.0", "4.7.1", "4.8.0", "4.9.0", "4.9.1", "4.9.2", "4.9.3", "4.9.4", "4.9.5", "4.9.6"),
            *("4.9.7", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.0", "5.1.1", "5.1.2", "5.1.3"),
            *("5.1.4", "5.2.0", "5.3.0", "5.3.1", "5.3.2", "5.3.3", "5.4.0", "5.5.0"),
        ),
    )
)
#: The release that a version such as 5.5.1-SNAPSHOT begins with.
_BEGINNING = re.compile(r"\d+\.\d+\.\d+(?:-(?:PREVIEW|ALPHA|incubating)\b)?")


def newer_than_known(name: str, release: Release, does: str = "judged by") -> list[str]:
    """The sentence for a release that the rules do not know, and what is done with it; none for one that they do."""
    newer = f"{name} {release} is newer than {KNOWN}, the newest the rules know: {does} {KNOWN}"
    return [newer] if release > KNOWN else []


def nearest_published(version: str) -> Release:
    """The newest published release that is not newer than a version such as 5.5.1-SNAPSHOT, else the first one.

    A snapshot of a release that is published already is that release. ValueError with a sentence for a text that does
    not begin with a release.
    """
    found = _BEGINNING.match(version)
    release = Release.parse(found[0] if found else version)
    return max((known for known in PUBLISHED if known <= release), default=PUBLISHED[0])


@dataclass(frozen=True, slots=True)
class Switch:
    """A change of behaviour: the first release that has it in each line (None: that line never got it).

    The 5.0.0 previews left the main line around 4.9.1: ``v5="5.0.0-PREVIEW"`` means every 5.x has it.
    """

    #: Number in ``list switches``; changes that belong together share one.
    id: str
    #: What changed, as a sentence without its full stop.
    change: str
    _: KW_ONLY
    v4: str | None = None
    v5: str | None = None
    #: First release of 5.x that lost it again, if any.
    until_v5: str | None = None
    #: The rules that it changes.
    rules: tuple[str, ...]
    #: Where the change can be read: ``Class#method, #method`` of the Java source.
    source: str

    def on(self, release: Release) -> bool:
        """Has the change arrived in this release?"""
        since = self.v5 if release.major >= 5 else self.v4
        if since is None or release < Release.parse(since):
            return False
        return release.major < 5 or self.until_v5 is None or release < Release.parse(self.until_v5)

    def change_at(self, release: Release) -> str:
        """What changed at a release that has it, or has it no longer."""
        return self.change if self.on(release) else f"No longer: {self.change}"


def switches_of(module: ModuleType) -> tuple[Switch, ...]:
    """The switches that a module declares, in the order of their declaration."""
    return tuple(value for value in vars(module).values() if isinstance(value, Switch))


def changes(switches: Iterable[Switch], one: Release, other: Release, rules: Iterable[str]) -> tuple[Switch, ...]:
    """The switches of any of the rules that one of two releases has and the other has not."""
    wanted = set(rules)
    return tuple(switch for switch in switches if switch.on(one) != switch.on(other) and wanted & set(switch.rules))


@dataclass(frozen=True, slots=True)
class Releases:
    """Some releases, as ranges of first and last one; None stands for no bound."""

    ranges: tuple[tuple[Release | None, Release | None], ...]

    @classmethod
    def parse(cls, text: str) -> Releases:
        """Read "all", or some of "5.2.0+", "up to 5.1.4", "4.6.0 – 4.9.3" and "5.0.0" between commas.

        All 5.x are newer than all 4.x, so "4.9.0+" includes 5.0.0-PREVIEW; "4.9.8+, 5.2.0+" are the later ones of each
        line. Raises ValueError with a sentence for anything else.
        """
        return _releases(text)

    def __contains__(self, release: Release) -> bool:
        return any(
            (first is None or first <= release) and (last is None or release <= last) for first, last in self.ranges
        )


@cache
def _releases(text: str) -> Releases:
    if text == "all":
        return Releases(((None, None),))
    ranges = [_range(part) for part in text.split(", ")]
    lines = {first.major for first, _ in ranges if first}
    return Releases(
        tuple(
            (first, _LAST_OF_4 if first and last is None and first.major == 4 and 5 in lines else last)
            for first, last in ranges
        )
    )


def _range(text: str) -> tuple[Release | None, Release | None]:
    if text.endswith("+"):
        return Release.parse(text[:-1]), None
    if text.startswith("up to "):
        return None, Release.parse(text.removeprefix("up to "))
    first, _, last = text.partition(" – ")
    return Release.parse(first), Release.parse(last or first)


#: Newer than every release of 4.x.
_LAST_OF_4 = Release(4, 999, 0)
