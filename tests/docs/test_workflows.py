"""The workflows of the project: what they run is run, by this checkout, and what they use is there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from places import ROOT

from rocketmq_conformance.conformance.adapter import CannotRunError

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
#: Actions of others, by the release that is used.
ACTIONS = {
    "actions/checkout@v4",
    "actions/download-artifact@v4",
    "actions/setup-java@v4",
    "actions/setup-python@v5",
    "actions/upload-artifact@v4",
    "pypa/gh-action-pypi-publish@release/v1",
}


def steps(workflow: Path) -> Iterator[dict[str, Any]]:
    for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values():
        yield from job["steps"]


@pytest.fixture(scope="module")
def watch() -> ModuleType:
    """The script of the release watch."""
    spec = spec_from_file_location("release_watch", ROOT / ".github" / "release_watch.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_checks_brokers_releases_and_a_watch_of_those_of_rocketmq() -> None:
    assert [path.stem for path in WORKFLOWS] == ["brokers", "checks", "release-watch", "release"]


def test_workflows_use_what_is_there_and_are_given_nothing_else() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    used = [step for path in WORKFLOWS for step in steps(path) if "uses" in step]
    own = [step for step in used if step["uses"] == "./"]
    assert {step["uses"] for step in used} == {"./", *ACTIONS}
    assert all(step["with"].keys() <= inputs.keys() for step in own)


def test_the_environments_of_tox_that_are_run_are_the_two_lines_of_the_readme() -> None:
    lines = [step["run"] for path in WORKFLOWS for step in steps(path) if "tox run" in step.get("run", "")]
    assert lines == ["tox run -e conformance", "tox run"]
    assert all(line in (ROOT / "README.md").read_text("utf-8") for line in lines)


def test_the_watch_is_run_as_its_workflow_runs_it() -> None:
    (line,) = [one["run"] for path in WORKFLOWS for one in steps(path) if "release_watch" in one.get("run", "")]
    command = [sys.executable, *line.split()[1:], "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "drafts an issue" in done.stdout


def run(watch: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, named: Callable[..., Any]) -> int:
    monkeypatch.setattr(watch, "versions_of", named)
    monkeypatch.setattr(sys, "argv", ["release_watch.py", "--out", str(folder)])
    code = watch.main()
    assert isinstance(code, int)
    return code


def test_nothing_is_new_of_what_is_known(
    watch: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {"rocketmq-client": ("5.5.0",), "rocketmq-broker": ("5.5.1", "5.3.4", "5.6.0-SNAPSHOT")}
    assert run(watch, monkeypatch, tmp_path, lambda *of: known) == 0
    assert capsys.readouterr().out == "Nothing is new.\n"


def test_a_new_release_gets_a_draft_with_its_plans(
    watch: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # a mutant stands for the client of the new release, and a sentence for what Maven gets
    monkeypatch.setattr(watch, "ADDRESSES", {"rocketmq-client": "java-client", "rocketmq-broker": "broker"})
    asked = watch.kit

    def kit(*words: str) -> tuple[int, str]:
        if words[0] == "provenance":
            return 1, "changed: A#b, read for REB-CLU-1\n```\n\x1b[31m"
        return asked("run", "mutant:zero-is-none", *words[2:], "-k", "remote-store", "--tier", "corpus", "--seed", "1")

    monkeypatch.setattr(watch, "kit", kit)
    named = {"rocketmq-client": ("5.5.0", "9.0.0"), "rocketmq-broker": ("5.5.1",)}
    assert run(watch, monkeypatch, tmp_path, lambda *of: named) == 1
    draft = (tmp_path / "9.0.0.md").read_text("utf-8")
    assert draft.startswith("# RocketMQ 9.0.0: methods that rules name have changed\n")
    assert "\x1b" not in draft
    assert "## `java-client:9.0.0`: exit code 1" in draft
    assert "OFF-R-READ" in draft
    assert re.search(r"^```json\n\{\"plan\": 1, .*\n\{\"case\": 6, .*\n```$", draft, re.MULTILINE)
    assert [path.name for path in tmp_path.glob("*.md")] == ["9.0.0.md"]


def test_what_cannot_be_asked_is_said(
    watch: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_maven(*of: object) -> None:
        raise CannotRunError("There is no Maven.")

    assert run(watch, monkeypatch, tmp_path, no_maven) == 4
    assert capsys.readouterr().err == "There is no Maven.\n"


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_asks_for_what_its_title_needs(form: Path) -> None:
    read = yaml.safe_load(form.read_text("utf-8"))
    if form.stem == "config":
        assert read == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "labels", "body"} == read.keys()
    fields = [one["id"] for one in read["body"]]
    assert len(fields) == len(set(fields))
    assert any(one.get("validations", {}).get("required") for one in read["body"])
