"""The table of clauses: it is whole, its rules and mutants exist, and each mutant is noticed as it says."""

from __future__ import annotations

import json

from rocketmq_conformance.conformance.targets.clause_steps import FILE, blaming, clause_steps
from rocketmq_conformance.conformance.targets.clauses import CLAUSES, MARKERS, markers_of
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.suites.declare.discovery import SUITES


def test_each_clause_is_part_of_its_rule_and_has_either_a_mutant_or_a_reason() -> None:
    assert not [
        clause
        for clause in CLAUSES
        if clause.rule not in rulebook.RULES
        or clause.words not in rulebook.RULES[clause.rule].sentence
        or clause.kind not in MARKERS
        or bool(clause.mutant) == bool(clause.unseen)
    ]


def test_what_a_sentence_says_of_these_kinds_is_in_the_table() -> None:
    missing = [
        (rule.id, kind, words)
        for rule in rulebook.RULES.values()
        for kind, words in markers_of(rule.sentence)
        if not any(
            clause.rule == rule.id and clause.kind == kind and (words.strip(", ") in clause.words) for clause in CLAUSES
        )
    ]
    assert missing == []


def test_at_most_20_clauses_are_not_seen() -> None:
    assert sum(bool(clause.unseen) for clause in CLAUSES) <= 20


def test_every_mutant_of_the_table_is_noticed_by_a_step_that_the_rule_decides() -> None:
    wanted = {(clause.mutant, clause.blamed or clause.rule) for clause in CLAUSES if clause.mutant}
    assert sorted(one for one in wanted if next(blaming(*one), None) is None) == []


def test_the_steps_that_show_clauses_are_kept_for_each_of_them() -> None:
    kept = json.loads(FILE.read_text("utf-8"))
    assert {(rule, words) for rule, clauses in kept.items() for words in clauses} == {
        (clause.rule, clause.words) for clause in CLAUSES if clause.mutant
    }
    for clause in CLAUSES:
        if clause.mutant:
            places = kept[clause.rule][clause.words]
            assert places
            assert all(
                rule == (clause.blamed or clause.rule) and rule in SUITES[suite].rules for rule, suite, _ in places
            )


def test_a_clause_that_no_mutant_breaks_has_no_steps() -> None:
    found = clause_steps()
    assert {(clause.rule, clause.words) for clause in CLAUSES if not found[clause.rule][clause.words]} == {
        (clause.rule, clause.words) for clause in CLAUSES if clause.unseen
    }
