"""Parses ``yyyyMMddHHmmss`` leniently and in the machine's zone, as Java's SimpleDateFormat does."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

#: Blanks and a whole number.
_NUMBER = re.compile(r"[ \t]*(-?[0-9]+)")
_DAY = timedelta(days=1)


def fields(text: str) -> tuple[int, ...] | None:
    """Year, month, day, hour, minute, second; None when one of them is missing."""
    found = []
    at = 0
    for width in (4, 2, 2, 2, 2, None):
        end = len(text) if width is None else at + width
        if end > len(text):
            return None
        number = _NUMBER.match(text, at, end)
        if number is None:
            return None
        found.append(int(number[1]))
        at = number.end()
    return tuple(found)


def reading(year: int, month: int, day: int, hour: int, minute: int, second: int) -> datetime | None:
    """The local time of these fields, overflow carried; None outside the years 1 to 9999."""
    years, month = divmod(month - 1, 12)
    try:
        return datetime(year + years, month + 1, 1) + timedelta(
            days=day - 1, hours=hour, minutes=minute, seconds=second
        )
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=1 << 10)
def instant(clock: datetime, zone: str) -> datetime:
    """The moment of a local time in a zone.

    Of two such moments the later; when the clocks skip it, as if they had not been changed yet.
    """
    there = ZoneInfo(zone)
    naive = clock.replace(tzinfo=UTC)
    before, after = ((naive + step).astimezone(there).utcoffset() or timedelta() for step in (-_DAY, _DAY))
    for offset in (after, before):
        moment = naive - offset
        if moment.astimezone(there).utcoffset() == offset:
            return moment
    return naive - before


def milliseconds(moment: datetime) -> int:
    """A moment in ms since the epoch."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
