"""The table of clauses: it is whole, its rules and mutants exist, and each mutant is noticed as it says."""

from __future__ import annotations

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.clauses import CLAUSES, MARKERS, WHOLE, markers_of
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant, profile_of, suites_of
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler

OWN = corpus.cases([corpus.kit_folder()], SUITES.values())
#: Cases that a mutant is given beside the corpus, when no plan there blames the rule.
CASES = 150


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
        if not rule.id.startswith(WHOLE)
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
    assert sorted(one for one in wanted if not blames(*one)) == []


def blames(name: str, rule: str) -> bool:
    """Does a step that the rule decides notice the mutant?"""
    mutant = MUTANTS[name]
    profile = profile_of(mutant, Profile())
    stage = Stage(open_mutant(mutant, profile), profile)
    try:
        for suite in suites_of(mutant):
            if rule not in suite.rules:
                continue
            judge = Judge(suite, profile)
            draw = sampler(suite, profile)
            plans = [case.rows for case in OWN[suite.name] if not suite.lacking(profile, case.rows)]
            for number in range(len(plans) + CASES):
                rows = plans[number] if number < len(plans) else draw.case(1, number - len(plans), suite.steps)
                stage.begin(suite, number)
                judged = judge.judge(rows, lambda row, suite=suite: stage.do(suite, row))  # type: ignore[misc]
                if judged.verdict == DIVERGES and rule in judged.steps[-1].why.rules:
                    return True
        return False
    finally:
        stage.close()
