"""Case *i* is the same plan, with the same digest and behaviours, on every machine and Python version.

REWRITE_GOLDEN=1 writes the golden file anew: a change of the rules, the suites or the port may want that, a new Python
never does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import case_digests
import pytest
from places import DATA

from rocketmq_conformance.conformance.campaign.spark import shipping
from rocketmq_conformance.suites.declare.discovery import SUITES

GOLDEN = DATA / "digests.json"
#: Versions that the kit may run on beside this one.
OTHERS = [f"3.{minor}" for minor in range(11, 15) if minor != sys.version_info.minor]


def golden() -> dict[str, case_digests.Digests]:
    if os.environ.get("REWRITE_GOLDEN"):
        found = {name: case_digests.digests(suite) for name, suite in SUITES.items()}
        lines = (f'"{name}": [\n{_lines(cases)}\n]' for name, cases in found.items())
        GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    recorded: dict[str, case_digests.Digests] = json.loads(GOLDEN.read_text("utf-8"))
    return recorded


def _lines(cases: case_digests.Digests) -> str:
    return ",\n".join(f"  {json.dumps(case)}" for case in cases)


def test_the_golden_file_has_every_suite() -> None:
    assert list(golden()) == list(SUITES)


@pytest.mark.parametrize("name", SUITES)
def test_the_first_cases_are_those_of_the_golden_file(name: str) -> None:
    assert case_digests.digests(SUITES[name]) == golden()[name]


def test_no_two_cases_of_the_golden_file_have_the_same_plan() -> None:
    plans = [plan for cases in golden().values() for plan, _, _ in cases]
    assert len(set(plans)) == len(plans) == case_digests.CASES * len(SUITES)


def interpreter(version: str) -> str | None:
    """A Python of that version on this machine."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"versions/{version}.*/bin/python"))]
    for candidate in filter(None, candidates):
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return str(candidate)
    return None


@pytest.mark.parametrize("version", OTHERS)
def test_other_pythons_at_hand_agree(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    for name, data in shipping.contents().items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    done = subprocess.run(
        [python, "-S", case_digests.__file__],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == golden()
