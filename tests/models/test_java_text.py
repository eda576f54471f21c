"""Java's texts."""

from __future__ import annotations

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.java_text import (
    int32,
    is_blank,
    parse_boolean,
    parse_number,
    split,
    string_hash,
    utf16,
)

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


#: The first and the last characters of one and of two code units, about the surrogates too.
CHARACTERS = st.text("\0aZ\x7f\xff\ud7ff\ue000\uff5e\uffff\U00010000\U0001f600\U00020000\U0010ffff")


@given(CHARACTERS, CHARACTERS)
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


@pytest.mark.parametrize(
    ("text", "bits", "number"),
    [
        ("0", 32, 0),
        ("-0", 32, 0),
        ("+3", 64, 3),
        ("007", 64, 7),
        ("\u0663", 64, 3),
        ("-\uff12", 64, -2),
        ("2147483647", 32, 2**31 - 1),
        ("-2147483648", 32, -(2**31)),
        ("2147483648", 32, None),
        ("2147483648", 64, 2**31),
        ("-9223372036854775808", 64, -(2**63)),
        ("9223372036854775808", 64, None),
    ],
)
def test_numbers_are_read_as_java_reads_them(text: str, bits: int, number: int | None) -> None:
    assert parse_number(text, bits) == number


def test_other_texts_are_no_numbers() -> None:
    # the last one is a digit of two code units, which Java looks at one by one
    texts = ("", "+", "-", "--1", "+-1", " 1", "1 ", "1_0", "1.0", "1L", "1e1", "0x1", "abc", "\u00b2", "\U0001d7ce")
    assert [text for text in texts if parse_number(text, 64) is not None] == []


def test_true_is_a_word_in_any_case_and_nothing_else_is() -> None:
    assert [text for text in ("true", "TRUE", "True", "false", "", " true", "1", "yes") if parse_boolean(text)] == [
        "true",
        "TRUE",
        "True",
    ]
