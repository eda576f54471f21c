"""JSON as RocketMQ writes it: numbers as keys without quotes, and objects as keys (WIRE-JSON-1, WIRE-JSON-2).

``{"brokerAddrs":{0:"127.0.0.1:10911"}}`` and ``{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:10}}``
are what brokers and offset files really hold. What is ordinary JSON inside is read by the standard library.
"""

from __future__ import annotations

import json
import re
from typing import Any

_STANDARD = json.JSONDecoder(strict=False)
#: Reads the ordinary value that begins at a character: the value, and where it ends.
_scan = _STANDARD.raw_decode
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = (("true", True), ("false", False), ("null", None))
#: What begins with these the standard library reads, unless something inside is not plain.
_PLAIN = frozenset('{["')
#: Deeper than any RocketMQ body; a text made to exhaust the stack is refused instead.
_DEEPEST = 64


def loads(text: str) -> Any:
    """Parse a text; raises ValueError with a sentence.

    A key that is a number becomes its text (``"0"``); a key that is an object becomes the tuple of its sorted
    items, so that ``dict(key)`` gives the object back.
    """
    value, end = _value(text, _space(text, 0), 0)
    if _space(text, end) != len(text):
        raise ValueError(f"unexpected text at character {end} of the JSON text")
    return value


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found  # it matches nothing at all, too
    return found.end()


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        raise ValueError("the JSON text is nested too deeply")
    first = text[at : at + 1]
    if first in _PLAIN:
        try:
            return _scan(text, at)
        except ValueError:
            pass  # something inside is not plain
        except RecursionError:
            raise ValueError("the JSON text is nested too deeply") from None
    match first:
        case "{":
            return _object(text, at + 1, depth)
        case "[":
            return _list(text, at + 1, depth)
        case '"' | "'":
            return _string(text, at, first)
    for word, value in _WORDS:
        if text.startswith(word, at):
            return value, at + len(word)
    number = _NUMBER.match(text, at)
    if number is None:
        raise ValueError(f"no JSON value at character {at}")
    written = number.group()
    return int(written) if written.lstrip("-").isdigit() else float(written), number.end()


def _string(text: str, at: int, quote: str) -> tuple[str, int]:
    end = at + 1
    while end < len(text) and text[end] != quote:
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        raise ValueError(f"the string at character {at} has no end")
    inner = text[at + 1 : end]
    if quote == "'":
        inner = inner.replace("\\'", "'").replace('"', '\\"')
    value = _STANDARD.decode(f'"{inner}"')
    return str(value), end + 1


def _object(text: str, at: int, depth: int) -> tuple[dict[Any, Any], int]:
    members: dict[Any, Any] = {}
    at = _space(text, at)
    if text[at : at + 1] == "}":
        return members, at + 1
    while True:
        key, at = _value(text, at, depth + 1)
        if isinstance(key, dict):
            key = tuple(sorted(key.items()))
        elif isinstance(key, (list, bool)) or key is None:
            raise ValueError(f"a key before character {at} is neither text, number nor object")
        else:
            key = str(key)
        at = _space(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"a colon is missing at character {at}")
        members[key], at = _value(text, _space(text, at + 1), depth + 1)
        at = _space(text, at)
        match text[at : at + 1]:
            case ",":
                at = _space(text, at + 1)
            case "}":
                return members, at + 1
            case _:
                raise ValueError(f"an object has no end at character {at}")


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _space(text, at)
    if text[at : at + 1] == "]":
        return items, at + 1
    while True:
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _space(text, at)
        match text[at : at + 1]:
            case ",":
                at = _space(text, at + 1)
            case "]":
                return items, at + 1
            case _:
                raise ValueError(f"a list has no end at character {at}")
