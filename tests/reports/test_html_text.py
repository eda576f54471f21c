"""Text of the page: nothing is lost without a word, and nothing is made up."""

from __future__ import annotations

import math

from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.reports.html_text import (
    MOST,
    clipped,
    count,
    figure,
    first_items,
    mark_differences,
    memory,
    seconds,
    share,
    wrap,
)

TEXT = st.text(st.characters(codec=None, categories=None), max_size=60)


@given(TEXT)
def test_short_text_is_shown_whole_and_printable(raw: str) -> None:
    assert clipped(raw).isprintable()
    assert not raw.isprintable() or clipped(raw) == raw


def test_long_text_says_how_much_is_missing() -> None:
    assert clipped("x" * (MOST + 1234)) == "x" * MOST + " … and 1,234 more characters"


@given(TEXT, TEXT)
def test_compared_texts_are_still_themselves(one: str, other: str) -> None:
    left, right = mark_differences(one, other)
    assert "".join(piece.text for piece in left) == clipped(one)
    assert "".join(piece.text for piece in right) == clipped(other)
    unmarked = ["".join(piece.text for piece in side if not piece.marked) for side in (left, right)]
    assert unmarked[0] == unmarked[1]
    assert any(piece.marked for piece in (*left, *right)) == (clipped(one) != clipped(other))


def test_only_the_words_that_differ_are_marked() -> None:
    left, right = mark_differences("memory {0: 5}, frozen []", "memory {0: 7}, frozen [1]")
    assert [piece.text for piece in left if piece.marked] == ["5"]
    assert [piece.text for piece in right if piece.marked] == ["7", "1"]


def test_texts_of_very_many_words_are_compared_by_their_ends() -> None:
    left, right = mark_differences("a " * 500 + "x" + " b" * 100, "a " * 500 + "y" + " b" * 100)
    assert [piece.text for piece in left if piece.marked] == ["x"]
    assert [piece.text for piece in right if piece.marked] == ["y"]


@given(TEXT, st.integers(5, 40), st.integers(1, 6))
def test_wrapped_lines_fit_and_lose_only_white_space(raw: str, width: int, most: int) -> None:
    lines = wrap(raw, width, most)
    assert 1 <= len(lines) <= most
    assert all(len(line) <= width for line in lines)
    if not lines[-1].endswith("…"):
        assert "".join("".join(lines).split()) == "".join(clipped(raw).split())


def test_lines_are_broken_behind_a_comma() -> None:
    assert wrap("read(queue=0, kind='memory', fault='answer')", 30, 3) == [
        "read(queue=0, kind='memory',",
        "fault='answer')",
    ]


@every(
    ("part", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.9999, "99 %"),
        (0.5, "50 %"),
        (0.0234, "2.3 %"),
        (0.00002, "0.002 %"),
        (1e-9, "under 0.001 %"),
        (-0.1, "?"),
        (1.1, "?"),
        (math.nan, "?"),
    ],
)
def test_shares_are_never_all_or_nothing_unless_they_are(part: float, text: str) -> None:
    assert share(part) == text


def test_numbers_and_times_that_are_none_are_shown_all_the_same() -> None:
    assert figure(-1234) == "-1,234"
    assert figure(10**4000) == "more than 10²¹"
    assert (count(1, "case"), count(2000, "case")) == ("1 case", "2,000 cases")
    assert (seconds(math.inf), seconds(math.nan), seconds(0.5)) == ("?", "?", "0.50 s")
    assert (memory(123_456_789), memory(5 << 30), memory(10**40)) == ("118 MiB", "5.0 GiB", "?")


def test_a_list_that_is_cut_says_how_much_is_left() -> None:
    assert first_items([1, 2, 3], 2) == ([1, 2], 1)
    assert first_items([1, 2], 2) == ([1, 2], 0)
