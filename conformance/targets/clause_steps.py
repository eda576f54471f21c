"""In which steps clauses show: those that notice the mutant that breaks the clause (clauses.py).

``clause_steps.json`` has for each clause the rules, suites and kinds of state of such steps, as they were measured. A
run that judged a step of one of these kinds has reached the clause.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.clauses import CLAUSES
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.reports.rule_results import StepKind
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

FILE = Path(__file__).with_name("clause_steps.json")
#: Cases that a mutant is given in each suite beside the corpus.
CASES = 150


@cache
def clause_steps() -> Mapping[str, Mapping[str, frozenset[StepKind]]]:
    """By rule and the words of its clause: where a step shows it; nothing for one that no mutant breaks."""
    kept = json.loads(FILE.read_text("utf-8"))
    found: dict[str, dict[str, frozenset[StepKind]]] = {}
    for clause in CLAUSES:
        step_kinds = kept.get(clause.rule, {}).get(clause.words, ())
        found.setdefault(clause.rule, {})[clause.words] = frozenset(
            (rule, suite, kind) for rule, suite, kind in step_kinds
        )
    return found


def text(names: Collection[str] = ()) -> str:
    """The contents of the file, measured anew; with names of suites, for the clauses that these can show."""
    from rocketmq_conformance.conformance.targets.mutants import MUTANTS, suites_of

    found: dict[str, dict[str, list[list[str]]]] = {}
    for clause in CLAUSES:
        if clause.mutant:
            shown = {suite.name for suite in suites_of(MUTANTS[clause.mutant])}
            measures = not names or not shown.isdisjoint(names)
            step_kinds = (
                _step_kinds(clause.mutant, clause.blamed or clause.rule)
                if measures
                else clause_steps()[clause.rule][clause.words]
            )
            found.setdefault(clause.rule, {})[clause.words] = [list(step_kind) for step_kind in sorted({*step_kinds})]
    lines = (f"{json.dumps(rule)}: {json.dumps(clauses, ensure_ascii=False)}" for rule, clauses in found.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def blaming(name: str, rule: str) -> Iterator[StepKind]:
    """The steps that notice a mutant and that the rule decides, one after the other."""
    # mutants come with the port and the fake broker, which a run may not need
    from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant, profile_of, suites_of

    mutant = MUTANTS[name]
    profile = profile_of(mutant, Profile())
    stage = Stage(open_mutant(mutant, profile), profile)
    try:
        for suite in suites_of(mutant):
            if rule not in suite.rules:
                continue
            judge = Judge(suite, profile)
            for number, rows in enumerate(_plans(suite, profile)):
                stage.begin(suite, number)
                judged = judge.judge(rows, lambda row, suite=suite: stage.do(suite, row))  # type: ignore[misc]
                if judged.verdict == DIVERGES and rule in judged.steps[-1].why.rules:
                    yield rule, suite.name, judged.steps[-1].why.kind
    finally:
        stage.close()


@cache
def _step_kinds(name: str, rule: str) -> tuple[StepKind, ...]:
    return tuple(dict.fromkeys(blaming(name, rule)))


def _plans(suite: Suite, profile: Profile) -> Iterator[list[Row]]:
    stored = corpus.cases([corpus.kit_folder()], SUITES.values())[suite.name]
    yield from (case.rows for case in stored if not suite.lacking(profile, case.rows))
    draw = sampler(suite, profile)
    yield from (draw.case(1, number, suite.steps) for number in range(CASES))
