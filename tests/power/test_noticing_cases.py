"""The cases that notice mutants: each mutant has one. REWRITE_GOLDEN=1 looks for those that are missing."""

from __future__ import annotations

import os
import re

import noticing_cases
import pytest

from rocketmq_conformance.conformance.engine.divergence import parts_that_differ, said
from rocketmq_conformance.conformance.targets import mutation_score
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.suites.declare.discovery import SUITES

#: A list in a list, or one of numbers without a name, as Python writes it.
BARE = re.compile(r"\(\(|, \(|(?<!=)\(-?\d+,")


def test_a_case_of_every_mutant_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get("REWRITE_GOLDEN"):
        monkeypatch.setattr(mutation_score, "open_mutant", noticing_cases.open_settled)
        assert noticing_cases.find_missing() == []
    kept, expected = noticing_cases.kept(), noticing_cases.expected()
    assert list(kept) == list(expected)
    assert [name for name, mutant in expected.items() if not noticing_cases.is_within(mutant, kept[name].case)] == []


def test_what_diverges_is_put_into_words_that_tell_it_apart() -> None:
    """In no divergence of a mutant has a reader to count places in lists of lists."""
    offenders = []
    for name, one in noticing_cases.kept().items():
        suite, judged = SUITES[one.case.suite], noticing_cases.play(MUTANTS[name], one.case)
        last = judged.steps[-1]
        spec = suite.operations[last.row[0]].spec
        if isinstance(last.expected, Err):
            continue  # where it refuses, an implementation may answer anything
        answers = [said(spec, last.expected), said(spec, last.observed)]
        parts = [text for part in parts_that_differ(spec, last.expected, last.observed) for text in part]
        states = [suite.show(state) for step in judged.steps for state in (step.before, step.after)]
        found = [text for text in (*answers, *parts, *states) if BARE.search(text)]
        if found or answers[0] == answers[1]:
            offenders.append((name, *answers, *found[:1]))
    assert offenders == []
