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
        #: Of each member: its ids, the one by which its file goes, and the words in the path of a file that it wrote.
        self._ids: dict[int, set[str]] = {}
        self._known: dict[int, str] = {}
        self._paths: dict[int, frozenset[str]] = {}

    def of(self, ids: Sequence[str]) -> tuple[str, ...]:
        """The client ids that decide which files members have, for the ``ids`` that were seen ("": none yet).

        A member goes on with its file where that has its instance name in its path, and nothing by which its ids
        differ.
        """
        return tuple(self._of(member, seen) if seen else "" for member, seen in enumerate(ids))

    def _of(self, member: int, seen: str) -> str:
        ids = self._ids.setdefault(member, set())
        ids.add(seen)
        path = self._paths.get(member) or self._find(member)
        words = [_words(one) for one in ids]
        if not path or not path.isdisjoint(frozenset.union(*words) - frozenset.intersection(*words)):
            self._known[member] = seen
        return self._known.setdefault(member, seen)

    def _find(self, member: int) -> frozenset[str]:
        """The words in the path of a file that has the member's instance name in it; none while there is no such."""
        name = ORDINARY.members[member]
        paths = (str(file.relative_to(self._folder)) for file in offset_files(self._folder))
        words = next((_words(path) for path in paths if name in path), frozenset[str]())
        if words:
            self._paths[member] = words
        return words


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))
