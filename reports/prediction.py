"""Predictions on a terminal and in Markdown: a title, facts, and sections of tables and lines."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TextIO

from rich.padding import Padding
from rich.text import Text

from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean
from rocketmq_conformance.reports.text_table import text_table

#: Styles of cells and lines by name.
GOOD, BAD, DOUBTFUL, PLAIN, CODE = "green", "bold red", "yellow", "", "bold cyan"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table, or a line; ``style`` is one of the names above."""

    text: str
    style: str = PLAIN


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its columns, and lines after it; either may be empty."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    lines: tuple[Cell, ...] = ()
    #: Columns of numbers.
    numbers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Page:
    """A prediction as it is shown."""

    title: str
    #: The answer in one line.
    answer: Cell
    sections: tuple[Section, ...]


def show(page: Page, stream: TextIO, width: int | None = None) -> None:
    """Print a page for people."""
    screen = Screen(stream, width)
    screen.show(Text(clean(page.title), style="bold"))
    screen.show(Text(clean(page.answer.text), style=page.answer.style))
    for section in page.sections:
        screen.gap()
        screen.show(Text(clean(section.title), style="bold"))
        if section.columns:
            rows = ([Text(clean(cell.text), style=cell.style) for cell in row] for row in section.rows)
            folded = {*section.columns} - section.numbers
            table = text_table(section.columns, rows, numbers=section.numbers, folded=folded)
            screen.show(Padding(table, (0, 0, 0, 2)))
        for line in section.lines:
            # a command must stay one line, to be copied
            code = line.style == CODE
            shown = Text(("  " if code else "") + clean(line.text), style=line.style)
            screen.show(shown if code else Padding(shown, (0, 0, 0, 2)), wrap=not code)


def markdown(page: Page) -> str:
    """The page in Markdown."""
    lines = [f"# {_escaped(page.title)}", "", _escaped(page.answer.text), ""]
    for section in page.sections:
        lines += [f"## {_escaped(section.title)}", ""]
        if section.columns:
            rows = [[_escaped(cell.text) for cell in row] for row in section.rows]
            lines += [*markdown_table(section.columns, rows, section.numbers), ""]
        for code, run in groupby(section.lines, lambda line: line.style == CODE):
            if code:
                lines += [*([""] if lines[-1] else []), "```", *(clean(line.text) for line in run), "```", ""]
            else:
                lines += [f"- {_escaped(line.text)}" for line in run]
        if section.lines and lines[-1]:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _escaped(text: str) -> str:
    found = clean(text)
    for mark in ("\\", "`", "*", "_", "<"):
        found = found.replace(mark, f"\\{mark}")
    return found
