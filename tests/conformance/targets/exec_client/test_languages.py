"""Programs in other languages: the examples, built and judged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builds import building
from places import ROOT

from rocketmq_conformance.conformance.api import judge, run
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.reports.event import DivergenceFound, Event, SuiteEnded

EXAMPLES = ROOT / "examples"


def built(folder: Path) -> None:
    """Build the Go program of a folder."""
    done = subprocess.run(
        ["go", "build", "-o", "adapter", "./strategies"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def verdicts(events: list[Event]) -> dict[str, str]:
    return {one.suite: one.verdict for one in events if isinstance(one, SuiteEnded)}


def test_the_example_in_python_conforms() -> None:
    address = f"exec:{sys.executable} {EXAMPLES / 'python' / 'adapter.py'}"
    events = list(run(address, cases=40, seed=1))
    assert verdicts(events) == {"allocation": "conforms", "remote-store": "conforms"}
    assert len((EXAMPLES / "python" / "adapter.py").read_text().splitlines()) <= 60


@pytest.mark.languages
def test_the_go_client_diverges_where_its_page_says(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = shutil.copytree(EXAMPLES / "go", tmp_path / "go")
    with building(tmp_path_factory):
        built(folder)
    address = f"exec:{folder / 'adapter'}"
    found = {
        rule["id"] for one in run(address, cases=300, seed=1) if isinstance(one, DivergenceFound) for rule in one.rules
    }
    assert found == {
        *("ALLOC-CH-1", "ALLOC-CH-2", "ALLOC-CH-3", "ALLOC-CH-4", "ALLOC-CHK-1", "ALLOC-NEAR-1", "ALLOC-ROOM-1"),
        "MQ-ID-1",
    }
    kept = plan.read(folder / "strategies" / "room-and-hash.plan.jsonl")
    options = Options(address, 1, plans={kept.suite.name: kept.cases})
    again = judge(address, [kept.suite], options, planned=kept.profile)
    assert len([one for one in again if isinstance(one, DivergenceFound)]) == len(kept.cases)
