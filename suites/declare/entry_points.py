"""The entry points of packages that bring suites; found without importing suites, or what reads entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The group of the entry points.
GROUP = "rocketmq_conformance.suites"


def suite_entry_points() -> Iterable[EntryPoint]:
    """The entry points of suites."""
    if not packages_may_bring_suites():
        return ()
    from importlib.metadata import entry_points  # takes as long to import as all suites

    return entry_points(group=GROUP)


def packages_may_bring_suites() -> bool:
    """May an installed package bring suites? Mostly none does."""
    return any(map(_may_bring, sys.path))


def _may_bring(entry: str) -> bool:
    """May a package in this entry of ``sys.path`` bring suites?"""
    folder = Path(entry)
    if folder.is_file():  # an archive
        return True
    return any(GROUP in path.read_text("utf-8", "ignore") for path in folder.glob("*.*-info/entry_points.txt"))
