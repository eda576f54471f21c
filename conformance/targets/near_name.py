"""What a name that is not known may have been meant for."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """`` (did you mean 'pace'?)``, or "" where no name is like it."""
    near = get_close_matches(name, [*names], 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def no_option(whose: str, given: Iterable[str], known: Iterable[str], forms: str) -> str:
    """The sentence on the first option that is not known, "" when all are; ``forms`` is how the known ones are
    written."""
    names = sorted(known)
    unknown = sorted({*given} - {*names})
    if not unknown:
        return ""
    return f"{whose} has no option {unknown[0]!r}{did_you_mean(unknown[0], names)}; it knows {forms}."
