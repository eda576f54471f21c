"""Finds suites, rules and mutants that lack a part, a test, a proof or a plan: for ``regenerate``, in a checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.proof_docs import UNASKED
from rocketmq_conformance.conformance.targets import broker, java_client, port
from rocketmq_conformance.conformance.targets.discovery import has_part
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, suites_of
from rocketmq_conformance.conformance.targets.mutation_score import noticing_plan, plan_can_notice
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.rule import Level
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side

#: How often a plan is played before it counts as one that does not notice: on a busy machine a case that depends
#: on time may stay undecided.
TRIES = 3

#: The targets that play the suites of a side.
_PLAYS = {Side.BROKER: (broker,), Side.WHOLE: (port,), Side.GRPC: (port,)}


def everything(root: Path) -> list[str]:
    """All that is missing, by room."""
    return [*suites_without_a_part(), *suites_without_tests(root), *rules_without_proof(root), *mutants_without_plan()]


def suites_without_a_part() -> Iterator[str]:
    """The suites of the kit that a target of their side has no module for, or that have no mutant."""
    mutated = {suite.name for mutant in MUTANTS.values() for suite in suites_of(mutant)}
    for name, suite in SUITES.items():
        if name in SUITES.brought:
            continue
        for target in _PLAYS.get(suite.side, (port, java_client)):
            if not has_part(target.__name__, SUITES[name].family):
                yield f"suite {name}: {target.__name__.rpartition('.')[2]} has no module that plays it"
        if suite.ordinary and name not in mutated:
            yield f"suite {name}: it has no mutant"


def suites_without_tests(root: Path) -> Iterator[str]:
    """The suites that no test names."""
    text = "".join(path.read_text("utf-8") for path in sorted((root / "tests").rglob("test_*.py")))
    for name in SUITES:
        if name not in SUITES.brought and name not in text and name.replace("-", "_") not in text:
            yield f"suite {name}: no test names it"


def rules_without_proof(root: Path) -> Iterator[str]:
    """The rules that require something, and that have no row in any proof."""
    proven = {row.rule for row in KeptRows(root / "docs" / "proof").rows()}
    for rule in rulebook.RULES.values():
        if rule.id not in proven and rule.id not in UNASKED and rule.level is not Level.UNDEFINED:
            yield f"rule {rule.id}: no proof has a row for it"


def mutants_without_plan() -> Iterator[str]:
    """The mutants that no plan of the kit's corpus notices, except for those that no plan can notice.

    Those are the equivalent ones, and faults of unlocking that show in strict mode only, which no plan can ask for.
    """
    plans = corpus.cases([corpus.kit_folder()], SUITES.values())
    for mutant in MUTANTS.values():
        if plan_can_notice(mutant) and not any(noticing_plan(mutant, plans) for _ in range(TRIES)):
            yield f"mutant {mutant.name}: no plan of the corpus notices it"
