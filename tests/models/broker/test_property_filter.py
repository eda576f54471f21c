"""Expressions in SQL92: what can be compiled, and what they are worth for properties; worked out by hand."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.property_filter import FailedError, Properties, compiled, passes, verdict

FAILED = "failed"


def worth(text: str, **properties: str) -> object:
    """True, False, None for unknown, or FAILED."""
    try:
        return verdict(text, properties)
    except FailedError:
        return FAILED


@pytest.mark.parametrize(
    ("text", "properties", "expected"),
    [
        ("a = 1", {"a": "1"}, True),
        ("a = 1", {"a": "2"}, False),
        ("a = 1", {"a": "+1"}, True),
        ("a = 1", {"a": " 1"}, FAILED),
        ("a = 1", {"a": "1.0"}, FAILED),
        ("a = 1", {"a": "3000000000"}, FAILED),
        ("a = 3000000000", {"a": "3000000000"}, True),
        ("a = 1L", {"a": "1"}, True),
        ("a = 1.0", {"a": " 1d "}, True),
        ("a = 1.", {"a": "1e0"}, True),
        ("a = .5", {"a": "x"}, FAILED),
        ("1 = a", {"a": "1"}, True),
        ("a = -3", {"a": "-3"}, True),
        ("a = +3", {"a": "3"}, True),
        ("-a = 3", {"a": "3"}, None),
        ("-a = 3", {}, None),
        ("-TRUE = 1", {}, None),
        ("a = '1'", {"a": "1"}, True),
        ("b = 'it''s'", {"b": "it's"}, True),
        ("b < 2", {"b": "1"}, True),
        ("a < b", {"a": "9", "b": "10"}, True),
        ("a >= b", {"a": "9", "b": "x"}, FAILED),
        ("a = b", {"a": "1", "b": "1.0"}, False),
        ("b = TRUE", {"b": "True"}, True),
        ("b = TRUE", {"b": "yes"}, False),
        ("TRUE = b", {"b": "true"}, FAILED),
        ("1 = TRUE", {}, False),
        ("TRUE = TRUE", {}, True),
        ("2 > 1", {}, True),
        ("1 <= 1.0", {}, True),
    ],
)
def test_properties_are_converted_to_what_they_are_compared_with(
    text: str, properties: Properties, expected: object
) -> None:
    assert worth(text, **properties) == expected


@pytest.mark.parametrize(
    ("text", "properties", "expected"),
    [
        ("a = 1", {}, None),
        ("1 = a", {}, False),
        ("a = b", {}, True),
        ("a <> 1", {}, None),
        ("a > 1", {}, None),
        ("1 > a", {}, None),
        ("a = 1", {"a": ""}, None),
        ("a IS NULL", {}, True),
        ("a IS NULL", {"a": "1"}, False),
        ("a IS NOT NULL", {"a": "1"}, True),
        ("(a = 1) IS NULL", {}, True),
        ("a IN ('1', '2')", {"a": "2"}, True),
        ("a IN ('1')", {}, None),
        ("a NOT IN ('1')", {"a": "2"}, True),
        ("a BETWEEN 1 AND 3", {"a": "3"}, True),
        ("a BETWEEN 1 AND 3", {}, None),
        ("a BETWEEN 3 AND -1", {"a": "1"}, False),
        ("a NOT BETWEEN 3 AND 1", {"a": "2"}, True),
        ("NULL", {}, None),
        ("NULL OR TRUE", {}, True),
        ("NULL AND FALSE", {}, False),
        ("FALSE AND a = 1", {"a": "x"}, False),
        ("TRUE AND a = 1", {"a": "x"}, FAILED),
        ("TRUE OR a = 1", {"a": "x"}, True),
        ("NULL AND TRUE", {}, None),
        ("FALSE OR FALSE", {}, False),
        ("TRUE AND TRUE", {}, True),
        ("a", {"a": "TRUE"}, False),
        ("a", {}, None),
        ("not a", {"a": "TRUE"}, True),
        ("NOT a = 1", {"a": "2"}, False),
        ("NOT b = 'x'", {"b": "y"}, FAILED),
        ("a = 1 b", {"a": "1"}, True),
        ("a = 1 AND b = 2 OR c = 3", {"c": "3"}, True),
    ],
)
def test_what_is_lacking_is_unknown(text: str, properties: Properties, expected: object) -> None:
    assert worth(text, **properties) == expected


WRONG = (
    "",
    "a =",
    "a == 1",
    "a # 1",
    "a = 'x",
    "(a = 1",
    "1",
    "'x'",
    "NOT 1",
    "-a",
    "a > 'x'",
    "a > TRUE",
    "1 < a < 10",
    "a = NULL",
    "TRUE = 1",
    "a IN (1)",
    "a IN ()",
    "1 IN ('1')",
    "a NOT b",
    "a IS 1",
    "a BETWEEN 2 AND 1",
    "a BETWEEN 'x' AND 'y'",
    "a = 9223372036854775808",
    "a = 0.0",
    "a = 1e999",
    "a = AND",
)


def test_what_cannot_be_compiled_passes_every_message() -> None:
    assert [text for text in WRONG if compiled(text) is not None or not passes(text, {})] == []


def test_what_is_unknown_or_fails_does_not_pass() -> None:
    assert passes("a = 1", {"a": "1"})
    assert not passes("a = 1", {})
    assert not passes("a = 1", {"a": "x"})
