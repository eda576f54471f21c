"""A history of requests as a small chart: a line for each, from its sending to its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rocketmq_conformance.reports.text import clean

#: Columns of a moment, and how lines end: at an answer, or without one.
_MOMENT, _ANSWERED, _OPEN = 2, "|", ">"


class Span(NamedTuple):
    """A request: who asked what, when it was sent and answered (None: never), as places among all moments."""

    who: str
    what: str
    sent: int
    answered: int | None
    said: str
    #: What should have been answered, "" where it does not differ.
    wanted: str

    @property
    def text(self) -> str:
        """The request and its answer."""
        said = "no answer" if self.answered is None else self.said
        return f"{self.what}: {said}" + (f", expected {self.wanted}" if self.wanted else "")


def spans(history: Sequence[Sequence[str]]) -> tuple[list[Span], int]:
    """Requests by when they were sent, and how many moments there are; rows of another form are left out."""
    found = []
    for row in history:
        match row:
            case [who, what, sent, answered, said, wanted] if sent.isdecimal() and (answered or "0").isdecimal():
                found.append(Span(who, what, int(sent), int(answered) if answered else None, said, wanted))
    moments = sorted({moment for one in found for moment in (one.sent, one.answered) if moment is not None})
    place = {moment: at for at, moment in enumerate(moments)}
    placed = [
        one._replace(sent=place[one.sent], answered=None if one.answered is None else place[one.answered])
        for one in found
    ]
    return sorted(placed, key=lambda one: one.sent), len(moments)


def chart(history: Sequence[Sequence[str]], most: int) -> list[tuple[str, bool]]:
    """The lines of a chart, at most so many, and whether each differs; what overlaps with what differs goes first."""
    found, moments = spans(history)
    wide = max((len(clean(one.who)) for one in found), default=0)
    return [
        (f"{clean(one.who):<{wide}}  {_bar(one, moments)}  {clean(one.text)}", bool(one.wanted))
        for one in _nearest(found, most)
    ]


def _bar(one: Span, moments: int) -> str:
    width = moments * _MOMENT
    begin, end = one.sent * _MOMENT, width if one.answered is None else one.answered * _MOMENT
    line = "|" + "-" * (end - begin - 1) + (_OPEN if one.answered is None else _ANSWERED)
    return f"{' ' * begin}{line:<{width - begin + 1}}"


def _nearest(found: Sequence[Span], most: int) -> list[Span]:
    """Those that differ, those that overlap with them, and the last ones of the others, in their order."""
    wrong = [one for one in found if one.wanted]

    def nearness(at: int) -> tuple[int, int]:
        one = found[at]
        return (0 if one.wanted else 1 if any(_overlap(one, other) for other in wrong) else 2), -at

    kept = sorted(range(len(found)), key=nearness)[: max(most, 0)]
    return [found[at] for at in sorted(kept)]


def _overlap(one: Span, other: Span) -> bool:
    first, second = sorted((one, other), key=lambda each: each.sent)
    return first.answered is None or second.sent < first.answered
