"""The command ``list``: suites, rules, operations and mutants. Each list imports what it shows, and nothing else."""

from __future__ import annotations

import json

import click


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
        _schema()
    else:
        raise click.UsageError("Only operations have a schema: write `list operations --format schema`.")


def _suites() -> None:
    from rocketmq_conformance.suites.declare.discovery import SUITES

    for suite in SUITES.values():
        note = "" if suite.ordinary else "  (only when named with -k)"
        click.echo(f"{suite.name:<18} {suite.side.value:<7} {suite.sentence}{note}")


def _rules() -> None:
    from rocketmq_conformance.models import rulebook

    for rule in rulebook.RULES.values():
        click.echo(f"{rule.id:<20} {rule.level.value:<9} {rule.releases:<18} {rule.sentence}")


def _operations() -> None:
    from rocketmq_conformance.suites.declare.discovery import SUITES

    for suite in SUITES.values():
        for op in suite.operations:
            fields = ", ".join(name for name, _ in op.spec.domains)
            click.echo(f"{suite.name}/{op.spec.name}({fields})  {op.spec.sentence}")


def _schema() -> None:
    from rocketmq_conformance.suites.declare.discovery import SUITES
    from rocketmq_conformance.suites.declare.schema import case_line

    click.echo(json.dumps(case_line(SUITES.values()), indent=2))


def _mutants() -> None:
    from rocketmq_conformance.conformance.targets import mutants_list

    click.echo(mutants_list.FILE.read_text("utf-8"), nl=False)
    click.echo("Every mutant cites a defect (D01 and so on): docs/defects.md explains each of them.", err=True)


_LISTS = {"suites": _suites, "rules": _rules, "operations": _operations, "mutants": _mutants}
