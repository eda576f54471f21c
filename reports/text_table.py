"""Tables on a terminal, for every report that has one: without borders, the heads dim."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.console import RenderableType
from rich.table import Table

from rocketmq_conformance.reports.text import clean


def text_table(
    columns: Iterable[str],
    rows: Iterable[Iterable[RenderableType]] = (),
    *,
    numbers: Collection[str] = (),
    folded: Collection[str] = (),
) -> Table:
    """A table; ``numbers`` are columns that stand on the right, and long cells of ``folded`` ones take more lines.

    Rows that have a style are added to what is returned.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        table.add_column(
            clean(name),
            justify="right" if name in numbers else "left",
            no_wrap=name not in folded,
            overflow="fold" if name in folded else "ellipsis",
        )
    for row in rows:
        table.add_row(*row)
    return table
