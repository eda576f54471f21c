"""By which client ids offset files of broadcasting members go, where ids are other ones each time that one begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rocketmq_conformance.conformance.targets.offset_file_damage import offset_files
from rocketmq_conformance.suites.declare.topologies import ORDINARY

_WORD = re.compile(r"[0-9A-Za-z]+")


class FileIds:
    """The ids of the members of a case whose files are below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        #: The id that each member had first, and the words in the path of the file that it wrote.
        self._first: dict[int, str] = {}
        self._paths: dict[int, frozenset[str]] = {}

    def of(self, ids: Sequence[str]) -> tuple[str, ...]:
        """The client ids that decide which files members have, for the ``ids`` that were seen ("": none yet).

        A member goes on with the file of its first id when that has its instance name in its path, and nothing by
        which the ids differ.
        """
        return tuple(self._of(member, seen) for member, seen in enumerate(ids))

    def _of(self, member: int, seen: str) -> str:
        first = self._first.setdefault(member, seen) if seen else seen
        path = self._paths.get(member) or self._find(member)
        by_name = path and path.isdisjoint(_words(first) - _words(seen))
        return first if by_name else seen

    def _find(self, member: int) -> frozenset[str]:
        """The words in the path of the file that has a member's instance name in it; none while there is no such."""
        name = ORDINARY.members[member]
        paths = (str(file.relative_to(self._folder)) for file in offset_files(self._folder))
        words = next((_words(path) for path in paths if name in path), frozenset[str]())
        if words:
            self._paths[member] = words
        return words


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))
