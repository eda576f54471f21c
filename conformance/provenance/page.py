"""What a review found, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff

from rocketmq_conformance.conformance.provenance.named import Named
from rocketmq_conformance.conformance.provenance.published import Published
from rocketmq_conformance.conformance.provenance.review import Change, Mistake, Review

_WORDS = {
    Change.CHANGED: "changed",
    Change.GONE: "gone",
    Change.CAME: "came",
    Change.NEW: "not hashed yet (`regenerate --provenance` does it)",
}


def headline(made: Review) -> str:
    """One line: what was compared with what, and how much of it changed."""
    beside = "what was reviewed" if made.before == made.release else f"{made.before}"
    again = len({rule for finding in made.findings for rule in finding.rules})
    result = f"{len(made.findings)} differ: {again} rules to be read again" if made.findings else "none differs"
    unknown = (
        f"; {made.unknown} cannot be told, as the sources of {', '.join(made.lacking) or made.before} are not published"
        if made.unknown
        else ""
    )
    return f"{made.release} beside {beside}: {made.compared} sources of {made.rules} rules compared, {result}{unknown}"


def findings(made: Review, old: Published | None, new: Published) -> Iterator[str]:
    """For each member that differs its rules, and its diff where the sources of the release before are given."""
    for finding in made.findings:
        reason = "on the way of" if finding.on_the_way else "read for"
        yield f"{_WORDS[finding.change]}: {finding.named}, {reason} {', '.join(finding.rules)}"
        if old is not None and finding.change is not Change.NEW:
            yield from _diff(finding.named, made, old, new)


def _diff(named: Named, made: Review, old: Published, new: Published) -> Iterator[str]:
    before, after = (published.member(named) for published in (old, new))
    yield from unified_diff(
        before.text.splitlines() if before else [],
        after.text.splitlines() if after else [],
        f"{named} {made.before}",
        f"{named} {made.release}",
        lineterm="",
    )


def mistaken(found: Iterable[Mistake]) -> Iterator[str]:
    """A line for each citation that cannot be right."""
    for mistake in found:
        at = f" @ {', '.join(map(str, mistake.releases))}" if mistake.releases else ""
        yield f"mistaken: {mistake.rule} names {mistake.named}{at}, which {mistake.why}"
