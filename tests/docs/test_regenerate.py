"""The command that makes files anew knows all of them, and what is missing."""

from __future__ import annotations

import sys

from places import ROOT

sys.path.insert(0, str(ROOT / "tests"))

import regenerate


def test_it_runs_every_test_that_can_write_its_golden_files() -> None:
    writers = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if 'environ.get("REWRITE_GOLDEN")' in path.read_text("utf-8") and path.name != "test_regenerate.py"
    }
    assert writers == set(regenerate.GOLDEN)


def test_a_mutant_that_no_plan_notices_is_missing_one() -> None:
    mutant = regenerate.MUTANTS["zero-is-none"]
    plans = regenerate.corpus.cases([regenerate.corpus.kit_folder()], [regenerate.SUITES["remote-store"]])
    assert regenerate.is_noticed(mutant, plans)
    assert not regenerate.is_noticed(mutant, {})
