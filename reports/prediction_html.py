"""The page of a prediction, a matrix or a comparison: tables in the frame that the page of a run has, too."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.reports.html import environment
from rocketmq_conformance.reports.html_verdict import Headline
from rocketmq_conformance.reports.prediction import BAD, CODE, DOUBTFUL, GOOD, Cell, Page, Section
from rocketmq_conformance.reports.text import clean, shortened

#: The tone of each style; the other ones have none.
_TONES = {GOOD: "ok", BAD: "bad", DOUBTFUL: "open"}
#: Characters of a section's title that its link shows.
_LINK = 40
#: Cells of a column that are all this short stay on one line.
_SHORT = 18


@dataclass(frozen=True)
class _Cell:
    text: str
    tone: str
    #: "n" for a number, "short" for a text that is to stay on one line, "" for another one.
    kind: str
    code: bool


@dataclass(frozen=True)
class _Column:
    name: str
    number: bool


@dataclass(frozen=True)
class _Section:
    title: str
    #: How its link names it.
    name: str
    columns: list[_Column]
    rows: list[list[_Cell]]
    lines: list[_Cell]


@dataclass(frozen=True)
class _View:
    title: str
    head: Headline
    sections: list[_Section]


def html(page: Page) -> str:
    """The page."""
    title, answer = clean(page.title), clean(page.answer.text)
    head = Headline("", _TONES.get(page.answer.style, "none"), answer, [])
    view = _View(title, head, [_section(section) for section in page.sections])
    return environment().get_template("tables.html.j2").render(page=view) + "\n"


def _section(section: Section) -> _Section:
    title = clean(section.title)
    columns = [_Column(clean(name), name in section.numbers) for name in section.columns]
    short = [max((len(row[at].text) for row in section.rows), default=0) <= _SHORT for at in range(len(columns))]
    kinds = ["n" if column.number else "short" if one else "" for column, one in zip(columns, short, strict=True)]
    rows = [[_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True)] for row in section.rows]
    return _Section(title, shortened(title, _LINK), columns, rows, [_cell(line) for line in section.lines])


def _cell(cell: Cell, kind: str = "") -> _Cell:
    return _Cell(clean(cell.text), _TONES.get(cell.style, ""), kind, cell.style == CODE)
