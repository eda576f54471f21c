"""Tables in Markdown, of every page that has one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator


def markdown_table(
    columns: Iterable[str], rows: Iterable[Iterable[str]], numbers: Collection[str] = ()
) -> Iterator[str]:
    """The lines of a table; the columns that ``numbers`` names stand on the right.

    Cells are Markdown. A bar in one, also in code marks, would end it, and is escaped here.
    """
    heads = list(columns)
    yield _line(heads)
    yield f"|{'|'.join('--:' if head in numbers else '---' for head in heads)}|"
    yield from map(_line, rows)


def _line(cells: Iterable[str]) -> str:
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in escaped)
