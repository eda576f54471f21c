"""The corpus: plans that once showed a divergence. An ordinary run plays them before it generates any.

A corpus is a folder of plan files. A name has the suite, and then the fingerprint of the divergence that
the plan showed, followed by a number where another plan has the same one::

    remote-store.9b1c2d3e.plan.jsonl
    remote-store.9b1c2d3e-2.plan.jsonl

Other files may lie beside them. A run reads the folders that the user names, which come before anything else, that of
the kit, and ``corpus`` in the current folder when there is one; every case of every file is played, judged by the
profile of the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rocketmq_conformance import suites as room
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.plan import Plan, PlanError
from rocketmq_conformance.reports.tiers import CORPUS
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: The folder of a project that has a corpus of its own.
NAME = "corpus"
#: The pattern of names, for error messages.
PATTERN = "SUITE.FINGERPRINT.plan.jsonl"
SUFFIX = ".plan.jsonl"
_MINIMAL = re.compile(r"([a-z-]+)\.(.+)\.plan\.jsonl")


class StoredCase(NamedTuple):
    """A case of a stored plan: its file, number and seed there, and its plan."""

    path: Path
    number: int
    seed: int
    rows: list[Row]
    #: The tier of a run that plays it: the corpus, or the covering plans.
    tier: str = CORPUS


def kit_folder() -> Path:
    """The corpus that comes with the kit. In the source tree the room is a link, which is followed."""
    return Path(room.__path__[0]).resolve() / NAME


def in_source_tree() -> bool:
    """Does the kit run from its source tree, so that plans can be added to its corpus?"""
    return (kit_folder().parents[1] / "pyproject.toml").is_file()


def folders(more: Iterable[Path] = ()) -> list[Path]:
    """The folders that a run reads, each once: ``more``, the kit's, and that of the current folder."""
    found: dict[Path, Path] = {}
    for folder in (*more, *filter(Path.is_dir, (kit_folder(), Path(NAME)))):
        found.setdefault(folder.resolve(), folder)
    return list(found.values())


def minimal(name: str) -> tuple[str, str] | None:
    """The suite and the rest of the name of a minimal plan's file; None when it is none, such as a run's whole plan."""
    found = _MINIMAL.fullmatch(name)
    return (found[1], found[2]) if found else None


def stem(path: Path) -> str:
    """The name of a plan's file without what all of them end in."""
    return path.name.removesuffix(SUFFIX)


def files(folder: Path) -> list[Path]:
    """The plan files of a corpus, sorted; PlanError when it is no folder or a plan's name has no suite."""
    try:
        found = sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIX))
    except OSError as error:
        raise PlanError(f"{folder} is no corpus ({error.strerror}): name a folder of plan files.") from error
    for path in found:
        parts = minimal(path.name)
        if parts is None or parts[0] not in SUITES:
            raise PlanError(f"{path} is in a corpus and its name says no suite: call it {PATTERN}, or move it away.")
    return found


def read(path: Path) -> Plan:
    """Read a plan of a corpus; PlanError when it is damaged, or for another suite than that of its name."""
    read = plan.read(path)
    if read.cut_off:
        raise PlanError(f"{path} is cut off in its last line: copy the whole file, or remove it.")
    parts = minimal(path.name)
    if parts is None or parts[0] != read.suite.name:
        raise PlanError(f"{path} is for the suite {read.suite.name}: its name must begin with {read.suite.name}.")
    return read


def cases(where: Sequence[Path], suites: Iterable[Suite]) -> dict[str, list[StoredCase]]:
    """The cases of the suites in the folders, by suite, in the order of the folders and names; PlanError as above."""
    found: dict[str, list[StoredCase]] = {suite.name: [] for suite in suites}
    for folder in where:
        for path in files(folder):
            of = found.get(path.name.split(".")[0])
            if of is not None:
                one = read(path)
                of += [StoredCase(path, number, one.seed, rows) for number, rows in one.cases.items()]
    return found
