"""The commands that the documents name: of the kit, and of its benchmarks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from places import ROOT

#: The changelog speaks of what there was.
DOCUMENTS = [
    path
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
    if path.name != "CHANGELOG.md"
]
_FENCED = re.compile(r"^ *```[a-z]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`]+)`")
#: Where a command ends that is followed by another one, or whose output goes elsewhere.
_ENDS = {"<<PLAN", "|", ">", ">>", "&&", "||", ";", "&", "2>"}


class Documented(NamedTuple):
    """A command, and the document that names it."""

    document: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(self.words)


def documented(program: str) -> Iterator[Documented]:
    """The commands that begin with these words, which are left out; those that are named without any more are not
    commands, but names."""
    for path in DOCUMENTS:
        text = path.read_text("utf-8")
        blocks = [block.replace("\\\n", " ") for block in _FENCED.findall(text)]
        lines = [line for block in blocks for line in block.splitlines()]
        spans = [span.replace("\n", " ") for span in _SPAN.findall(_FENCED.sub("", text))]
        for line in [*lines, *spans]:
            _, found, rest = line.partition(f"{program} ")
            if found and not line.startswith("docker build") and (words := _words(rest)):
                yield Documented(path.relative_to(ROOT).as_posix(), words)


def _words(text: str) -> tuple[str, ...]:
    """The words of a command, up to its end or to a comment."""
    # what a shell would put there
    text = re.sub(r"\$\([^)]*\)|\"…\"", "1", text)
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        return ()
    end = next((at for at, word in enumerate(words) if word in _ENDS), len(words))
    return tuple(word.partition("|")[0] for word in words[:end] if word != "…")
