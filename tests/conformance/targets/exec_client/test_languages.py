"""Programs in other languages: the examples, and the skeletons that ``new-adapter`` writes, built and judged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from places import ROOT

from rocketmq_conformance.conformance.api import judge, run
from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.targets.exec_client.skeletons import SKELETONS
from rocketmq_conformance.reports.event import DivergenceFound, Event, SuiteEnded

EXAMPLES = ROOT / "examples"


def built(folder: Path) -> None:
    """Build a Go program."""
    done = subprocess.run(
        ["go", "build", "-o", "adapter", "."], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def verdicts(events: list[Event]) -> dict[str, str]:
    return {one.suite: one.verdict for one in events if isinstance(one, SuiteEnded)}


def test_the_example_in_python_conforms() -> None:
    address = f"exec:{sys.executable} {EXAMPLES / 'python' / 'adapter.py'}"
    events = list(run(address, cases=40, seed=1))
    assert verdicts(events) == {"allocation": "conforms", "remote-store": "conforms"}
    assert len((EXAMPLES / "python" / "adapter.py").read_text().splitlines()) <= 60


@pytest.mark.parametrize(
    "language", ["python", *(pytest.param(one, marks=pytest.mark.languages) for one in ("go", "java"))]
)
def test_a_new_adapter_answers_allocation_at_once(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    wrote = CliRunner().invoke(cli, ["new-adapter", "--language", language, str(folder)])
    assert wrote.exit_code == 0, wrote.output
    if SKELETONS[language].build:
        built(folder)
    monkeypatch.chdir(folder)
    events = list(run(SKELETONS[language].address, cases=60, seed=1))
    assert verdicts(events) == {"allocation": "conforms"}


def test_a_new_adapter_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "adapter.py").write_text("mine")
    refused = CliRunner().invoke(cli, ["new-adapter", "--language", "python", str(tmp_path)])
    assert refused.exit_code == 2
    assert "adapter.py is there already: name a folder without it." in refused.output
    assert (tmp_path / "adapter.py").read_text() == "mine"


@pytest.mark.languages
def test_the_go_client_diverges_where_its_page_says(tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "go", tmp_path / "go")
    built(folder)
    address = f"exec:{folder / 'adapter'}"
    found = {
        rule["id"] for one in run(address, cases=300, seed=1) if isinstance(one, DivergenceFound) for rule in one.rules
    }
    assert found == {
        *("ALLOC-CH-1", "ALLOC-CH-2", "ALLOC-CH-3", "ALLOC-CH-4", "ALLOC-CHK-1", "ALLOC-NEAR-1", "ALLOC-ROOM-1"),
        "MQ-ID-1",
    }
    kept = plan.read(folder / "room-and-hash.plan.jsonl")
    options = Options(address, 1, plans={kept.suite.name: kept.cases})
    again = judge(address, [kept.suite], options, planned=kept.profile)
    assert len([one for one in again if isinstance(one, DivergenceFound)]) == len(kept.cases)
