"""Finding the suites: those of the kit by their files, those of other packages by entry points."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from places import ROOT

from rocketmq_conformance import suites
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES, DiscoveryError, Suites, rules
from rocketmq_conformance.suites.declare.entry_points import GROUP
from rocketmq_conformance.suites.declare.operation import Side

EXAMPLE = ROOT / "examples" / "own_suite"


def distribution(folder: Path, name: str, **entries: str) -> Path:
    """Make a folder of an import path where a package with these entry points is installed."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{suite.replace('_', '-')} = {value}" for suite, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))
    return folder


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of an import path where the example of ``examples/own_suite`` is installed, as pip would do it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    shutil.copytree(EXAMPLE / "own_suite", tmp_path / "own_suite", ignore=shutil.ignore_patterns("__pycache__"))
    return distribution(tmp_path, project["name"], **project["entry-points"][GROUP])


def test_every_suite_is_named_like_its_file() -> None:
    wrong = [
        item.name
        for item in iter_modules(suites.__path__)
        if not item.ispkg
        and not item.name.startswith("test_")
        and import_module(f"{suites.__name__}.{item.name}").SUITE.name != item.name.replace("_", "-")
    ]
    assert wrong == []


def test_suites_come_by_side_then_ordinary_ones_first_then_by_name() -> None:
    sides = [suite.side for suite in SUITES.values()]
    assert sides == sorted(sides, key=[Side.PURE, Side.CLIENT, Side.WHOLE, Side.GRPC, Side.BROKER].index)
    of_brokers = [suite for suite in SUITES.values() if suite.side is Side.BROKER]
    ordinary = [suite.name for suite in of_brokers if suite.ordinary]
    slow = [suite.name for suite in of_brokers if not suite.ordinary]
    assert [suite.name for suite in of_brokers] == [*sorted(ordinary), *sorted(slow)]
    assert ordinary
    assert slow


def test_a_suite_has_the_same_operations_for_every_profile() -> None:
    oldest = Profile.of("4.0.0", "4.0.0")
    assert [name for name, suite in SUITES.items() if tuple(suite.bind(oldest).handlers) != suite.operations] == []


def test_asking_for_one_suite_imports_no_other() -> None:
    code = (
        "import sys; from rocketmq_conformance.suites.declare.discovery import SUITES; SUITES['local-store'];"
        f"print([name for name in sys.modules if name.startswith('{suites.__name__}.')])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert f"{suites.__name__}.local_store" in output
    assert f"{suites.__name__}.remote_store" not in output


@pytest.mark.parametrize("name", ["no-such-suite", "test-machines", "values", "declare"])
def test_what_is_no_suite_is_not_there(name: str) -> None:
    assert name not in SUITES
    assert name not in list(SUITES)


def test_a_package_of_somebody_else_brings_a_suite(installed: Path) -> None:
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "rocketmq_conformance", "run", "python:own_suite.adapter:make", "-k", "retry-delay"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=installed,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "retry-delay" in done.stdout


def test_a_divergence_of_such_a_suite_names_its_own_rule(installed: Path) -> None:
    adapter = installed / "own_suite" / "adapter.py"
    adapter.write_text(adapter.read_text("utf-8").replace("(10, 30,", "(5, 30,"), "utf-8")
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "rocketmq_conformance",
            "run",
            "python:own_suite.adapter:make",
            "-k",
            "retry-delay",
            "-v",
        ],
        env={**os.environ, "PYTHONPATH": path},
        cwd=installed,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "OWN-RETRY-DELAY" in done.stdout
    assert "A message that comes back for the n-th time" in done.stdout


def test_a_suite_that_was_brought_comes_among_those_of_its_side(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(installed))
    names = list(Suites())
    assert names[:2] == ["allocation", "retry-delay"]
    assert names[2:] == [name for name in SUITES if name != "allocation"]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"allocation": "own:SUITE"}, "Both rocketmq_conformance.suites and twice bring a suite called allocation"),
        ({"no_module": "no_module_of_this_name:SUITE"}, "cannot be imported .ModuleNotFoundError.*repair or uninstall"),
        ({"other": "rocketmq_conformance.suites.pull:SUITE"}, "is the suite pull"),
        ({"other": "rocketmq_conformance.suites.pull:QUEUE"}, "is no suite"),
    ],
)
def test_a_suite_that_cannot_be_had_is_a_sentence(
    entries: dict[str, str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(distribution(tmp_path, "twice", **entries)))
    with pytest.raises(DiscoveryError, match=sentence):
        list(Suites())


def test_a_name_that_two_packages_claim_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        monkeypatch.syspath_prepend(str(distribution(tmp_path / name, name, mine="mine:SUITE")))
    with pytest.raises(DiscoveryError, match=r"Both (first and second|second and first) bring a suite called mine"):
        Suites()["mine"]


def test_without_such_packages_the_rules_are_those_of_the_rule_book() -> None:
    assert rules() == rulebook.RULES
