"""Compares what rules name in a release with a release that was reviewed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from rocketmq_conformance.conformance.provenance.calls import Calls, read_calls, watched
from rocketmq_conformance.conformance.provenance.history import ABSENT, History
from rocketmq_conformance.conformance.provenance.named import Citation, Named, sources_of
from rocketmq_conformance.conformance.provenance.published import Published
from rocketmq_conformance.models.release import Release, Releases
from rocketmq_conformance.models.rule import Rule


class Change(Enum):
    """What became of a member."""

    CHANGED = "changed"
    GONE = "gone"
    CAME = "came"
    #: A rule names it since the hashes were made.
    NEW = "not hashed yet"


@dataclass(frozen=True, slots=True)
class Finding:
    """A member that is not what it was, and the rules that were read there."""

    named: Named
    change: Change
    rules: tuple[str, ...]
    #: Does no rule name it, and do requests pass it on their way from one that these rules name?
    on_the_way: bool = False


@dataclass(frozen=True, slots=True)
class Mistake:
    """A citation of a rule that cannot be right."""

    rule: str
    named: Named
    releases: tuple[Release, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Review:
    """A release beside one that was reviewed. ``lacking`` are artifacts whose sources were not published with it,
    ``unknown`` counts the members that may be in these."""

    release: Release
    before: Release
    findings: tuple[Finding, ...]
    compared: int
    rules: int
    lacking: tuple[str, ...]
    unknown: int


def review(
    release: Release,
    published: Published,
    history: History,
    before: Release,
    rules: Iterable[Rule],
    calls: Calls | None = None,
) -> Review:
    """Compare what the rules of a release name in it, and what requests pass by ``calls`` (those that are kept unless
    given), with what it was in the release ``before``."""
    own = tuple(rule for rule in rules if release in Releases.parse(rule.releases))
    concerned = _concerned(own)
    passed = watched(read_calls() if calls is None else calls, own)
    findings: list[Finding] = []
    compared = unknown = 0
    for named, ids in (*concerned.items(), *passed.items()):
        way = named in passed
        row = history.hashes.get(named)
        old = row.get(before) if row else None
        new = digest_of(published, named)
        if row is None:
            findings.append(Finding(named, Change.NEW, ids, way))
        elif new is None or old is None:
            unknown += 1
        else:
            compared += 1
            if old != new:
                change = Change.GONE if new == ABSENT else Change.CAME if old == ABSENT else Change.CHANGED
                findings.append(Finding(named, change, ids, way))
    count = len(own)
    return Review(release, before, tuple(findings), compared, count, published.lacking, unknown)


def _concerned(rules: Iterable[Rule]) -> Mapping[Named, tuple[str, ...]]:
    """The members that rules name, in the order of names, with these rules' ids."""
    found: dict[Named, tuple[str, ...]] = {}
    for rule in rules:
        for named in dict.fromkeys(citation.named for citation in sources_of(rule.source).citations):
            found[named] = (*found.get(named, ()), rule.id)
    return dict(sorted(found.items()))


def digest_of(published: Published, named: Named) -> str | None:
    """The hash of a member; ABSENT when the release does not have it, None when it cannot be known."""
    member = published.member(named)
    if member is not None:
        return member.digest
    return ABSENT if published.tells(named) else None


def mistakes(rules: Iterable[Rule], history: History) -> Iterator[Mistake]:
    """Citations of releases in which there is no such member, and citations that no release of the rule has."""
    for rule in rules:
        for citation in sources_of(rule.source).citations:
            row = history.hashes.get(citation.named)
            if row is None:
                continue
            wrong = tuple(release for release in citation.releases if row.get(release) == ABSENT)
            if wrong:
                yield Mistake(rule.id, citation.named, wrong, "does not exist there")
            elif not any(digest != ABSENT for digest in row.values()) and row.keys() >= set(citation.releases):
                yield Mistake(rule.id, citation.named, (), "does not exist in any release")


def unpublished(rules: Iterable[Rule], history: History) -> Iterator[tuple[str, Citation]]:
    """(rule, citation) where the sources of none of the releases that it names are published."""
    for rule in rules:
        for citation in sources_of(rule.source).citations:
            row = history.hashes.get(citation.named)
            if row is not None and citation.releases and row.keys().isdisjoint(citation.releases):
                yield rule.id, citation


def prose(rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    """(rule, words) of what sources name besides members of RocketMQ's classes."""
    for rule in rules:
        yield from ((rule.id, words) for words in sources_of(rule.source).prose)
