"""The timestamp that a consumer starts at: a text such as "20240101093000" (START-TS-1).

A push or lite pull consumer keeps its ``consumeTimestamp`` as text and reads it with Java's
``SimpleDateFormat("yyyyMMddHHmmss")`` in the time zone of the process, which forgives nearly everything. The text is
cut into six numbers: a year of four characters, then month, day, hour and minute of two each, and a second that takes
all that is left. Blanks in front of a number and a minus sign are fine, what follows the last number is ignored, and
no number is checked: month 13 is January of the next year, second 90 a minute and a half, month 0 the December
before.

The six numbers are then a time on the wall. Years before the reform of 1582 are Julian. A time that the wall skips
when the clocks go forward is read with the offset before the change, one that it shows twice when they go back with
the offset after it: the later moment in both cases. A text that does not hold six numbers is no time at all.

This is Java in a locale with a Gregorian calendar, "-" for minus and digits from 0 to 9 (or their like in other
scripts, which Java reads as well).
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from rocketmq_conformance.models.java_text import int32
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "START-TS-1",
        "consumeTimestamp is read leniently as yyyyMMddHHmmss in the time zone of the process: numbers out of range "
        "roll over, the seconds take all digits that are left, further text is ignored; a text without six numbers "
        "ends the start with a NullPointerException.",
        "UtilAll#parseDate, RebalancePushImpl#computePullFromWhere @ 4.0.0, 5.5.0",
    ),
)

#: Characters of year, month, day, hour and minute; the second takes the rest.
_WIDTHS = (4, 2, 2, 2, 2)
#: A number as Java's DecimalFormat reads it, exponent and all.
_NUMBER = re.compile(r"(-?)(\d+)(?:E(-?)(\d+))?")
#: What DecimalFormat writes, and so reads, for what is no number or beyond all numbers.
_WORDS = re.compile(r"(-?)(NaN|∞)")
#: Exponents past this size make every number 0 or infinite.
_EXPONENT_LIMIT = 10_000

_DAY_SECONDS = 86_400
_EPOCH_DAY = date(1970, 1, 1).toordinal()
#: The first Gregorian day, and its year.
_REFORM_DAY = date(1582, 10, 15).toordinal()
_REFORM_YEAR = 1582
#: The Gregorian calendar, and with it the rule of every zone, repeats after 400 years.
_CYCLE_DAYS = 146_097
_CYCLE_SECONDS = _CYCLE_DAYS * _DAY_SECONDS
#: 1900-01-01T00:00:00Z, the first second (since the epoch) whose offsets Java knows.
_KNOWN_FROM = -2_208_988_800
#: 2100-01-01: from then on the rules of every zone are taken to repeat.
_LASTING_FROM = 4_102_444_800
#: New Year and the first of July of 2037: one of them is standard time.
_WINTER = 2_114_380_800
_SUMMER = 2_130_019_200


@lru_cache(maxsize=4096)
def parse_timestamp(text: str | None, zone: str) -> int | None:
    """Milliseconds since the epoch, or None when Java reads no time (START-TS-1).

    ``zone`` names an IANA time zone; ``ZoneInfoNotFoundError`` when there is none of that name.
    """
    numbers = _numbers(text) if text is not None else None
    if numbers is None:
        return None
    return _instant(*numbers, ZoneInfo(zone))


def _numbers(text: str) -> tuple[int, int, int, int, int, int] | None:
    """The six numbers; None when one is missing."""
    found = []
    at = 0
    for width in (*_WIDTHS, None):
        end = len(text) if width is None else at + width
        begin = at
        while begin < len(text) and text[begin] in " \t":
            begin += 1
        if begin == len(text) or end > len(text):
            return None
        read = _number(text[begin:end])
        if read is None:
            return None
        value, length = read
        found.append(value)
        at = begin + length
    year, month, day, hour, minute, second = found
    return year, month, day, hour, minute, second


def _number(text: str) -> tuple[int, int] | None:
    """The number that ``text`` begins with, as Java's ``intValue`` gives it, and its length."""
    if words := _WORDS.match(text):
        minus, word = words.groups()
        if word == "NaN":
            return (0, len(word)) if not minus else None
        return -(2**31) if minus else 2**31 - 1, words.end()
    found = _NUMBER.match(text)
    if not found:
        return None
    minus, digits, exponent_minus, exponent = found.groups()
    power = int(exponent_minus + exponent) if exponent else 0
    if not -(2**63) <= power < 2**63:  # then it is no exponent but the text that follows the number
        return _int(int(digits), 0, bool(minus)), found.end(2)
    power = max(-_EXPONENT_LIMIT, min(int32(power), _EXPONENT_LIMIT))
    return _int(int(digits), power, bool(minus)), found.end()


