"""Text of the page: cleaned, of bounded length, with every cut marked; and how it writes numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

from rocketmq_conformance.reports import text
from rocketmq_conformance.reports.text import clean

T = TypeVar("T")

#: Characters of a longer text that are shown: an answer may be a megabyte.
MOST = 2000
#: Larger numbers are not plausible counts.
HUGE = 10**21
#: Words that are compared one by one; in longer texts everything between the common ends is marked.
_WORDS = 400


@dataclass(frozen=True)
class Piece:
    """A part of a text; ``marked`` when it differs from the text beside it."""

    text: str
    marked: bool = False

    @property
    def size(self) -> int:
        """Characters."""
        return len(self.text)


def clipped(raw: str, most: int = MOST) -> str:
    """``raw`` without characters that could do harm, cut after ``most`` with the number of those left out."""
    if len(raw) <= most:
        return clean(raw)
    return f"{clean(raw[:most])} … and {len(raw) - most:,} more characters"


def figure(number: int) -> str:
    """``1,234``; numbers past ``HUGE`` only by their size."""
    return f"{number:,}" if abs(number) < HUGE else "more than 10²¹"


def count(number: int, noun: str) -> str:
    """``1 case``, ``2,000 cases``."""
    return f"{figure(number)} {noun}" if number == 1 else f"{figure(number)} {noun}s"


def seconds(duration: float) -> str:
    """``41.5 s``; a question mark for what is not a duration."""
    return text.duration(duration) if math.isfinite(duration) and abs(duration) < HUGE else "?"


def share(part: float) -> str:
    """``25 %``, ``0.2 %``, for shares in [0, 1]; a question mark for anything else."""
    if not 0 <= part <= 1:
        return "?"
    percent = 100 * part
    if percent in (0, 100) or percent >= 10:
        # Neither everything nor nothing unless it is.
        return f"{min(max(round(percent), 1), 99) if 0 < percent < 100 else round(percent)} %"
    return f"{percent:.2g} %" if percent >= 0.001 else "under 0.001 %"


def memory(size: int) -> str:
    """``118 MiB`` for a number of bytes."""
    mebibytes = size / 2**20 if abs(size) < HUGE else math.inf
    if mebibytes < 1024:
        return f"{mebibytes:,.0f} MiB"
    return f"{mebibytes / 1024:,.1f} GiB" if math.isfinite(mebibytes) else "?"


def first_items(items: Sequence[T], most: int) -> tuple[list[T], int]:
    """The first ``most`` items, and how many are left out."""
    return list(items[:most]), max(0, len(items) - most)


def mark_differences(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Two raw texts, with what differs marked in each, word by word."""
    left, right = _words(clipped(one)), _words(clipped(other))
    if one == other:
        return [Piece(clipped(one))], [Piece(clipped(other))]
    if max(len(left), len(right)) > _WORDS:
        begin, end = text.common_ends(clipped(one), clipped(other))
        return _ends(clipped(one), begin, end), _ends(clipped(other), begin, end)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for tag, begin, end, start, stop in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for side, words in zip(pieces, (left[begin:end], right[start:stop]), strict=True):
            if words:
                side.append(Piece("".join(words), tag != "equal"))
    return pieces


def _words(shown_text: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", shown_text)


def _ends(shown_text: str, begin: int, end: int) -> list[Piece]:
    stop = len(shown_text) - end
    pieces = [Piece(shown_text[:begin]), Piece(shown_text[begin:stop], True), Piece(shown_text[stop:])]
    return [piece for piece in pieces if piece.text]


def wrap(raw: str, width: int, most: int) -> list[str]:
    """``raw`` as at most ``most`` lines of ``width`` characters, broken after a comma or blank where there is one.

    The last line ends in "…" when something is left out.
    """
    rest = clipped(raw, width * most + 1)
    lines: list[str] = []
    while rest and len(lines) < most:
        if len(rest) <= width:
            lines.append(rest)
            return lines
        at = max(rest.rfind(" ", 0, width), rest.rfind(",", 0, width)) + 1
        at = at if at > width // 3 else width
        lines.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    if rest:
        lines[-1] = lines[-1][: width - 1] + "…"
    return lines or [""]
