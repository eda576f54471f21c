"""The rule books of the kit's releases: with one of them, what only a newer rule forbids fails no run.

A file for each release names the ids of its rules, one a line. That of the release under way grows with the rules; the
others never change.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from rocketmq_conformance import __version__
from rocketmq_conformance.models import rulebook

#: Holds a file VERSION.txt for each release.
FOLDER = Path(__file__).parent / "rulebooks"


class RuleBook(NamedTuple):
    """The rules of one release of the kit, by id."""

    version: str
    rules: frozenset[str]

    def lacks(self, rule: str) -> bool:
        """Is a rule of the kit newer than this book? Those that other packages bring are in no book, and judged."""
        return rule in rulebook.RULES and rule not in self.rules


def versions() -> list[str]:
    """The releases that have a rule book, oldest first."""
    return sorted((path.stem for path in FOLDER.glob("*.txt")), key=lambda text: [*map(int, re.findall(r"\d+", text))])


def of_version(version: str) -> RuleBook:
    """The rule book of a release; KeyError with a sentence that names those that there are."""
    known = versions()
    if version not in known:
        raise KeyError(f"No release of the kit is called {version!r}: there are rule books of {', '.join(known)}.")
    return RuleBook(version, frozenset((FOLDER / f"{version}.txt").read_text("utf-8").split()))


def text_of_this() -> tuple[str, str]:
    """Name and text of the file of the release under way."""
    return f"{__version__}.txt", "".join(f"{rule}\n" for rule in rulebook.RULES)
