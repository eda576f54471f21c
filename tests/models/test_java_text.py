"""Java's texts."""

from __future__ import annotations

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.java_text import int32, is_blank, split, string_hash, utf16

#: What java.lang.String#split("@") was seen to give.
SPLITS = {
    "a@b": ["a", "b"],
    "a@b@": ["a", "b"],
    "a@b@@": ["a", "b"],
    "@b": ["", "b"],
    "a@": ["a"],
    "a@b@c": ["a", "b", "c"],
    "@": [],
    "@@": [],
    "@@b": ["", "", "b"],
    "": [""],
    "plain": ["plain"],
}


@every(("text", "parts"), SPLITS.items())
def test_split_forgets_empty_parts_at_the_end(text: str, parts: list[str]) -> None:
    assert split(text, "@") == parts


def test_utf16_orders_a_surrogate_pair_before_a_full_width_tilde() -> None:
    assert utf16("\U0001f600") < utf16("\uff5e")
    assert "\U0001f600" > "\uff5e"


@given(st.text(), st.text())
def test_utf16_orders_as_code_units_do(left: str, right: str) -> None:
    def units(text: str) -> list[int]:
        return [unit for c in text for unit in ([ord(c)] if ord(c) < 0x10000 else pair(ord(c) - 0x10000))]

    def pair(code: int) -> list[int]:
        return [0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF)]

    assert (utf16(left) < utf16(right)) == (units(left) < units(right))


@pytest.mark.parametrize(
    ("text", "hashed"),
    [("", 0), ("a", 97), ("hello", 99162322), ("polygenelubricants", -(2**31)), ("\U0001f600", 1772899)],
)
def test_string_hash_is_javas(text: str, hashed: int) -> None:
    assert string_hash(text) == hashed


@every(
    ("number", "wrapped"),
    [(0, 0), (2**31 - 1, 2**31 - 1), (2**31, -(2**31)), (-(2**31) - 1, 2**31 - 1), (2**32, 0), (-1, -1)],
)
def test_int32_wraps(number: int, wrapped: int) -> None:
    assert int32(number) == wrapped


@every(
    ("text", "blank"),
    [
        ("", True),
        (" \t\r\n", True),
        ("\u2003", True),
        ("\u00a0", False),
        ("\u2007", False),
        ("\x85", False),
        (" a", False),
    ],
)
def test_blank_means_java_whitespace(text: str, blank: bool) -> None:
    assert is_blank(text) is blank
