"""What a name that is not known may have been meant for."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """`` (did you mean 'pace'?)``, or "" where no name is like it."""
    near = get_close_matches(name, [*names], 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def refuse_unknown(whose: str, given: Iterable[str], known: Iterable[str], forms: str) -> None:
    """ValueError for the first option that is not known; ``forms`` is how the known ones are written."""
    names = sorted(known)
    for unknown in sorted({*given} - {*names}):
        raise ValueError(f"{whose} has no option {unknown!r}{did_you_mean(unknown, names)}; it knows {forms}.")
