"""What has passed and has not changed since is left out; what fails, is skipped or changes is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import units
from places import HELPERS, ROOT, TESTS
from reached import reached, suites_of

#: A few of the environments that a plan has.
ENVIRONMENTS = ("java", "languages")


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(units, "KEPT", tmp_path / "passed")
    units._digest.cache_clear()
    yield
    units._digest.cache_clear()


def stale_after(changed: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The units of some environments and of the project that are stale when a file has changed since all passed."""
    environments = (*ENVIRONMENTS, "proof-broker", units.PROJECT)
    for name in environments:
        units.keep(name, units.digests_of(name))
    content = units._content
    monkeypatch.setattr(units, "_content", lambda path: "other" if path == ROOT / changed else content(path))
    units._digest.cache_clear()
    return {
        unit
        for name in environments
        for unit, digest in units.digests_of(name).items()
        if units.kept(name)[unit] != digest
    }


def test_a_model_makes_the_units_stale_that_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = "models/client/timers.py"
    files = {ROOT / unit for name in ENVIRONMENTS for unit in units.units_of(name)}
    reaching = {file.relative_to(ROOT).as_posix() for file in files if ROOT / model in reached(file, suites_of(file))}
    stale = stale_after(model, monkeypatch)
    assert stale == {*reaching, "proof-broker", units.CODE}
    java = "tests/conformance/targets/java_client"
    assert f"{java}/test_timers.py" in stale
    assert f"{java}/test_pull.py" not in stale
    assert len(reaching) < len(files)


def test_a_page_makes_only_what_reads_it_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    stale = stale_after("docs/reference/words.md", monkeypatch)
    assert units.PAGES in stale
    assert stale.isdisjoint({units.CODE, "proof-broker"})
    assert stale - {units.PAGES} <= {*units.pages()}
    assert {unit for unit in units.pages() if unit.startswith("tests/docs/")} >= {
        "tests/docs/test_references.py",
        "tests/docs/test_documented_commands.py",
    }


def test_a_sample_of_what_is_unchanged_is_planned_another_each_day() -> None:
    assert units.planned("java", "2026-01-01") == units.digests_of("java")
    units.keep("java", units.digests_of("java"))
    days = [{*units.planned("java", f"2026-01-{day:02}")} for day in range(1, 29)]
    assert 0 < sum(map(len, days)) < 28 * len(units.units_of("java")) / 10
    assert len({*map(frozenset, days)}) > 14


def test_only_pages_have_changed_when_the_rest_is_as_it_passed() -> None:
    assert units._changed_pages() == []
    now = units.digests_of(units.PROJECT)
    units.keep(units.PROJECT, now)
    assert units._changed_pages() == []
    units.keep(units.PROJECT, {**now, units.PAGES: "before"})
    assert units._changed_pages() == units.pages()
    units.keep(units.PROJECT, {units.PAGES: "before", units.CODE: "before"})
    assert units._changed_pages() == []


TEST = "import pytest\npytestmark = pytest.mark.{}\n\ndef test_it():\n    {}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with this one's conftest, and four files of tests, of which a plan has three."""
    tests = tmp_path / "project" / "tests"
    shutil.copytree(HELPERS, tests / "helpers", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TESTS / "conftest.py", tests)
    for name, body in {
        "passes": "pass",
        "fails": "raise OSError",
        "skips": "pytest.skip()",
        "left": "raise OSError",
    }.items():
        (tests / f"test_{name}.py").write_text(TEST.format("java", body))
    (tests.parent / "tox.ini").write_text('[testenv:java]\ncommands = pytest -q -m "java and not spark"\n')
    (tests.parent / "pyproject.toml").write_text('[tool.pytest.ini_options]\nmarkers = ["java"]\n')
    plan = {"java": {f"tests/test_{name}.py": f"of {name}" for name in ("passes", "fails", "skips")}}
    (tests.parent / "plan").write_text(json.dumps(plan))
    return tests.parent


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--units=plan", "--real=java", "-m", "java and not spark", *words],
        cwd=project,
        env={**os.environ, "TOX_ENV_NAME": "java", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_plays_its_plan_and_keeps_the_files_that_passed(project: Path) -> None:
    done = run(project)
    assert "1 failed, 1 passed, 1 skipped" in done.stdout
    assert "1 test file unchanged since it passed: left out" in done.stdout
    assert (project / "tests" / "passed" / "java.txt").read_text() == "of passes tests/test_passes.py\n"


def test_a_part_of_a_run_keeps_nothing(project: Path) -> None:
    assert run(project, "-k", "test_it", "tests/test_passes.py").returncode == 0
    assert run(project, "tests/test_passes.py::test_it").returncode == 0
    assert not (project / "tests" / "passed").exists()


def test_a_plan_of_files_without_a_test_for_the_environment_is_no_failure(project: Path) -> None:
    (project / "tests" / "test_passes.py").write_text(TEST.format("spark", "pass  # mark." + "java"))
    (project / "plan").write_text(json.dumps({"java": {"tests/test_passes.py": "of passes"}}))
    assert run(project).returncode == 0
    assert (project / "tests" / "passed" / "java.txt").read_text() == "of passes tests/test_passes.py\n"
