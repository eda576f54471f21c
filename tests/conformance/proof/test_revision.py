"""The revision that a proof is made with: it changes with the code, and with nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import rocketmq_conformance
from rocketmq_conformance.conformance.proof import revision as revisions
from rocketmq_conformance.conformance.proof.revision import revision

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(revisions.corpus, "kit_folder", lambda: tmp_path / "suites" / "corpus")
    for name in ("models/a.py", "docs/proof/rows"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("1\n")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(("git", "-C", str(folder), *who, *words), check=True, capture_output=True)


def committed(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


def test_rows_do_not_change_it_and_code_does(checkout: Path) -> None:
    git(checkout, "init", "-q")
    committed(checkout)
    first = revision()
    (checkout / "docs/proof/rows").write_text("2\n")
    assert revision() == first
    committed(checkout)
    assert revision() == first
    found = [first]
    for name in ("models/a.py", "models/new.py"):
        (checkout / name).write_text("2\n")
        found.append(revision())
        assert found[-1].startswith(f"{first}+")
    committed(checkout)
    found.append(revision())
    assert len(set(found)) == len(found)


def test_an_installation_has_its_version(checkout: Path) -> None:
    assert revision() == f"v{rocketmq_conformance.__version__}"
