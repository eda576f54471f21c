"""The command ``list``: suites, rules, operations and mutants."""

from __future__ import annotations

import json

import click

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.schema import case_line


@click.command("list")
@click.argument("what", type=click.Choice(["suites", "rules", "operations", "mutants"]))
@click.option(
    "--format",
    "form",
    type=click.Choice(["human", "schema"]),
    default="human",
    help="schema: of operations, the JSON Schema of a plan's case lines.",
)
def list_(what: str, form: str) -> None:
    """Name the suites, rules, operations or mutants."""
    if form == "human":
        _LISTS[what]()
    elif what == "operations":
        click.echo(json.dumps(case_line(SUITES.values()), indent=2))
    else:
        raise click.UsageError("Only operations have a schema: write `list operations --format schema`.")


def _suites() -> None:
    for suite in SUITES.values():
        note = "" if suite.ordinary else "  (only when named with -k)"
        click.echo(f"{suite.name:<18} {suite.side.value:<7} {suite.sentence}{note}")


def _rules() -> None:
    for rule in rulebook.RULES.values():
        click.echo(f"{rule.id:<20} {rule.level.value:<9} {rule.releases:<18} {rule.sentence}")


def _operations() -> None:
    for suite in SUITES.values():
        for op in suite.operations:
            fields = ", ".join(name for name, _ in op.spec.domains)
            click.echo(f"{suite.name}/{op.spec.name}({fields})  {op.spec.sentence}")


def _mutants() -> None:
    from rocketmq_conformance.conformance.targets.mutants import MUTANTS  # imports every part of the port

    for mutant in MUTANTS.values():
        note = f"  (equivalent: {mutant.equivalent})" if mutant.equivalent else ""
        click.echo(f"{mutant.name:<32} {mutant.defect:<5} {mutant.sentence}{note}")


_LISTS = {"suites": _suites, "rules": _rules, "operations": _operations, "mutants": _mutants}
