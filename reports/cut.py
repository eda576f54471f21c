"""Text on a console that takes a given number of lines at most; an ellipsis shows that it was cut."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

#: Columns of a label and the blanks behind it.
LABEL = 15
_ELLIPSIS = "…"


class Cut:
    """A text of at most ``most`` lines, behind a label or indented by ``indent`` columns."""

    def __init__(self, text: Text, most: int, *, label: str = "", indent: int = LABEL) -> None:
        self._text = text
        self._most = most
        self._label = label
        self._indent = indent

    def lines(self, console: Console, width: int) -> list[Text]:
        """Its lines on a screen of so many columns."""
        room = max(width - self._indent, 1)
        lines = list(self._text.wrap(console, room, overflow="fold"))
        if len(lines) > self._most:
            lines = lines[: self._most]
            lines[-1].rstrip()
            lines[-1].truncate(room - len(_ELLIPSIS))
            lines[-1].append(_ELLIPSIS)
        heads = [f"{self._label:<{self._indent}}", *[" " * self._indent] * len(lines)]
        return [Text.assemble((head, "dim"), line) for head, line in zip(heads, lines, strict=False)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(console, options.max_width)
