"""What has passed and has not changed since is not proven again.

A unit is a test file in an environment of tox, or an environment that is one command of the kit. ``tests/passed`` has a
file for each environment: the units that passed, each with a digest of all files that it reaches, of how tox runs the
environment, and of Python's version. What a unit depends on and no digest knows: packages and programs that are
installed, the machine, and chance. So some of what is unchanged is played all the same, by the day.

    python tests/helpers/units.py plan FILE ENVIRONMENT…      writes what is to be played, and says which play it
    python tests/helpers/units.py passed FILE ENVIRONMENT…    keeps the units of their plans: all have passed
    python tests/helpers/units.py pages                       the tests of pages, if nothing but pages has changed
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from configparser import ConfigParser
from datetime import date
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from places import HELPERS, ROOT, TESTS
from reached import ROOMS, reached, suites_of

KEPT = TESTS / "passed"
#: One in so many of the units that are unchanged is played all the same.
SAMPLE = 20
#: The units of environments that run a command of the kit, and where what they run begins.
COMMANDS = {
    "proof-broker": "conformance/cli/proofs.py",
    "proof-java": "conformance/cli/proofs.py",
}
#: Files that are no part of the project, but made by Python.
_MADE = re.compile(r"__pycache__|\.egg-info")
#: The helpers of environments that fixtures import, which tests ask for by the names of the fixtures.
FIXTURES = {"spark": ("shared_spark.py", "spark_cluster.py")}
#: An environment whose units are all pages, and all other files.
PROJECT = "project"
CODE, PAGES = "code", "pages"


def units_of(environment: str) -> list[str]:
    """The units of an environment: its command, or the test files in which something is marked for it."""
    if environment == PROJECT:
        return [CODE, PAGES]
    if environment in COMMANDS:
        return [environment]
    marked = re.search(r'pytest .*-m "?(\w+(?: or \w+)*)', _section(environment)["commands"])
    marks = [f"mark.{mark}" for mark in (marked[1].split(" or ") if marked else ())]
    return [
        path.relative_to(ROOT).as_posix()
        for path in sorted(TESTS.rglob("test_*.py"))
        if any(mark in path.read_text("utf-8") for mark in marks)
    ]


def digests_of(environment: str) -> dict[str, str]:
    """The digest of every unit of an environment."""
    return {unit: _digest(environment, unit) for unit in units_of(environment)}


def kept(environment: str) -> dict[str, str]:
    """The units of an environment that have passed, with their digests."""
    file = KEPT / f"{environment}.txt"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return {unit: digest for digest, _, unit in (line.partition(" ") for line in lines)}


def planned(environment: str, day: str) -> dict[str, str]:
    """The units of an environment that are to be played, each with its digest: those that have changed since they
    passed, and a sample of the others that differs by the day."""
    before = kept(environment)
    return {
        unit: digest
        for unit, digest in digests_of(environment).items()
        if before.get(unit) != digest or int(_hash(f"{day} {environment} {unit}".encode()), 16) % SAMPLE == 0
    }


def keep(environment: str, plan: Mapping[str, str], failed: Collection[str] = ()) -> None:
    """Keep the units of a plan that passed; those that failed, or were left out for something missing, are dropped."""
    now = {unit: digest for unit, digest in kept(environment).items() if unit in units_of(environment)}
    now |= plan
    KEPT.mkdir(exist_ok=True)
    lines = [f"{digest} {unit}\n" for unit, digest in sorted(now.items()) if unit not in failed]
    (KEPT / f"{environment}.txt").write_text("".join(lines), "utf-8")


def pages() -> list[str]:
    """The test files that read pages."""
    files = sorted(TESTS.rglob("test_*.py"))
    return [path.relative_to(ROOT).as_posix() for path in files if any(map(_is_page, reached(path, suites_of(path))))]


def _is_page(path: Path) -> bool:
    return path.suffix == ".md" or path.parent == ROOT / "docs" / "img"


@cache
def _digest(environment: str, unit: str) -> str:
    how = [f"{sys.platform} {sys.version_info[:2]}"]
    if environment == PROJECT:
        files = frozenset(path for path in _every_file() if _is_page(path) == (unit == PAGES))
    else:
        how += [repr(sorted(_section(name).items())) for name in (environment, "", "side_by_side")]
        root = ROOT / COMMANDS.get(unit, unit)
        files = reached(root, suites_of(root)) | {ROOT / "pyproject.toml"}
        if unit not in COMMANDS:
            files |= {TESTS / "conftest.py"}.union(*(reached(HELPERS / name) for name in FIXTURES.get(environment, ())))
    lines = sorted(_content(path) for path in files if path.parent != KEPT)
    return _hash("\n".join([*how, *lines]).encode())


def _every_file() -> Iterator[Path]:
    for folder in (*ROOMS, "src", "tests", "docs", "examples", "benchmarks", ".ci", ".github", "changelog.d"):
        yield from (path for path in (ROOT / folder).rglob("*") if path.is_file() and not _MADE.search(str(path)))
    yield from (path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith("."))


@cache
def _content(path: Path) -> str:
    """A file of the project, and the digest of what is in it."""
    return f"{path.relative_to(ROOT).as_posix()} {_hash(path.read_bytes())}"


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


@cache
def _tox() -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", "utf-8")
    return parser


def _section(environment: str) -> Mapping[str, str]:
    name = environment if environment == "side_by_side" else f"testenv:{environment}".removesuffix(":")
    return _tox()[name]


def _plan(file: Path, environments: Collection[str]) -> None:
    day = date.today().isoformat()
    plans = {name: planned(name, day) for name in environments}
    for name, plan in plans.items():
        before = kept(name)
        stale = [unit for unit, digest in plan.items() if before.get(unit) != digest]
        others = len(units_of(name)) - len(stale)
        print(f"{name}: {len(stale)} changed, {len(plan) - len(stale)} of {others} others", file=sys.stderr)
    file.write_text(json.dumps({**plans, PROJECT: digests_of(PROJECT)}), "utf-8")
    print(*(name for name, plan in plans.items() if plan))


def _passed(file: Path, environments: Collection[str]) -> None:
    plans: dict[str, Any] = json.loads(file.read_text("utf-8"))
    for name in environments:
        keep(name, plans[name])


def _changed_pages() -> list[str]:
    before, now = kept(PROJECT), digests_of(PROJECT)
    return pages() if before != now and before.get(CODE) == now[CODE] else []


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["plan", file, *names]:
            _plan(Path(file), names)
        case ["passed", file, *names]:
            _passed(Path(file), names)
        case ["pages"]:
            print(*_changed_pages())
        case _:
            sys.exit(__doc__)
