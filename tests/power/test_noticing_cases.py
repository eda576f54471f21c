"""The cases that notice mutants: each mutant has one. REWRITE_GOLDEN=1 looks for those that are missing."""

from __future__ import annotations

import os

import noticing_cases
import pytest

from rocketmq_conformance.conformance.targets import mutation_score


def test_a_case_of_every_mutant_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get("REWRITE_GOLDEN"):
        monkeypatch.setattr(mutation_score, "open_mutant", noticing_cases.open_settled)
        assert noticing_cases.find_missing() == []
    kept, expected = noticing_cases.kept(), noticing_cases.expected()
    assert list(kept) == list(expected)
    assert [name for name, mutant in expected.items() if not noticing_cases.is_within(mutant, kept[name].case)] == []
