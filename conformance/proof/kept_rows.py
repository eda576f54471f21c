"""The rows of proofs as they are kept: a folder for each kind, and in it a file for each release or pair.

A file is JSON Lines. A line with a commit and a date says when the rows below it were confirmed, one line for each
rule; a proof that was restricted to a suite or a rule moves its rows below a line of its own::

    {"commit": "1a366dcc", "date": "2026-11-22"}
    {"rule": "OFF-R-READ", "side": "client", "cases": 812, "differences": 0}
    {"commit": "0fb2a56c", "date": "2026-11-23", "partial": true}
    {"rule": "PULL-1", "side": "client", "cases": 3120, "differences": 0}
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocketmq_conformance.conformance.engine.documents import json_of
from rocketmq_conformance.conformance.proof.unit import KINDS, Unit
from rocketmq_conformance.reports.proof import ProofRow, merge

SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True, order=True)
class Confirmation:
    """When rows were confirmed. ``date`` is as in "2026-11-22"; ``partial``: by a proof of some rules only."""

    date: str
    commit: str
    partial: bool = False

    def __str__(self) -> str:
        return f"{self.date} on {self.commit}"


#: The rows of one unit, by their confirmation.
Kept = Mapping[Confirmation, Sequence[ProofRow]]


def merged(
    kept: Kept,
    now: Confirmation,
    found: Sequence[ProofRow],
    replaced: Collection[str] | None,
    spared: Collection[str] = (),
) -> Kept:
    """What is kept once the unit was proven again: ``found`` in place of all rows, or only of the ``replaced`` rules.

    A replaced rule without a new row loses its old one, as nothing confirms it any more; unless it is ``spared``,
    because this machine could not ask about it.
    """
    spared = set(spared) - {row.rule for row in found}
    if replaced is None:
        old = {replace(when, partial=True): [row for row in rows if row.rule in spared] for when, rows in kept.items()}
        return {when: tuple(rows) for when, rows in old.items() if rows} | {now: tuple(found)}
    replaced = set(replaced) - spared
    rows = {when: left for when, old in kept.items() if (left := tuple(row for row in old if row.rule not in replaced))}
    mine = tuple(row for row in found if row.rule in replaced)
    if mine:
        same = next((when for when in rows if (when.commit, when.date) == (now.commit, now.date)), None)
        when = same or replace(now, partial=True)
        rows[when] = (*rows.get(when, ()), *mine)
    return rows


def is_confirmed(kept: Kept, commit: str, replaced: Collection[str] | None) -> bool:
    """Were all rows, or those of the ``replaced`` rules, confirmed on this commit, and do they agree?"""
    if replaced is None:
        # what a whole proof left beside its own rows, this machine could not ask about
        whole = any(when.commit == commit and not when.partial for when in kept)
        return whole and not any(row.differences for rows in kept.values() for row in rows)
    asked = [(when, row) for when, rows in kept.items() for row in rows if row.rule in replaced]
    return bool(asked) and all(when.commit == commit and not row.differences for when, row in asked)


def written(kept: Kept) -> str:
    """The text of a file, in a stable order, so that a diff shows what changed."""
    lines: list[dict[str, object]] = []
    for when in sorted(kept):
        lines.append({"commit": when.commit, "date": when.date} | ({"partial": True} if when.partial else {}))
        for row in merge(kept[when]):
            line = {"rule": row.rule, "side": row.side, "cases": row.cases, "differences": row.differences}
            lines.append(line | ({"example": row.example} if row.example else {}))
    return "".join(json.dumps(line) + "\n" for line in lines)


def parsed(text: str, unit: Unit, name: str) -> Kept:
    """The rows of a unit's file; ValueError with one sentence that gives the file's ``name`` otherwise."""
    kept: dict[Confirmation, list[ProofRow]] = {}
    rows: list[ProofRow] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found = json_of(line)
            if "commit" in found:
                when = Confirmation(_text(found["date"]), _text(found["commit"]), found.get("partial") is True)
                rows = kept.setdefault(when, [])
            elif rows is None:
                raise TypeError
            else:
                rows.append(_row(found, unit))
        except (ValueError, TypeError, KeyError):
            raise ValueError(
                f'Line {number} of {name} is no proof row: it needs "rule", "side", "cases" and "differences", or '
                f'"commit" and "date" in the first line. Make the file again with `rocketmq-conformance prove`.'
            ) from None
    return {when: tuple(rows) for when, rows in kept.items()}


def _row(found: Mapping[str, object], unit: Unit) -> ProofRow:
    return ProofRow(
        rule=_text(found["rule"]),
        side=_text(found["side"]),
        release=unit.release,
        cases=_number(found["cases"]),
        differences=_number(found["differences"]),
        example=_text(found.get("example", "")),
        against=unit.against,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError
    return value


class KeptRows:
    """A folder of rows. ValueError with one sentence when it has something else in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        strange = [path.name for path in _inside(folder) if path.name not in KINDS or not path.is_dir()]
        if strange:
            raise ValueError(
                f"{folder} is no folder of proof rows, which has the folders {', '.join(KINDS)} and nothing else: it "
                f"has {strange[0]}. Name another folder."
            )

    def units(self) -> Iterator[Unit]:
        """The units that have rows, by kind and name."""
        for kind in KINDS:
            for path in _inside(self.folder / kind):
                if path.suffix == SUFFIX:
                    yield Unit.named(kind, path.name.removesuffix(SUFFIX))

    def read(self, unit: Unit) -> Kept:
        """The rows of a unit; none when it was never proven."""
        path = self._path(unit)
        try:
            return parsed(path.read_text("utf-8"), unit, str(path))
        except FileNotFoundError:
            return {}
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not text in UTF-8: make it again with `rocketmq-conformance prove`.") from None

    def write(self, unit: Unit, kept: Kept) -> None:
        """Write the rows of a unit, as a whole or not at all."""
        path = self._path(unit)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.write_text(written(kept), "utf-8")
        fresh.replace(path)

    def rows(self) -> list[ProofRow]:
        """All rows of all units; each says when it was confirmed."""
        return [
            replace(row, confirmed=str(when))
            for unit in self.units()
            for when, rows in self.read(unit).items()
            for row in rows
        ]

    def _path(self, unit: Unit) -> Path:
        return self.folder / unit.kind / f"{unit.name}{SUFFIX}"


def _inside(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []
