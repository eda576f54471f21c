"""How counts, times and strange text are written."""

from __future__ import annotations

from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.reports.text import clean, common_ends, count, duration, profile, rate


@given(st.text(st.characters(codec=None, categories=None)))
def test_cleaned_text_is_printable_and_printable_text_stays(text: str) -> None:
    assert clean(text).isprintable()
    assert clean(clean(text)) == clean(text)
    assert not text.isprintable() or clean(text) == text


def test_strange_characters_are_shown_as_escapes() -> None:
    assert clean("a\x1b\n\u202e\ud800\U0001f600") == r"a\x1b\n\u202e\ud800" + "\U0001f600"


@given(st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_common_ends_are_common_and_do_not_overlap(one: str, other: str) -> None:
    begin, end = common_ends(one, other)
    assert one[:begin] == other[:begin]
    assert one[len(one) - end :] == other[len(other) - end :]
    assert begin + end <= min(len(one), len(other))
    assert (begin == len(one) == len(other)) == (one == other)


def test_common_ends_are_as_long_as_can_be() -> None:
    assert common_ends("xxAyy", "xxByy") == (2, 2)
    assert common_ends("aaa", "aa") == (2, 0)


@every(
    ("seconds", "text"),
    [
        (0, "0.00 s"),
        (0.412, "0.41 s"),
        (41.46, "41.5 s"),
        (125, "2 min 05 s"),
        (3599.6, "1 h 00 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_counts_and_rates() -> None:
    assert [count(number, "case") for number in (0, 1, 2000)] == ["0 cases", "1 case", "2,000 cases"]
    assert (rate(10, 4), rate(10, 0)) == ("2", "-")
    assert profile({"client": "5.5.0", "java": "17"}) == "client 5.5.0, java 17"
