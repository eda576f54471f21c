"""The timestamp of a consumer: what Java answered, laws, a second statement, and Java itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.models.client.timestamp import _number as number_at
from rocketmq_conformance.models.client.timestamp import parse_timestamp

ZONES = (
    "UTC",
    "Asia/Shanghai",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "Europe/London",
    "Europe/Dublin",
    "Africa/Cairo",
    "Pacific/Apia",
    "Australia/Lord_Howe",
)

#: Where clocks have not changed since 2010.
UNCHANGING = {"UTC", "Asia/Shanghai", "Asia/Kolkata", "Asia/Kathmandu"}

#: Text, zone, and what java.text.SimpleDateFormat("yyyyMMddHHmmss") of Java 17 made of it (ms since the epoch).
ANSWERED = [
    ("20131223171201", "UTC", 1387818721000),
    ("201312231712015", "UTC", 1387818735000),
    ("2013122317120", "UTC", 1387818720000),
    ("20131301000000", "UTC", 1388534400000),
    ("20130001000000", "UTC", 1354320000000),
    ("20130100000000", "UTC", 1356912000000),
    ("20131231235960", "UTC", 1388534400000),
    ("20130101250000", "UTC", 1357088400000),
    ("20130101000000 and more", "UTC", 1356998400000),
    ("20130101000000.9", "UTC", 1356998400000),
    ("2013122317", "UTC", None),
    ("201312231712", "UTC", None),
    ("201312231712 5", "UTC", 1387818725000),
    ("2013 1 1 1 1 1", "UTC", 1357002061000),
    ("2013-1-1-1-1-1", "UTC", 1351551539000),
    ("201312231712-5", "UTC", 1387818715000),
    ("+0131223171201", "UTC", None),
    ("", "UTC", None),
    ("  ", "UTC", None),
    ("yesterday", "UTC", None),
    ("20131223171x01", "UTC", None),
    ("-0011223171201", "UTC", -62168107679000),
    ("00010101000000", "UTC", -62135769600000),
    ("15821004000000", "UTC", -12219379200000),
    ("15821005000000", "UTC", -12219292800000),
    ("15821014000000", "UTC", -12218515200000),
    ("15821015000000", "UTC", -12219292800000),
    ("15830101000000", "UTC", -12212553600000),
    ("2E30101000000", "UTC", -6019000068476606464),
    ("2E03010100000000", "UTC", 946684800000),
    ("201301010000NaN", "UTC", 1356998400000),
    ("201301010000∞", "UTC", 3504482047000),
    ("2013010100001E3", "UTC", 1356999400000),
    ("20130101000015E-1", "UTC", 1356998401000),
    ("20130101000099999999999", "UTC", 2572750591000),
    ("20130101000099999999999999999999", "UTC", 3504482047000),
    ("٢٠١٣١٢٢٣١٧١٢٠١", "UTC", 1387818721000),
    ("18991231235959", "UTC", -2208988801000),
    ("99991231235959", "UTC", 253402300799000),
    ("20240101000000", "Asia/Shanghai", 1704038400000),
    ("18991231235959", "Asia/Shanghai", -2209017601000),
    ("19000101080542", "Asia/Shanghai", -2208988458000),
    ("19000101080543", "Asia/Shanghai", -2208988800000),
    ("19860504023000", "Asia/Shanghai", 515529000000),
    ("20240101000000", "Asia/Kolkata", 1704047400000),
    ("20240310015959", "America/New_York", 1710053999000),
    ("20240310020000", "America/New_York", 1710054000000),
    ("20240310023000", "America/New_York", 1710055800000),
    ("20240310030000", "America/New_York", 1710054000000),
    ("20241103003000", "America/New_York", 1730608200000),
    ("20241103010000", "America/New_York", 1730613600000),
    ("20241103013000", "America/New_York", 1730615400000),
    ("20241103020000", "America/New_York", 1730617200000),
    ("21000314023000", "America/New_York", 4108692600000),
    ("47860314023000", "America/New_York", 88870631400000),
    ("20241006015959", "Australia/Lord_Howe", 1728142199000),
    ("20241006020000", "Australia/Lord_Howe", 1728142200000),
    ("20241006021500", "Australia/Lord_Howe", 1728143100000),
    ("20241006023000", "Australia/Lord_Howe", 1728142200000),
    ("20240407013000", "Australia/Lord_Howe", 1712415600000),
    ("20240407014500", "Australia/Lord_Howe", 1712416500000),
    ("20240407020000", "Australia/Lord_Howe", 1712417400000),
    ("20240331013000", "Europe/Dublin", 1711848600000),
    ("20241027013000", "Europe/Dublin", 1729992600000),
]


def test_a_text_is_read_as_java_read_it() -> None:
    offenders = [(text, zone, expected) for text, zone, expected in ANSWERED if parse_timestamp(text, zone) != expected]
    assert not offenders, offenders[:5]


def test_no_text_is_no_time() -> None:
    assert parse_timestamp(None, "UTC") is None


def test_a_zone_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ZoneInfoNotFoundError):
        parse_timestamp("20240101000000", "Europe/Atlantis")


# --- laws -------------------------------------------------------------------------------------------------

moments = st.datetimes(datetime(1901, 1, 1), datetime(2199, 12, 31)).map(lambda moment: moment.replace(microsecond=0))
zones = st.sampled_from(ZONES)


def written(moment: datetime) -> str:
    return f"{moment:%Y%m%d%H%M%S}"


@given(moments, zones, st.text(alphabet=" .:TZ+abc", max_size=5))
def test_further_text_is_ignored(moment: datetime, zone: str, more: str) -> None:
    assert parse_timestamp(written(moment) + more, zone) == parse_timestamp(written(moment), zone)


@given(moments, zones, st.integers(0, 99))
def test_months_roll_over(moment: datetime, zone: str, month: int) -> None:
    year, text = moment.year + (month - 1) // 12, written(moment)
    assert parse_timestamp(f"{text[:4]}{month:02}{text[6:]}", zone) == parse_timestamp(
        f"{year}{(month - 1) % 12 + 1:02}{text[6:]}", zone
    )


@given(moments, zones, st.integers(0, 10**6))
def test_seconds_roll_over(moment: datetime, zone: str, seconds: int) -> None:
    text = written(moment)
    rolled = moment.replace(second=0) + timedelta(seconds=seconds)
    assert parse_timestamp(f"{text[:12]}{seconds}", zone) == parse_timestamp(written(rolled), zone)


@given(moments, zones)
def test_every_moment_that_a_wall_shows_once_is_read_back(moment: datetime, zone: str) -> None:
    shown = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
    twice = shown.replace(fold=0).utcoffset() != shown.replace(fold=1).utcoffset()
    expected = moment.replace(tzinfo=UTC).timestamp() * 1000
    read = parse_timestamp(written(shown.replace(tzinfo=None)), zone)
    assert read is not None
    assert read >= expected if twice else read == expected


def naive(moment: datetime, zone: str) -> int:
    """Look for the moments at which the wall shows that time: the later one; none: go by the wall an hour earlier."""
    wall = int(moment.replace(tzinfo=UTC).timestamp())
    info = ZoneInfo(zone)

    def offset(second: int) -> int:
        at = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)).astimezone(info).utcoffset()
        assert at is not None
        return int(at.total_seconds())

    near = {offset(wall + hours * 3600) for hours in range(-30, 31, 6)}
    shown = [wall - one for one in near if offset(wall - one) == one]
    return (max(shown) if shown else wall - min(near)) * 1000


@given(moments, zones)
def test_wall_times_are_read_as_in_the_second_statement(moment: datetime, zone: str) -> None:
    assert parse_timestamp(written(moment), zone) == naive(moment, zone)


@pytest.mark.many_cases
@every("zone", ZONES)
def test_nights_in_which_clocks_change_are_read_as_in_the_second_statement(zone: str) -> None:
    info, changes = ZoneInfo(zone), 0
    for day in (datetime(2009, 12, 31, 12) + timedelta(days=number) for number in range(366 * 16)):
        if day.replace(tzinfo=info).utcoffset() == (day + timedelta(days=1)).replace(tzinfo=info).utcoffset():
            continue
        changes += 1
        for moment in (day + timedelta(minutes=15 * quarter) for quarter in range(96)):
            assert parse_timestamp(written(moment), zone) == naive(moment, zone), moment
    assert changes >= 4 or zone in UNCHANGING


# --- Java -------------------------------------------------------------------------------------------------


def ordinary(chance: random.Random) -> str:
    """A time of 1890 to 2110."""
    limits = ((1890, 2110), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59))
    return "".join(f"{chance.randint(*limit):02}" for limit in limits)


def changing(chance: random.Random) -> str:
    """A night in which clocks may change."""
    day = f"20{chance.randint(0, 40):02}{chance.choice((3, 4, 9, 10, 11)):02}{chance.randint(1, 31):02}"
    return f"{day}{chance.randint(0, 4):02}{chance.choice((0, 15, 29, 30, 31, 45, 59)):02}00"


def rolling(chance: random.Random) -> str:
    """Numbers beyond their ranges, years around the reform of the calendar among them."""
    year = chance.choice((chance.randint(0, 9999), chance.randint(1578, 1586)))
    return f"{year:04}" + "".join(f"{chance.randint(0, 99):02}" for _ in range(5))


def digits(chance: random.Random) -> str:
    """Digits, too few or too many."""
    return "".join(chance.choice("0123456789") for _ in range(chance.randint(10, 30)))


def damaged(chance: random.Random) -> str:
    """Text that only a lenient parser can read, or none."""
    characters = list(ordinary(chance))
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(characters))
        characters[at : at + chance.randrange(2)] = chance.choice(" \t-+E.,:/Tx٣３∞0-E 9")
    ends = ("", "", "", "NaN", "E5", "E-2", "99999999999", "99999999999999999999", "-5", "∞")
    return "".join(characters) + chance.choice(ends)


@pytest.fixture(scope="module")
def java() -> Callable[[str, str], int | None]:
    """The real SimpleDateFormat."""
    from rocketmq_conformance.conformance.targets.java_client import jvm

    try:
        jpype: Any = jvm.start()
    except CannotRunError as error:
        pytest.skip(str(error))
    form = jpype.JClass("java.text.SimpleDateFormat")
    zone_of = jpype.JClass("java.util.TimeZone").getTimeZone
    locale = jpype.JClass("java.util.Locale").US
    unreadable = jpype.JClass("java.text.ParseException")

    def read(text: str, zone: str) -> int | None:
        reader = form("yyyyMMddHHmmss", locale)
        reader.setTimeZone(zone_of(zone))
        try:
            return int(reader.parse(text).getTime())
        except unreadable:
            return None

    return read


@pytest.mark.java
@pytest.mark.parametrize("make", [ordinary, changing, rolling, digits, damaged])
def test_texts_are_read_as_java_reads_them(
    make: Callable[[random.Random], str], java: Callable[[str, str], int | None]
) -> None:
    chance = random.Random(make.__name__)
    read = 0
    for _ in range(4000):
        text, zone = make(chance), chance.choice(ZONES)
        expected = java(text, zone)
        assert parse_timestamp(text, zone) == expected, (text, zone)
        read += expected is not None
    assert read > 400


@pytest.mark.java
@pytest.mark.parametrize(("text", "zone", "expected"), ANSWERED)
def test_java_still_reads_as_it_did(
    text: str, zone: str, expected: int | None, java: Callable[[str, str], int | None]
) -> None:
    assert java(text, zone) == expected


@every(
    ("text", "read"),
    [
        ("NaN", (0, 3)),
        ("-NaN", None),
        ("∞1", (2**31 - 1, 1)),
        ("-∞", (-(2**31), 2)),
        # an exponent beyond 64 bits is none: the number ends before it
        ("1E99999999999999999999", (1, 1)),
        ("12E1x", (120, 4)),
        ("1200E-2x", (12, 7)),
    ],
)
def test_words_and_exponents_are_numbers(text: str, read: tuple[int, int] | None) -> None:
    assert number_at(text) == read
