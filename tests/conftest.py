"""Tests that need Java, real brokers, Spark or a browser are skipped, with the reason, unless they are asked for."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from shared_spark import SharedSpark
    from spark_cluster import Cluster

#: Helpers that several tests share are beside them.
sys.path.insert(0, str(Path(__file__).parent / "helpers"))

import units

#: The environment of tox that this is.
_ENVIRONMENT = os.environ.get("TOX_ENV_NAME", "")

# how long an example takes depends on what else the machine does
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

#: The tests of the models.
_MODELS = Path(__file__).parent / "models"

NEEDS = {
    "clock": "measures the machine's own clock: tox run -e clock",
    "paced": "waits for the timers of programs: tox run -e paced",
    "java": "needs Java and Maven: tox run -e java",
    "broker": "starts real brokers: tox run -e broker",
    "tables": "needs the packages of the extra spark: tox run -e spark",
    "spark": "needs Spark and Java: tox run -e spark",
    "languages": "needs Go and Java: tox run -e languages",
    "browser": "needs Chromium: tox run -e browser",
    "container": "needs a Docker engine: tox run -e container",
    "fresh": "clones, builds and installs the project: tox run -e fresh",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--real", action="append", default=[], choices=list(NEEDS), help="Run tests with real parts.")
    parser.addoption(
        "--units", help="Run the test files that a plan of tests/helpers/units.py has, and keep what passes."
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Twice as many processes as there are processors: many tests wait for others. ``-n logical`` has no more."""
    return 2 * (os.cpu_count() or 1) if config.option.numprocesses == "auto" else None


def pytest_configure(config: pytest.Config) -> None:
    """Ctrl-C ends a process of tests as it ends the only one: what a test began is ended, too. xdist's would ignore it,
    until they are killed."""
    if hasattr(config, "workerinput"):
        signal.signal(signal.SIGINT, signal.default_int_handler)
    elif config.option.units:
        config.pluginmanager.register(_Kept(config))


class _Kept:
    """Keeps the test files of a plan that pass: all of their tests, and none is skipped for something missing."""

    def __init__(self, config: pytest.Config) -> None:
        self._plan, self._not_passed = _planned(config.option.units), set[str]()
        # a part of the tests says nothing about a file
        self._whole = not config.option.keyword and not any("::" in word for word in config.args)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._not_passed.add(report.nodeid.partition("::")[0])

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:  # the files that are played have none for this environment
            session.exitstatus = exitstatus = pytest.ExitCode.OK
        if self._whole and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            units.keep(_ENVIRONMENT, self._plan, self._not_passed)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        left = len(units.units_of(_ENVIRONMENT)) - len(self._plan)
        files = "1 test file unchanged since it" if left == 1 else f"{left} test files unchanged since they"
        terminalreporter.write_line(f"{files} passed: left out (tox run -e {_ENVIRONMENT} for all)")


@cache
def _planned(file: str) -> dict[str, str]:
    """The test files that a plan has for this environment, with their digests."""
    plan: dict[str, str] = json.loads(Path(file).read_text("utf-8"))[_ENVIRONMENT]
    return plan


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = set(config.getoption("--real"))
    for item in items:
        if _MODELS in item.path.parents and not _tries_many(item):
            item.add_marker(pytest.mark.branches)
        for mark, reason in NEEDS.items():
            if mark not in asked and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))
                break
    items.sort(key=_place)


def _place(item: pytest.Item) -> tuple[bool, bool]:
    """What takes longest comes first: Spark, and of that what shares a session before what ends it."""
    return item.get_closest_marker("spark") is None, "without_spark" in getattr(item, "fixturenames", ())


def _tries_many(item: pytest.Item) -> bool:
    """Is it marked so, or a property that Hypothesis tries to refute?"""
    marked = item.get_closest_marker("many_cases") is not None
    return marked or (isinstance(item, pytest.Function) and is_hypothesis_test(item.obj))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m broker and not spark`` files in which nothing is marked ``broker`` are not even imported: that takes
    seconds, in each process of each environment. Nor are those with neither mark with ``-m spark or tables``, or those
    that are not in a plan."""
    if config.option.units and collection_path.suffix == ".py":
        return collection_path.relative_to(config.rootpath).as_posix() not in _planned(config.option.units) or None
    asked = re.match(r"\w+( or \w+)*", config.option.markexpr)
    marks = asked[0].split(" or ") if asked else []
    if not marks or not set(marks) <= set(NEEDS) or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return not any(f"mark.{mark}" in text for mark in marks) or None


class _Missing(pytest.Module):
    """A module of tests that cannot even be imported here: it counts as one skipped test."""

    def collect(self) -> list[pytest.Item]:
        return [_Skipped.from_parent(self, name="the whole module")]


class _Skipped(pytest.Item):
    def runtest(self) -> None:
        pytest.skip(NEEDS["tables"])


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Without the packages of the extra ``spark``, modules that need them are skipped, unless they are asked for."""
    if find_spec("pyarrow") or {"spark", "tables"} & set(parent.config.getoption("--real")):
        return None
    if not re.search(r"pytestmark = \[?pytest\.mark\.(spark|tables)", module_path.read_text(encoding="utf-8")):
        return None
    missing: pytest.Module = _Missing.from_parent(parent, path=module_path)
    return missing


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One master and two workers, for all tests of a run."""
    from spark_cluster import running

    with running(tmp_path_factory.mktemp("spark")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def shared_spark() -> Iterator[SharedSpark]:
    """The session of this process, when it is needed."""
    from shared_spark import SharedSpark

    shared = SharedSpark()
    yield shared
    shared.end()


@pytest.fixture(scope="module")
def spark(shared_spark: SharedSpark) -> SparkSession:
    """A session on two cores, for all campaigns and commands of this process that say ``local[2]``."""
    return shared_spark.session()


@pytest.fixture(scope="module")
def without_spark(shared_spark: SharedSpark) -> None:
    """A process that has no session, so that the tests of a module can begin their own."""
    shared_spark.end()
