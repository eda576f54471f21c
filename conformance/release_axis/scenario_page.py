"""A scenario that was played as a page and as a document: step by step, who answers what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rocketmq_conformance.conformance.release_axis.addresses import names_of
from rocketmq_conformance.conformance.release_axis.cell import ALLOWED
from rocketmq_conformance.conformance.release_axis.cell import Cell as PlayedCell
from rocketmq_conformance.conformance.release_axis.matrix import Matrix
from rocketmq_conformance.conformance.release_axis.matrix_page import missing_lines
from rocketmq_conformance.conformance.release_axis.records import CaseRecord
from rocketmq_conformance.conformance.release_axis.scenario import Scenario
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED
from rocketmq_conformance.reports.prediction import BAD, CODE, DOUBTFUL, GOOD, PLAIN, Cell, Page, Section

#: What the document is, and its version.
KIND = "rocketmq-conformance scenario"
FORMAT = 1
_STYLES = {CONFORMS: GOOD, DIVERGES: BAD}


@dataclass(frozen=True, slots=True)
class Answer:
    """What some implementations answered to a step."""

    addresses: tuple[str, ...]
    observed: str
    allowed: bool
    rules: tuple[str, ...]


def verdict_of(made: Matrix) -> str:
    """ "diverges" when an implementation did what its rules forbid, else whether all was played to its end."""
    cases = [_case(cell) for cell in made.cells]
    if any(not step.allowed for case in cases for step in case.steps):
        return DIVERGES
    if not any(case.steps for case in cases):
        return COULD_NOT_RUN
    return CONFORMS if all(case.steps and not case.reason for case in cases) and made.complete else UNDECIDED


def answers_to(made: Matrix, step: int) -> list[Answer]:
    """The answers to a step, from 0 up, the one that most implementations gave first."""
    found: dict[tuple[str, bool, tuple[str, ...]], list[str]] = {}
    for cell in made.cells:
        for record in _case(cell).steps:
            if record.at == step:
                found.setdefault((record.answer, record.allowed, record.rules), []).append(cell.address)
    ordered = sorted(found.items(), key=lambda pair: -len(pair[1]))
    return [Answer(tuple(names), *key) for key, names in ordered]


def scenario_page(scenario: Scenario, made: Matrix) -> Page:
    """The page: every step with its sentence, who answers what, and by which rules."""
    order = [cell.address for cell in made.cells]
    sections = []
    for at, (row, sentence) in enumerate(zip(scenario.rows, scenario.sentences, strict=True)):
        rows = tuple(
            (
                Cell(names_of(one.addresses, order)),
                _answer_cell(one.observed, one.allowed),
                Cell(", ".join(one.rules)),
            )
            for one in answers_to(made, at)
        )
        operation = str(scenario.suite.operation(row))
        lines = (Cell(operation, CODE),) if sentence else ()
        columns = ("by", "answer", "rules") if rows else ()
        sections.append(Section(f"{at + 1}. {sentence or operation}", columns, rows, lines))
    missing = missing_lines(made)
    if missing:
        sections.append(Section("What was not played", lines=missing))
    return Page(scenario.title, _answer(made), tuple(sections))


def scenario_document(scenario: Scenario, made: Matrix) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "kind": KIND,
        "format": FORMAT,
        "scenario": scenario.name,
        "title": scenario.title,
        "suite": scenario.suite.name,
        "verdict": verdict_of(made),
        "addresses": [cell.address for cell in made.cells],
        "could_not_run": {cell.address: cell.reason for cell in made.cells if cell.reason},
        "steps": [
            {
                "step": str(scenario.suite.operation(row)),
                "says": sentence,
                "answers": [
                    {
                        "addresses": list(one.addresses),
                        "observed": one.observed,
                        "allowed": one.allowed,
                        "rules": list(one.rules),
                    }
                    for one in answers_to(made, at)
                ],
            }
            for at, (row, sentence) in enumerate(zip(scenario.rows, scenario.sentences, strict=True))
        ],
    }


def _answer_cell(answer: str, allowed: bool) -> Cell:
    answer = "done" if answer == str(None) else answer
    return Cell(answer, PLAIN) if allowed else Cell(f"{answer}, against the rules", BAD)


def _answer(made: Matrix) -> Cell:
    verdict = verdict_of(made)
    style = _STYLES.get(verdict, DOUBTFUL)
    if verdict == DIVERGES:
        wrong = [cell.address for cell in made.cells if any(not step.allowed for step in _case(cell).steps)]
        return Cell(f"Against the rules of its release: {', '.join(wrong)}", style)
    if verdict == CONFORMS:
        return Cell(f"Every answer is as the rules of its release demand{_ways(made)}", style)
    if verdict == UNDECIDED:
        return Cell("Every answer is as the rules demand, and not everything was played", style)
    return Cell("Nothing was played", style)


def _ways(made: Matrix) -> str:
    """How many behaviours there are, where answers do not depend on the time."""
    timed = any(step.observed == ALLOWED for cell in made.cells for step in _case(cell).steps)
    if timed or len(made.cells) < 2:
        return ""
    return f", in {len(made.classes)} ways" if len(made.classes) > 1 else ", and all behave alike"


def _case(cell: PlayedCell) -> CaseRecord:
    return next((case for record in cell.suites.values() for case in record.cases.values()), CaseRecord(()))
