"""Plan files: header and cases, as JSON Lines, read and written.

The first line says what the plan is for; every other line is one case::

    {"plan": 1, "suite": "remote-store", "seed": 7, "profile": {…}, "rulebook": "…", "kit": "…"}
    {"case": 0, "steps": [{"read": {"queue": 0, "kind": "memory", "fault": "answer"}}, …]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rocketmq_conformance import __version__
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.domain import Schema
from rocketmq_conformance.suites.declare.schema import fits
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Version of the plan format; newer ones are refused.
FORMAT = 1


class PlanError(ValueError):
    """A plan that cannot be read; the text is one sentence with what to do."""


@dataclass(frozen=True)
class Plan:
    """Cases of one suite, by number."""

    suite: Suite
    profile: Profile
    seed: int
    cases: dict[int, list[Row]]
    #: Digest of the rule book that the plan was written under.
    rulebook: str


def profile_json(profile: Profile) -> dict[str, str]:
    """A profile as plans and events write it."""
    return {"client": str(profile.client), "broker": str(profile.broker), "java": str(profile.java)}


def profile_of(json: Mapping[str, str]) -> Profile:
    """The profile that :func:`profile_json` wrote; KeyError, TypeError or ValueError when it is none."""
    return Profile.of(json["client"], json["broker"], int(json["java"]))


def write(path: Path, suite: Suite, profile: Profile, seed: int, cases: Iterable[tuple[int, list[Row]]]) -> None:
    """Write a plan, in a folder that is made if need be; OSError when the place cannot be written."""
    header = {
        "plan": FORMAT,
        "suite": suite.name,
        "seed": seed,
        "profile": profile_json(profile),
        "rulebook": rulebook.digest(),
        "kit": __version__,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        out.write(json.dumps(header) + "\n")
        for number, rows in cases:
            out.write(json.dumps({"case": number, "steps": steps_json(suite, rows)}) + "\n")


def steps_json(suite: Suite, rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The steps of a case as plans write them: operations by name, arguments by field."""
    specs = [op.spec for op in suite.operations]
    names = [[name for name, _ in spec.domains] for spec in specs]
    return [{specs[at].name: dict(zip(names[at], args, strict=True))} for at, args in rows]


def read(path: Path) -> Plan:
    """Read a plan; PlanError with a sentence for anything that is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise PlanError(f"{path} is no plan: it is not UTF-8 text.") from error
    except OSError as error:
        raise PlanError(f"{path} cannot be read ({error.strerror}): name a plan file.") from error
    header = _object(path, 1, lines[0] if lines else "")
    version = header.get("plan")
    if not isinstance(version, int):
        raise PlanError(f"{path} is no plan: its first line has no plan version.")
    if version > FORMAT:
        raise PlanError(f"{path} is a plan of format {version}; this kit reads up to {FORMAT}: use a newer kit.")
    suite = SUITES.get(str(header.get("suite")))
    if suite is None:
        raise PlanError(f"{path} is for the suite {header.get('suite')!r}, which this kit does not have.")
    try:
        judged = profile_of(header["profile"])
        seed = int(header["seed"])
    except (KeyError, TypeError, ValueError) as error:
        raise PlanError(f"{path}, line 1: the header's seed or profile is missing or malformed ({error}).") from error
    cases = dict(_cases(path, suite, lines[1:]))
    if not cases:
        raise PlanError(f"{path} has no cases: nothing could be judged.")
    return Plan(suite, judged, seed, cases, str(header.get("rulebook", "")))


def _cases(path: Path, suite: Suite, lines: list[str]) -> Iterator[tuple[int, list[Row]]]:
    for number, line in enumerate(lines, start=2):
        case = _object(path, number, line)
        steps = case.get("steps")
        of = case.get("case")
        if type(of) is not int or of < 0 or not isinstance(steps, list):
            raise PlanError(f"{path}, line {number}: a case needs a number, from 0 up, and a list of steps.")
        yield of, [_row(path, number, suite, step) for step in steps]


def _row(path: Path, number: int, suite: Suite, step: Any) -> Row:
    if not isinstance(step, dict) or len(step) != 1:
        raise PlanError(f"{path}, line {number}: a step is one operation with its arguments, not {step!r}.")
    ((name, args),) = step.items()
    at = suite.index.get(name)
    if at is None:
        raise PlanError(f"{path}, line {number}: {suite.name} has no operation {name!r}.")
    wanted = [field for field, _ in suite.operations[at].spec.domains]
    if not isinstance(args, dict) or set(args) != set(wanted):
        raise PlanError(f"{path}, line {number}: {name} takes exactly {', '.join(wanted) or 'no arguments'}.")
    for field, schema in _schemas(suite)[at]:
        if not fits(schema, args[field]):
            raise PlanError(
                f"{path}, line {number}: {name} cannot have {field} = {json.dumps(args[field])} "
                "(docs/operations.md lists what it can have)."
            )
    return at, tuple(_frozen(args[field]) for field in wanted)


@lru_cache(maxsize=64)
def _schemas(suite: Suite) -> list[list[tuple[str, Schema]]]:
    """The schema of every argument of every operation."""
    return [[(name, domain.schema()) for name, domain in op.spec.domains] for op in suite.operations]


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise PlanError(f"{path}, line {number} is not JSON: the plan is damaged or cut off.") from error
    if not isinstance(found, dict):
        raise PlanError(f"{path}, line {number} is not a JSON object.")
    return found


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
