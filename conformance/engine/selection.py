"""Selection by name: a word is the name itself if there is such a name, and otherwise a pattern."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatch


def select(word: str, names: Collection[str]) -> list[str]:
    """The name ``word``; when there is none, every name that it is a part of or that it matches, such as 'start-*'."""
    if word in names:
        return [word]
    return [name for name in names if word in name or fnmatch(name, word)]


def selection_notes(words: Sequence[str], names: Collection[str]) -> list[str]:
    """A sentence for every word that is a pattern, with the names that it selects."""
    return [f"{word!r} selects {', '.join(select(word, names))}" for word in words if word not in names]
