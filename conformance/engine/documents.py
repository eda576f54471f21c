"""JSON and TOML that others have written: whatever is wrong with a text is a ValueError.

What the parsers of Python do besides: texts that are nested a thousand deep end in a RecursionError, and a number may
become an infinity or none at all.
"""

from __future__ import annotations

import json
import math
import tomllib
from typing import Any


def json_of(text: str) -> Any:
    """What a text of JSON says; ValueError when it is none."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError(_DEEP) from None


def toml_of(text: str) -> dict[str, Any]:
    """What a text of TOML says; ValueError when it is none."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(_DEEP) from None


def what_is_wrong(error: Exception) -> str:
    """What is wrong with what a text says, in words: a KeyError has but a name."""
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large for a number")
    return number


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


_DEEP = "it is nested too deeply"
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refused)
