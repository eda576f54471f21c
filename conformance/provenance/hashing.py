"""Hashes what rules name in every published release."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rocketmq_conformance.conformance.predict.releases import RELEASES
from rocketmq_conformance.conformance.provenance.calls import Calls, read_calls, watched
from rocketmq_conformance.conformance.provenance.history import UNKNOWN
from rocketmq_conformance.conformance.provenance.named import Named, members_of
from rocketmq_conformance.conformance.provenance.published import Published, sources_of
from rocketmq_conformance.conformance.provenance.review import digest_of
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Rule


def hashed(
    rules: Iterable[Rule],
    releases: Iterable[Release] = RELEASES,
    sources: Callable[[Release], Published] | None = None,
    calls: Calls | None = None,
) -> dict[Named, list[tuple[Release, str]]]:
    """Each member that rules name, or that requests pass on their way to an answer, with its hash in each release.

    CannotRunError with a sentence when the sources of a release cannot be had.
    """
    every = tuple(rules)
    members = sorted({*members_of(every), *watched(calls or read_calls(), every)})
    rows: dict[Named, list[tuple[Release, str]]] = {named: [] for named in members}
    chosen = tuple(releases)
    of = sources or sources_of(chosen)
    for release in chosen:
        published = of(release)
        for named, row in rows.items():
            row.append((release, digest_of(published, named) or UNKNOWN))
    return rows
