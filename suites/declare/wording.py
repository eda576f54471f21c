"""How values are put into words: declared beside what has them, and read by every report.

A *wording* makes a text of a value, or texts of its entries by name ("queue 3": "member 0 at 12"), so that a reader can
be shown the entries that differ. A value of another form than its wording is for is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

#: A text, or entries by name, at any depth.
Worded = str | Mapping[str, "Worded"]
Wording = Callable[[Any], Worded]
#: A request of a history in words: who asked, what, when it was sent and answered (None: never), and the answer.
Exchange = tuple[str, str, int, int | None, str]

#: Stands where one of two values has no such entry, and for a value without entries.
NOTHING = "nothing"
_NUMBERED = re.compile(r"(.*) (\d+)")
#: What a wording raises that meets a value of another form.
_UNFIT = (TypeError, ValueError, LookupError)


def plain(value: Any) -> str:
    """A value as it is."""
    return repr(value)


def bare(value: Any) -> str:
    """A name, without quotes; any other value as it is."""
    return value if isinstance(value, str) and value else repr(value)


def number(names: Mapping[int, str]) -> Wording:
    """A whole number, of which these have names."""
    return lambda value: names[value] if type(value) is int and value in names else repr(value)


#: An offset, where -1 stands for none.
OFFSET_OR_NONE = number({-1: "none"})


def numbers(value: Any) -> str:
    """A list of whole numbers; those that follow one another are written as a range."""
    items = _items(value)
    if not all(type(one) is int for one in items):
        raise TypeError(value)
    runs = (list(run) for _, run in groupby(enumerate(items), key=lambda pair: pair[1] - pair[0]))
    texts = [f"{run[0][1]} to {run[-1][1]}" if len(run) > 2 else ", ".join(str(one) for _, one in run) for run in runs]
    return ", ".join(texts) or "none"


def listed(of: Wording = bare) -> Wording:
    """A list of like things."""
    return lambda value: ", ".join(text(worded(of, one)) for one in _items(value)) or "none"


def each(what: str | Callable[[int], str], of: Wording = plain) -> Wording:
    """A list in which each place stands for something: queue 0, queue 1 and so on."""
    name = what if callable(what) else lambda at: f"{what} {at}"
    return lambda value: {name(at): worded(of, one) for at, one in enumerate(_items(value))}


def keyed(key: Callable[..., str], of: Callable[..., Worded], size: int = 2, keys: int = 1) -> Wording:
    """A list of (key, value): the first ``keys`` of ``size`` things name the entry, the others are its text."""

    def entries(value: Any) -> Worded:
        found: dict[str, list[str]] = {}
        for one in _items(value):
            if len(_items(one)) < size:
                raise ValueError(one)
            found.setdefault(key(*one[:keys]), []).append(text(of(*one[keys:])))
        return {name: ", then ".join(texts) for name, texts in found.items()}

    return entries


def _queue(name: Any) -> str:
    return f"queue {name}" if type(name) is int else bare(name)


#: (queue, offset) pairs, with what else is known of each behind them: commits, or what is stored.
OFFSETS = keyed(_queue, lambda *known: ", ".join(bare(one) for one in known))


def fields(parts: Mapping[str, Wording]) -> Wording:
    """A list of different things, each of which has a name."""
    return lambda value: {name: worded(of, one) for (name, of), one in zip(parts.items(), _items(value), strict=True)}


def worded(wording: Wording, value: Any) -> Worded:
    """A value in words, or as it is if it is of another form."""
    try:
        return wording(value)
    except _UNFIT:
        return repr(value)


def exchanges(history: Callable[[Any], list[Exchange]], value: Any) -> list[Exchange]:
    """The requests of a history; none if the value is of another form."""
    try:
        return history(value)
    except _UNFIT:
        return []


def text(words: Worded) -> str:
    """Words as one text; entries that follow one another and have the same words share them."""
    if isinstance(words, str):
        return words
    shared = _shared([(name, text(of) if isinstance(of, str) else f"[{text(of)}]") for name, of in words.items()])
    return "; ".join(f"{name}: {said}" for name, said in shared) or NOTHING


def differences(wanted: Worded, given: Worded, name: str = "") -> list[tuple[str, str, str]]:
    """The entries in which two values differ in words: the name, and both texts. None when they read the same."""
    return _shared(_differences(wanted, given, name))


def _differences(wanted: Worded, given: Worded, name: str) -> list[tuple[str, str, str]]:
    if isinstance(wanted, str) or isinstance(given, str):
        return [(name, text(wanted), text(given))] if text(wanted) != text(given) else []
    return [
        one
        for key in {**wanted, **given}
        for one in _differences(wanted.get(key, NOTHING), given.get(key, NOTHING), f"{name}, {key}" if name else key)
    ]


def _shared(rows: Sequence[tuple[str, ...]]) -> list[Any]:
    """Rows of a name and texts; those of numbered things that follow one another become one if the texts are equal."""
    found: list[tuple[str, ...]] = []
    first: tuple[str, int, int] | None = None
    for name, *texts in rows:
        numbered = _NUMBERED.fullmatch(name)
        what, at = (numbered[1], int(numbered[2])) if numbered else (name, -1)
        if first and found[-1][1:] == tuple(texts) and first[0] == what and at == first[2] + 1:
            first = what, first[1], at
            found[-1] = (f"{what}s {first[1]} {'and' if at == first[1] + 1 else 'to'} {at}", *texts)
        else:
            first = (what, at, at) if numbered else None
            found.append((name, *texts))
    return found


def _items(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise TypeError(value)
    return value