def _int(digits: int, power: int, negative: bool) -> int:
    """±digits · 10^power as a Java int: a whole number within 64 bits keeps its low 32 bits, any other saturates."""
    if power < 0 and digits % 10**-power == 0:
        digits, power = digits // 10**-power, 0
    if power >= 0:
        whole = digits * 10**power
        if whole < 2**63 + negative:
            return int32(-whole if negative else whole)
        return -(2**31) if negative else 2**31 - 1
    real = float(f"{digits}e{power}")
    whole = int(min(real, 2.0**31))
    return max(-whole, -(2**31)) if negative else min(whole, 2**31 - 1)


def _instant(year: int, month: int, day: int, hour: int, minute: int, second: int, zone: ZoneInfo) -> int:
    """Milliseconds since the epoch of a time on the wall; every number may be out of range."""
    more_days, of_day = divmod((hour * 60 + minute) * 60 + second, _DAY_SECONDS)
    more_days += day - 1
    more_years, month = divmod(int32(month - 1), 12)
    rolled = int32(year + more_years)
    number = _first_gregorian(rolled, month + 1) + more_days
    # a date is Gregorian by the year that was written, not by the year that it rolls into
    if year < _REFORM_YEAR or number < _REFORM_DAY:
        number = _first_julian(rolled, month + 1) + more_days
    wall = _int64(((number - _EPOCH_DAY) * _DAY_SECONDS + of_day) * 1000)
    return _int64(wall - _offset(wall // 1000, zone) * 1000)


def _int64(value: int) -> int:
    """A Java long: the years that an exponent can write overflow it."""
    return (value + 2**63) % 2**64 - 2**63


def _first_gregorian(year: int, month: int) -> int:
    """The number of a month's first day; 0001-01-01 has number 1."""
    cycles, year = divmod(year - 1, 400)
    return cycles * _CYCLE_DAYS + date(year + 1, month, 1).toordinal()


def _first_julian(year: int, month: int) -> int:
    """The same in the Julian calendar, whose year 1 begins two days earlier."""
    cycles, year = divmod(year - 1, 4)
    return cycles * 1461 + date(year + 1, month, 1).toordinal() - 2


def _offset(wall: int, zone: ZoneInfo) -> int:
    """Seconds to subtract from a time on the wall: of two offsets the one that gives the later moment."""
    if wall >= _LASTING_FROM:
        return _at(_LASTING_FROM + (wall - _LASTING_FROM) % _CYCLE_SECONDS, zone)
    if wall >= _KNOWN_FROM - _DAY_SECONDS:
        found = _at(wall, zone)
        if wall - found >= _KNOWN_FROM:
            return found
    # Java knows nothing of the years before 1900 and takes the standard time of today
    return min(_at(_WINTER, zone), _at(_SUMMER, zone))


def _at(wall: int, zone: ZoneInfo) -> int:
    local = (datetime(1970, 1, 1) + timedelta(seconds=wall)).replace(tzinfo=zone)
    offsets = [local.replace(fold=fold).utcoffset() for fold in (0, 1)]
    return min(int(offset.total_seconds()) for offset in offsets if offset is not None)
