"""Differences between implementations as a page and as a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocketmq_conformance.conformance.release_axis.addresses import names_of
from rocketmq_conformance.conformance.release_axis.classes import classes
from rocketmq_conformance.conformance.release_axis.difference import Difference, Differences
from rocketmq_conformance.conformance.release_axis.matrix import Matrix, switches_between
from rocketmq_conformance.conformance.release_axis.matrix_page import missing_lines, parting_json
from rocketmq_conformance.models.release import Switch
from rocketmq_conformance.reports.prediction import BAD, CODE, DOUBTFUL, GOOD, Cell, Page, Section

#: What the document is, and its version.
KIND = "rocketmq-conformance diff"
FORMAT = 1


def difference_page(made: Differences) -> Page:
    """The page: each difference with its shortest plan, then the classes of each suite and operation."""
    compared = made.compared
    order = [cell.address for cell in compared.cells]
    sections = [_section(number, one, order) for number, one in enumerate(made.found, start=1)]
    if made.more:
        sections.append(Section("More", lines=(Cell(f"{made.more} more differences of other kinds were not shrunk"),)))
    rows = tuple(
        (Cell(suite), Cell(operation), Cell(str(steps)), Cell(_alike(groups, order)))
        for suite, operation, steps, groups in _operations(compared)
    )
    columns = ("suite", "operation", "steps that part", "behave alike")
    if rows:
        sections.append(Section("Where they part", columns, rows, numbers=frozenset({"steps that part"})))
    sections.append(Section("Classes", lines=tuple(Cell(names_of(group, order)) for group in compared.classes)))
    missing = missing_lines(compared)
    if missing:
        sections.append(Section("What was not played", lines=missing))
    return Page("Differences, with none of them right by definition", _answer(made), tuple(sections))


def difference_document(made: Differences) -> dict[str, Any]:
    """The differences as JSON."""
    compared = made.compared
    return {
        "kind": KIND,
        "format": FORMAT,
        "addresses": [cell.address for cell in compared.cells],
        "could_not_run": {cell.address: cell.reason for cell in compared.cells if cell.reason},
        "classes": [list(group) for group in compared.classes],
        "operations": [
            {"suite": suite, "operation": operation, "steps": steps, "groups": [list(group) for group in groups]}
            for suite, operation, steps, groups in _operations(compared)
        ],
        "differences": [_json(one) for one in made.found],
        "more": made.more,
    }


def _json(one: Difference) -> dict[str, Any]:
    return {
        "one": one.one,
        "other": one.other,
        "steps": list(one.steps),
        "answers": {one.one: one.ours, one.other: one.theirs},
        "rules": list(one.rules),
        "switches": [{"id": known.id, "change": known.change, "source": known.source} for known in _known(one)],
        "found": parting_json(one.parting),
        "found_steps": one.found_steps,
        "executions": one.executions,
        "plan": one.plan,
        "doubt": one.doubt,
    }


def _answer(made: Differences) -> Cell:
    compared = made.compared
    certain = sum(not one.doubt for one in made.found)
    if certain:
        ways = certain + made.more
        text = f"They differ in {ways} way{'s'[: ways != 1]}, into {len(compared.classes)} classes that behave alike"
        return Cell(text, BAD)
    if made.found:
        return Cell(f"{len(made.found)} differences, and none that could be shown again", DOUBTFUL)
    if not compared.comparable:
        return Cell("Nothing was compared: no suite was played at two addresses", DOUBTFUL)
    cases = sum(len(plan.cases) for plan in compared.plans)
    return Cell(f"No difference in {cases} cases of {len(compared.plans)} suites", GOOD)


def _section(number: int, one: Difference, order: list[str]) -> Section:
    answers = tuple((Cell(names_of(names, order)), Cell(answer)) for answer, names in one.parting.answers)
    lines = [Cell(step, CODE) for step in one.steps]
    if one.plan:
        lines.append(Cell(f"rocketmq-conformance replay {one.plan} {one.one}", CODE))
    if not one.doubt:
        lines += [Cell(f"{one.one} answers {one.ours}"), Cell(f"{one.other} answers {one.theirs}")]
    lines.append(Cell(f"rules: {', '.join(one.rules) or 'none'}"))
    lines += [Cell(f"known change {switch.id}: {switch.change} ({switch.source})") for switch in _known(one)]
    if one.doubt:
        lines.append(Cell(f"not certain: {one.doubt}", DOUBTFUL))
    else:
        lines.append(Cell(f"{len(one.steps)} of {one.found_steps} steps, after {one.executions} executions"))
    return Section(
        f"Difference {number}: {one.parting.suite}", ("by", "first answer that differs"), answers, tuple(lines)
    )


def _known(one: Difference) -> tuple[Switch, ...]:
    """The known changes that may have made a difference."""
    return switches_between(one.one, one.other, one.rules, one.earlier)


def _operations(compared: Matrix) -> list[tuple[str, str, int, tuple[tuple[str, ...], ...]]]:
    """(suite, operation, steps that part, classes of agreement there), of operations at which they part."""
    plans = {plan.suite.name: (plan.suite, dict(plan.cases)) for plan in compared.plans}
    found: dict[tuple[str, str], list[Any]] = {}
    for parting in compared.partings:
        suite, cases = plans[parting.suite]
        operation = suite.operations[cases[parting.case][parting.at][0]].spec.name
        found.setdefault((parting.suite, operation), []).append(parting)
    played: Mapping[str, list[str]] = {
        suite: [cell.address for cell in compared.cells if suite in cell.suites and cell.suites[suite].cases]
        for suite in plans
    }
    return [
        (suite, operation, len(parted), classes(played[suite], parted)) for (suite, operation), parted in found.items()
    ]


def _alike(groups: tuple[tuple[str, ...], ...], order: list[str]) -> str:
    return " | ".join(names_of(group, order) for group in groups)
