"""The mutants of the port: each one changes one thing, has a name of its own, and is noticed."""

from __future__ import annotations

import re

import noticing_cases

from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets import port
from rocketmq_conformance.conformance.targets.discovery import part_of, suite_modules
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.mutation_score import judge_mutant
from rocketmq_conformance.conformance.targets.port import mutants
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.measurement_event import EQUIVALENT
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.sampler import sampler

DEFECTS = re.compile(r"D\d{2,3}")
#: Cases of a whole consumer, and those that an equivalent mutant is given.
WHOLE_CASES, EQUIVALENT_CASES = 60, 1000
SEED = 11


#: Of each rule of a single decision that whole consumers show: a mutant that breaks it.
BREAKS = {
    "CONS-1-LATER": "whole-listener-failures-lost",
    "LITE-PULL": "whole-lite-begins-anew",
    "MQ-ORD-1": "brokers-by-id",
    "OFF-L-LOAD": "whole-files-missing-is-empty",
    "OFF-L-PALL": "whole-broadcast-file-of-one",
    "OFF-L-PATH": "whole-broadcast-one-file",
    "OFF-L-READ": "whole-broadcast-no-file",
    "OFF-R-PALL": "whole-push-commits-changes",
    "OFF-R-READ": "whole-lite-begins-anew",
    "OFF-R-READ-ERROR": "whole-push-not-found-fails",
    "PULL-ILL-1": "whole-push-correction-unstored",
    "PULL-NON-1": "whole-push-empty-unstored",
    "PULL-PRE-1": "whole-pause-pulls-on",
    "PULL-RES-1": "whole-push-failed-pull-is-last",
    "REB-ADD-1": "brokers-back-at-max",
    "REB-ADD-LOCK": "whole-orderly-refusal-is-grant",
    "REB-ADD-START": "whole-push-unreadable-is-new",
    "REB-CLU-1": "whole-push-no-list-drops",
    "REB-DO-1": "whole-subscriptions-instead",
    "REB-DROP-1": "whole-subscriptions-takes-all",
    "REB-REM-1": "brokers-lost-at-0",
    "REB-VAR-REM": "whole-lite-leaves-nothing",
    "RST-OTHERS": "whole-lite-obeys-resets",
    "RST-PUSH": "whole-push-ignores-resets",
    "RST-RESUME": "whole-push-resets-memory",
    "START-LITE-1": "whole-lite-begins-anew",
    "START-PUSH-1": "brokers-back-at-max",
    "START-PUSH-ERROR": "whole-push-unreadable-is-new",
    "TIMER-LOCK": "whole-orderly-never-renews",
}
#: Rules of parts that whole consumers share with stepped ones, and that mutants of those parts break.
OF_OTHERS = frozenset({"API-ADM-1", "BQ-QUERY-1", "START-TS-1"})


def test_every_mutant_is_noticed_by_a_plan_or_within_2000_cases() -> None:
    by = noticing_cases.kept()
    found = [mutant for mutant in MUTANTS.values() if not mutant.equivalent]
    unnoticed = [mutant.name for mutant in found if not noticing_cases.noticed(mutant, by)]
    assert unnoticed == [], "`rocketmq-conformance regenerate` looks for other cases that notice them"
    assert found


def not_shown(mutant: Mutant) -> set[str]:
    """Those of the rules that a mutant of a whole consumer breaks that lie beneath no answer at which it differs, in
    covering plans and in cases."""
    [name] = mutant.parts
    suite, stage = SUITES[name], Stage(Port(mutant.parts), Profile())
    judge, drawn = Judge(suite, Profile()), sampler(suite, Profile())
    left = {rule for rule, breaks_it in BREAKS.items() if breaks_it == mutant.name}
    covering = (case.rows for case in covering_plans.cases(suite, Profile()))
    plans = (*covering, *(drawn.case(SEED, number, suite.steps) for number in range(WHOLE_CASES)))
    try:
        for number, plan in enumerate(plans):
            if not left:
                break
            stage.begin(suite, number)
            judged = judge.judge(plan, lambda row: stage.do(suite, row))
            left.difference_update(rule for at in judged.differing for rule in judged.steps[at].why.beneath)
    finally:
        stage.close()
    return left


def test_whole_consumers_that_break_a_rule_beneath_differ_where_it_shows() -> None:
    assert {name: left for name in set(BREAKS.values()) if (left := not_shown(MUTANTS[name]))} == {}
    beneath = {rule for suite in SUITES.values() for rule in suite.beneath}
    assert beneath == {*BREAKS, *OF_OTHERS}


def test_nothing_tells_an_equivalent_mutant_from_the_port() -> None:
    alike = [mutant for mutant in MUTANTS.values() if mutant.equivalent]
    judged = {mutant.name: judge_mutant(mutant, Profile(), seed=SEED, limit=EQUIVALENT_CASES) for mutant in alike}
    assert {name: one.rule for name, one in judged.items() if one.status != EQUIVALENT} == {}
    assert judged


def changes_one_thing(mutant: Mutant) -> bool:
    """Does each part override one to four methods or tables of the class that the port plays the suite with?"""
    for part, changed in mutant.parts.items():
        played = part_of(port.__name__, SUITES[part].family)
        written = changed if changed.__base__ is played else changed.__base__
        if played not in changed.__mro__ or written is None or written.__base__ not in played.__mro__:
            return False
        if not 1 <= sum(callable(value) or name.isupper() for name, value in vars(written).items()) <= 4:
            return False
    return bool(mutant.parts)


def test_every_mutant_changes_one_thing() -> None:
    assert [mutant.name for mutant in MUTANTS.values() if not changes_one_thing(mutant)] == []


def is_described(mutant: Mutant) -> bool:
    """Has it a defect, one sentence, and a name in lower case?"""
    sentence = mutant.sentence
    begins = sentence[0].isupper() or not sentence[0].isalpha()
    one = begins and sentence.endswith(".") and sentence.count(". ") == 0
    return one and bool(DEFECTS.fullmatch(mutant.defect)) and mutant.name == mutant.name.lower().replace(" ", "-")


def test_every_mutant_says_what_is_wrong_and_where_that_was_seen() -> None:
    assert [mutant.name for mutant in MUTANTS.values() if not is_described(mutant)] == []


def test_no_name_and_no_sentence_is_used_twice() -> None:
    declared = sum(len(module.MUTANTS) for module in suite_modules(mutants.__name__))
    assert len(MUTANTS) == declared
    assert len({mutant.sentence for mutant in MUTANTS.values()}) == len(MUTANTS)


def test_every_part_of_the_port_has_mutants() -> None:
    parts = {part for mutant in MUTANTS.values() for part in mutant.parts}
    assert parts == {name for name, suite in SUITES.items() if suite.side is not Side.BROKER}
