"""Plan files: header and cases, as JSON Lines, read and written.

The first line says what the plan is for; every other line is one case::

    {"plan": 1, "suite": "remote-store", "seed": 7, "profile": {…}, "rulebook": "…", "kit": "…"}
    {"case": 0, "steps": [{"read": {"queue": 0, "kind": "memory", "fault": "answer"}}, …]}

Each line ends with a digest of itself, ``"digest": "…"``, so that damage is noticed; one that is written by hand, or by
an older kit, needs none.

A run writes a case before it plays its first step. So a last line that is cut off is a case that a killed run was about
to play: readers leave it out, and say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.engine.documents import json_of, what_is_wrong
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.given_file import text_of
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.domain import Schema
from rocketmq_conformance.suites.declare.schema import fits
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Version of the plan format; newer ones are refused.
FORMAT = 1
#: The header's digest of what the cases were found from, where they were searched.
FOUND_FROM = "found_from"
#: The field with the digest of a line, and what stands before that.
DIGEST = "digest"
_SEAL = f', "{DIGEST}": "'


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
    #: Is the file's last line cut off, so that its case is left out?
    cut_off: bool = False

    def named(self, name: str) -> list[tuple[str, list[Row]]]:
        """The cases by the name of the plan, with their numbers where there are several."""
        several = len(self.cases) > 1
        return [(f"{name}, case {number}" if several else name, rows) for number, rows in self.cases.items()]


def profile_json(profile: Profile) -> dict[str, str]:
    """A profile as plans and events write it."""
    releases = {"client": str(profile.client), "broker": str(profile.broker), "java": str(profile.java)}
    if profile.upgraded_from:
        releases["upgraded_from"] = str(profile.upgraded_from)
    configuration = " ".join(f"{name}={value}" for name, value in profile.configuration)
    return {**releases, "configuration": configuration} if configuration else releases


def profile_of(json: Mapping[str, str]) -> Profile:
    """The profile that :func:`profile_json` wrote; KeyError, TypeError or ValueError when it is none."""
    profile = Profile.of(json["client"], json["broker"], int(json["java"]))
    older = json.get("upgraded_from")
    profile = replace(profile, upgraded_from=Release.parse(older) if older else None)
    properties = (pair.partition("=") for pair in str(json.get("configuration", "")).split())
    return profile.configured({name: value for name, _, value in properties})


class PlanWriter:
    """A plan that is written case by case, in a folder that is made if need be; OSError when it cannot be written."""

    def __init__(self, path: Path, suite: Suite, profile: Profile, seed: int, found_from: str = "") -> None:
        self._suite = suite
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", encoding="utf-8")
        self._line(_header(suite, profile, seed, found_from))

    def add(self, number: int, rows: Iterable[Row]) -> None:
        """Write a case: it is in the file, whole, when this returns."""
        self._line(_case(self._suite, number, rows))

    def close(self) -> None:
        """End the plan."""
        self._file.close()

    def _line(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()


def plan_text(suite: Suite, profile: Profile, rows: Iterable[Row]) -> str:
    """A plan of one case as it stands in a file."""
    return _header(suite, profile, 0) + _case(suite, 0, rows)


def _header(suite: Suite, profile: Profile, seed: int, found_from: str = "") -> str:
    header = {
        "plan": FORMAT,
        "suite": suite.name,
        "seed": seed,
        "profile": profile_json(profile),
        "rulebook": rulebook.digest(),
        "kit": __version__,
        **({FOUND_FROM: found_from} if found_from else {}),
    }
    return _sealed(json.dumps(header))


def _case(suite: Suite, number: int, rows: Iterable[Row]) -> str:
    return _sealed(f'{{"case": {number}, "steps": {steps_text(suite, rows)}}}')


def _sealed(text: str) -> str:
    """A line with its digest."""
    text = text.removesuffix("}")
    return f'{text}{_SEAL}{_digest(text)}"}}\n'


def write(
    path: Path, suite: Suite, profile: Profile, seed: int, cases: Iterable[tuple[int, list[Row]]], found_from: str = ""
) -> None:
    """Write a plan at once; OSError as of a PlanWriter."""
    with closing(PlanWriter(path, suite, profile, seed, found_from)) as plan:
        for number, rows in cases:
            plan.add(number, rows)


def steps_text(suite: Suite, rows: Iterable[Row]) -> str:
    """The steps of a case as JSON: operations by name, arguments by field.

    It is what json.dumps would write, in about half the time: every case of a run is written.
    """
    templates = _templates(suite)
    return f"[{', '.join([templates[at] % tuple([_text(value) for value in args]) for at, args in rows])}]"


@lru_cache(maxsize=64)
def _templates(suite: Suite) -> list[str]:
    """A step of every operation as JSON, with %s for the value of each field."""
    found = []
    for op in suite.operations:
        fields = ", ".join(f"{json.dumps(name)}: %s" for name, _ in op.spec.domains)
        found.append(f"{{{json.dumps(op.spec.name)}: {{{fields}}}}}")
    return found


def _text(value: Any) -> str:
    """A value as JSON."""
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is int:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is tuple:
        return f"[{', '.join(map(_text, value))}]"
    return json.dumps(value)


#: Texts as JSON; a suite has few of them.
_quoted = lru_cache(maxsize=4096)(json.dumps)


def read(path: Path) -> Plan:
    """Read a plan; PlanError with a sentence for anything that is none."""
    try:
        text = text_of(path)
    except UnicodeDecodeError as error:
        raise PlanError(f"{path} is no plan: it is not UTF-8 text.") from error
    except OSError as error:
        raise PlanError(f"{path} cannot be read ({error.strerror}): name a plan file.") from error
    lines = text.splitlines()
    if not text.strip():
        raise PlanError(f"{path} is empty: name a file that a run wrote.")
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
        seed = header["seed"]
        if type(seed) is not int:
            raise TypeError(f"the seed is {seed!r:.60}")
    except (KeyError, TypeError, ValueError) as error:
        raise PlanError(f"{path}, line 1: the header's seed or profile is wrong ({what_is_wrong(error)}).") from error
    cut_off = len(lines) > 1 and not text.endswith("\n") and not _is_json(lines[-1])
    cases = dict(_cases(path, suite, lines[1:-1] if cut_off else lines[1:]))
    if not cases:
        raise PlanError(f"{path} has no {'whole case' if cut_off else 'cases'}: nothing could be judged.")
    return Plan(suite, judged, seed, cases, str(header.get("rulebook", "")), cut_off)


def _cases(path: Path, suite: Suite, lines: list[str]) -> Iterator[tuple[int, list[Row]]]:
    for number, line in enumerate(lines, start=2):
        case = _object(path, number, line)
        steps = case.get("steps")
        case_number = case.get("case")
        if type(case_number) is not int or case_number < 0 or not isinstance(steps, list):
            raise PlanError(f"{path}, line {number}: a case needs a number, from 0 up, and a list of steps.")
        yield case_number, [_row(path, number, suite, step) for step in steps]


def rows_of(suite: Suite, steps: Iterable[Any]) -> tuple[Row, ...]:
    """The steps of a case as they stand in a plan, from elsewhere than a file; PlanError as of ``read``."""
    return tuple(_row(Path("plan"), number, suite, step) for number, step in enumerate(steps, start=1))


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
                f"(`list operations -k {suite.name} --format page` shows what it can have)."
            )
    return at, tuple(frozen(args[field]) for field in wanted)


@lru_cache(maxsize=64)
def _schemas(suite: Suite) -> list[list[tuple[str, Schema]]]:
    """The schema of every argument of every operation."""
    return [[(name, domain.schema()) for name, domain in op.spec.domains] for op in suite.operations]


def _is_json(line: str) -> bool:
    try:
        json_of(line)
    except ValueError:
        return False
    return True


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        found = json_of(line)
    except ValueError as error:
        raise PlanError(f"{path}, line {number} is not JSON: the plan is damaged or cut off.") from error
    if not isinstance(found, dict):
        raise PlanError(f"{path}, line {number} is not a JSON object.")
    before, seal, digest = line.rstrip().rpartition(_SEAL)
    if seal and digest != f'{_digest(before)}"}}':
        raise PlanError(
            f"{path}, line {number} is damaged: it is not what was written. Where it was changed by hand, take its "
            '"digest" out.'
        )
    return found


def _digest(text: str) -> str:
    """The digest of a line's text before its own."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


def frozen(value: Any) -> Any:
    """An argument as operations have it, from JSON: tuples for lists."""
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value
