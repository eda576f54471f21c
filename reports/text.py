"""How reports write names, counts and durations, and how they escape unprintable characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence


def clean(text: str) -> str:
    """``text`` on one line, with every character that a terminal or an XML file must not get written as an escape.

    An implementation's answer may hold anything: escape sequences, line ends, unpaired surrogates.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def count(number: int, noun: str) -> str:
    """``1 case``, ``2,000 cases``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def in_columns(rows: Sequence[Sequence[str]], *, right: bool = False) -> Iterator[str]:
    """Lines of cells below one another, on the left or on the ``right`` of their columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.rjust(width) if right else cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def shortened(text: str, most: int) -> str:
    """The first characters of a text that is longer than that, with a sign that more was left out."""
    return text if len(text) <= most else f"{text[:most]}…"


def first_names(names: Iterable[str], most: int = 4) -> str:
    """``a, b, c and 4 more``."""
    every = [clean(name) for name in names]
    # one name takes no more room than the number that would stand for it
    shown = every if len(every) <= most + 1 else every[:most]
    return ", ".join(shown) + (f" and {len(every) - len(shown):,} more" if len(every) > len(shown) else "")


def duration(seconds: float) -> str:
    """``0.41 s``, ``41.5 s``, ``2 min 05 s``, ``1 h 02 min``."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def rate(number: int, seconds: float) -> str:
    """How many per second, or ``-`` before there is anything to divide by."""
    return f"{number / seconds:,.0f}" if seconds > 0 else "-"


def profile(releases: Mapping[str, str]) -> str:
    """``client 5.5.0, broker 5.5.0, java 17``."""
    return ", ".join(f"{clean(side)} {clean(release)}" for side, release in releases.items())


def common_ends(one: str, other: str) -> tuple[int, int]:
    """Lengths of what two texts share at their begin and at their end, without overlap."""
    begin = _common(one, other)
    return begin, _common(one[begin:][::-1], other[begin:][::-1])


def _common(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
