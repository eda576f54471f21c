"""Promotion: copying the minimal plans of a campaign or run into a corpus.

Files are copied unchanged, under their names. No plan of the corpus is replaced: a plan with the same steps as one that
is there is left out, and another plan of the same name gets a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.plan import Plan, PlanError
from rocketmq_conformance.conformance.engine.selection import select

#: Where a campaign keeps minimal plans; a run keeps them in its folder itself.
PLANS = "plans"
#: Files by which the folder of a campaign or run is recognized.
_SIGNS = ("campaign.json", "events.jsonl")


class Promoted(NamedTuple):
    """The result for one plan."""

    source: Path
    #: The plan in the corpus: the new one, or the one that has its steps already.
    target: Path
    #: Was it copied?
    new: bool
    #: Steps of its cases.
    steps: int


def minimal_plans(folder: Path) -> list[Path]:
    """The minimal plans of a campaign or run, sorted; PlanError with a sentence when the folder is of neither."""
    if not folder.is_dir():
        raise PlanError(f"{folder} is no folder: name that of a campaign, or the --out of a run.")
    plans = folder / PLANS
    place = plans if plans.is_dir() else folder
    try:
        found = sorted(path for path in place.iterdir() if corpus.minimal(path.name))
    except OSError as error:
        raise PlanError(f"{place} cannot be read ({error.strerror}).") from error
    if not found and not any((folder / sign).exists() for sign in _SIGNS):
        raise PlanError(
            f"{folder} has no minimal plans ({corpus.PATTERN}), and is neither a campaign nor the --out of a run."
        )
    return found


def matching(plans: Sequence[Path], patterns: Iterable[str]) -> list[Path]:
    """The plans whose name any pattern matches, all without patterns; PlanError for a pattern that matches none."""
    by_name = {corpus.stem(path): path for path in plans}
    found: set[Path] = set()
    for pattern in patterns:
        matched = select(pattern.removesuffix(corpus.SUFFIX), by_name)
        if not matched:
            known = ", ".join(by_name) or "none"
            raise PlanError(f"No minimal plan matches {pattern!r}; there are {known}.")
        found.update(by_name[name] for name in matched)
    return [path for path in plans if path in found] if patterns else list(plans)


def read(plans: Iterable[Path]) -> list[tuple[Path, Plan]]:
    """Read minimal plans; PlanError when one of them is damaged, or for another suite than its name says."""
    return [(path, corpus.read(path)) for path in plans]


def promote(plans: Iterable[tuple[Path, Plan]], to: Path) -> list[Promoted]:
    """Copy minimal plans into the folder of a corpus, which is there.

    PlanError when a plan of the corpus is damaged: nothing is copied then. OSError when the folder cannot be written;
    what was copied before stays.
    """
    known: dict[str, Path] = {}
    for path in corpus.files(to):
        for key in _keys(corpus.read(path)):
            known.setdefault(key, path)
    done = []
    for path, one in plans:
        keys = _keys(one)
        steps = sum(map(len, one.cases.values()))
        new = any(key not in known for key in keys)
        target = _free(to, path.name) if new else known[keys[0]]
        if new:
            _copy(path, target)
            known |= dict.fromkeys(keys, target)
        done.append(Promoted(path, target, new, steps))
    return done


def _keys(plan: Plan) -> list[str]:
    """A key per case, the same for cases with the same steps."""
    return [f"{plan.suite.name} {rows!r}" for rows in plan.cases.values()]


def _free(folder: Path, name: str) -> Path:
    """A name in the folder that no plan has."""
    path, number = folder / name, 2
    while path.exists():
        path = folder / f"{corpus.stem(Path(name))}-{number}{corpus.SUFFIX}"
        number += 1
    return path


def _copy(source: Path, target: Path) -> None:
    """Copy whole or not at all."""
    hidden = target.with_name(f".{target.name}.part")
    try:
        hidden.write_bytes(source.read_bytes())
        hidden.replace(target)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
