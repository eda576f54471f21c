"""A bisection as a page and as a document."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.conformance.release_axis.bisect import Bisection, Change
from rocketmq_conformance.reports.prediction import BAD, DOUBTFUL, GOOD, Cell, Page, Section

#: What the document is, and its version.
KIND = "rocketmq-conformance bisect"
FORMAT = 1


def bisect_page(made: Bisection) -> Page:
    """The page: each change with its rules and their source, then what was played."""
    sections = [_section(change) for change in made.changes]
    played = set(made.played)
    sections.append(
        Section(
            f"Played: {len(played)} of {len(made.order)}",
            lines=tuple(Cell(address) for address in made.order if address in played),
        )
    )
    if made.left_out:
        lines = tuple(Cell(f"{address}: {reason}", DOUBTFUL) for address, reason in made.left_out)
        sections.append(Section("Could not be played", lines=lines))
    return Page(f"The release of a change in {made.plans.suite.name}", _answer(made), tuple(sections))


def bisect_document(made: Bisection) -> dict[str, Any]:
    """The bisection as JSON."""
    return {
        "kind": KIND,
        "format": FORMAT,
        "suite": made.plans.suite.name,
        "addresses": list(made.order),
        "played": list(made.played),
        "could_not_be_played": dict(made.left_out),
        "changes": [
            {
                "before": change.before,
                "after": change.after,
                "between": list(change.between),
                "case": change.parting.case,
                "step": change.parting.at + 1,
                "operation": change.step,
                "answers": _answers(change),
                "rules": [{"rule": rule.id, "source": rule.source} for rule in change.rules],
                "switches": [{"id": one.id, "change": one.change, "source": one.source} for one in change.switches],
            }
            for change in made.changes
        ],
    }


def _answer(made: Bisection) -> Cell:
    if len(made.played) < 2:
        return Cell("Nothing was compared: the plan could not be played at two addresses", DOUBTFUL)
    if not made.changes:
        return Cell(f"{made.played[0]} and {made.played[-1]} answer alike", GOOD)
    releases = ", ".join(change.after for change in made.changes)
    return Cell(f"The answer changed in {releases}", BAD)


def _section(change: Change) -> Section:
    where = f"case {change.parting.case}, step {change.parting.at + 1}: {change.step}"
    rows = tuple((Cell(address), Cell(answer)) for address, answer in _answers(change).items())
    lines = [Cell(where)]
    lines += [Cell(f"{rule.id}: {rule.sentence} ({rule.source})") for rule in change.rules]
    lines += [Cell(f"known change {one.id}: {one.change} ({one.source})", GOOD) for one in change.switches]
    if not change.switches:
        lines.append(Cell("no known change of these rules: the methods above are to be compared", DOUBTFUL))
    if change.between:
        lines.append(Cell(f"between them, not played: {', '.join(change.between)}", DOUBTFUL))
    return Section(f"{change.before} to {change.after}", ("by", "answer"), rows, tuple(lines))


def _answers(change: Change) -> dict[str, str]:
    """What each of the two answers, the older first."""
    found = {name: answer for answer, names in change.parting.answers for name in names}
    return {name: found[name] for name in (change.before, change.after)}
