"""The page of a table as HTML that needs nothing else: no script, and nothing is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rocketmq_conformance.reports.prediction import BAD, CODE, DOUBTFUL, GOOD, Cell, Page, Section
from rocketmq_conformance.reports.text import clean

_CLASSES = {GOOD: "good", BAD: "bad", DOUBTFUL: "doubtful", CODE: "code"}
_STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #0d6632; --bad: #a3121e; --doubtful: #744700; }
@media (prefers-color-scheme: dark) { :root { --good: #63d78f; --bad: #ff918c; --doubtful: #f0c267; } }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 90rem; padding-inline: 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: left; vertical-align: top; }
.number { text-align: right; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; } .doubtful { color: var(--doubtful); }
.code { font-family: ui-monospace, monospace; }
"""


def html(page: Page) -> str:
    """The page."""
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    title = escape(clean(page.title))
    yield f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>"
    yield f"<p{_class(page.answer)}>{_text(page.answer)}</p>"
    for section in page.sections:
        yield from _section(section)
    yield "</body>\n</html>"


def _section(section: Section) -> Iterator[str]:
    yield f"<h2>{escape(clean(section.title))}</h2>"
    numbers = [' class="number"' if name in section.numbers else "" for name in section.columns]
    if section.columns:
        heads = "".join(
            f"<th{number}>{escape(name)}</th>" for name, number in zip(section.columns, numbers, strict=True)
        )
        yield f"<div><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>"
        for row in section.rows:
            cells = zip(row, numbers, strict=True)
            yield f"<tr>{''.join(f'<td{number or _class(cell)}>{_text(cell)}</td>' for cell, number in cells)}</tr>"
        yield "</tbody>\n</table></div>"
    if section.lines:
        yield "<ul>"
        yield from (f"<li{_class(line)}>{_text(line)}</li>" for line in section.lines)
        yield "</ul>"


def _text(cell: Cell) -> str:
    return escape(clean(cell.text))


def _class(cell: Cell) -> str:
    return f' class="{_CLASSES[cell.style]}"' if cell.style in _CLASSES else ""
