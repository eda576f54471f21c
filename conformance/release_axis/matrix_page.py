"""A matrix as a page and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocketmq_conformance.conformance.release_axis.addresses import names_of
from rocketmq_conformance.conformance.release_axis.cell import Cell
from rocketmq_conformance.conformance.release_axis.classes import Parting
from rocketmq_conformance.conformance.release_axis.matrix import Matrix, RuleRow, switches_between
from rocketmq_conformance.reports import prediction
from rocketmq_conformance.reports.prediction import BAD, DOUBTFUL, GOOD, Page, Section

#: What the document is, and its version.
KIND = "rocketmq-conformance matrix"
FORMAT = 1


def matrix_page(made: Matrix) -> Page:
    """The page: rules at which implementations part first, then cells, then the time."""
    parted = [row for row in made.rows if len(row.groups) > 1]
    order = [cell.address for cell in made.cells]
    against = [row for row in made.rows if row.against]
    answer = (
        f"{len(made.rows)} rules played at {len(made.cells)} addresses: they part at {len(parted)} of them, "
        f"into {len(made.classes)} classes that behave alike"
    )
    if against:
        answer += f"; {len(against)} were broken"
    sections = [
        Section(
            "Where they part",
            ("rule", "behave alike", "what parts them"),
            tuple(
                (prediction.Cell(row.rule), prediction.Cell(_alike(row, order)), prediction.Cell(_parts(row)))
                for row in parted
            ),
        ),
        Section("Classes", lines=tuple(prediction.Cell(names_of(group, order)) for group in made.classes)),
        Section(
            "Where all behave alike",
            lines=(prediction.Cell(", ".join(row.rule for row in made.rows if len(row.groups) == 1) or "nowhere"),),
        ),
    ]
    if against:
        rows = tuple((prediction.Cell(row.rule), prediction.Cell(names_of(row.against, order), BAD)) for row in against)
        sections.append(Section("Against the rules of their own release", ("rule", "by"), rows))
    missing = missing_lines(made)
    if missing:
        sections.append(Section("What was not played", lines=missing))
    sections.append(_time(made))
    style = BAD if against else DOUBTFUL if any(cell.reason for cell in made.cells) else GOOD
    return Page("What each release does", prediction.Cell(answer, style), tuple(sections))


def matrix_document(made: Matrix) -> dict[str, Any]:
    """The matrix as JSON."""
    return {
        "kind": KIND,
        "format": FORMAT,
        "plans": [
            {"suite": plan.suite.name, "seed": plan.seed, "cases": len(plan.cases), "digest": plan.digest}
            for plan in made.plans
        ],
        "cells": [_cell(cell) for cell in made.cells],
        "classes": [list(group) for group in made.classes],
        "rules": [
            {
                "rule": row.rule,
                "suites": list(row.suites),
                "steps": row.steps,
                "goes_by": list(row.goes_by),
                "groups": [list(group) for group in row.groups],
                "against": list(row.against),
                "partings": [parting_json(parting) for parting in row.partings],
            }
            for row in made.rows
        ],
    }


def parting_json(parting: Parting) -> dict[str, Any]:
    """A parting as JSON."""
    return {
        "suite": parting.suite,
        "case": parting.case,
        "step": parting.at + 1,
        "rules": list(parting.rules),
        "answers": [{"observed": answer, "by": list(names)} for answer, names in parting.answers],
    }


def _alike(row: RuleRow, order: Sequence[str]) -> str:
    return " | ".join(names_of(group, order) for group in row.groups)


def _parts(row: RuleRow) -> str:
    texts = []
    for group, parting in zip(row.groups[1:], row.partings, strict=True):
        answers = {name: answer for answer, names in parting.answers for name in names}
        one = next((name for name in row.groups[0] if name in answers), "")
        other = next((name for name in group if name in answers), "")
        known = switches_between(one, other, parting.rules, parting.earlier)
        changes = "; ".join(f"{switch.id}: {switch.change}" for switch in known)
        where = f"{parting.suite}, case {parting.case}, step {parting.at + 1}"
        texts.append(f"{answers.get(one)} or {answers.get(other)} ({changes or where})")
    return " | ".join(dict.fromkeys(texts))


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "address": cell.address,
        "implementation": cell.implementation,
        "reason": cell.reason,
        "starting_seconds": round(cell.starting, 3),
        "suites": {
            name: {
                "refused": record.refused,
                "seconds": round(record.seconds, 3),
                "read": name in cell.cached,
                "cases": len(record.cases),
                "not_played": sum(bool(case.reason) for case in record.cases.values()),
            }
            for name, record in cell.suites.items()
        },
    }


def missing_lines(made: Matrix) -> tuple[prediction.Cell, ...]:
    """What was not played, and why."""
    order = [cell.address for cell in made.cells]
    lines = [
        prediction.Cell(f"{cell.address} could not run: {cell.reason}", DOUBTFUL) for cell in made.cells if cell.reason
    ]
    why: dict[tuple[str, str], list[str]] = {}
    for cell in made.cells:
        for suite, record in cell.suites.items():
            if record.refused:
                why.setdefault((suite, record.refused), []).append(cell.address)
            left = [case.reason for case in record.cases.values() if case.reason]
            if left:
                why.setdefault((suite, f"{len(left)} of {len(record.cases)} cases, as {left[0]}"), []).append(
                    cell.address
                )
    lines += [prediction.Cell(f"{suite}: {names_of(names, order)}: {reason}") for (suite, reason), names in why.items()]
    return tuple(lines)


def _time(made: Matrix) -> Section:
    """What the time went to, the most of it first."""
    rows = []
    for cell in made.cells:
        played = {name: record.seconds for name, record in cell.suites.items() if name not in cell.cached}
        longest = sorted(played, key=played.__getitem__, reverse=True)[:3]
        what = ", ".join(f"{name} {played[name]:.1f}" for name in longest) or "nothing"
        total = cell.starting + sum(played.values())
        rows.append((total, cell.address, cell.starting, what, len(cell.cached)))
    rows.sort(key=lambda row: -row[0])
    return Section(
        "Where the time went, in seconds",
        ("address", "all", "start", "longest suites", "suites read, not played"),
        tuple(
            tuple(map(prediction.Cell, (address, f"{total:.1f}", f"{start:.1f}", what, str(cached))))
            for total, address, start, what, cached in rows
        ),
        numbers=frozenset({"all", "start", "suites read, not played"}),
    )
