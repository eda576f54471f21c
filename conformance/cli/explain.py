"""The command ``explain``: one rule of the rule book."""

from __future__ import annotations

import click

from rocketmq_conformance.conformance.cli.options import rule_named
from rocketmq_conformance.suites.declare.discovery import SUITES


@click.command()
@click.argument("rule_id", metavar="RULE")
def explain(rule_id: str) -> None:
    """Show what RULE requires, of which releases, and where it comes from."""
    rule = rule_named(rule_id)
    click.echo(f"{rule.id}  ({rule.level.value}, {rule.origin.value})")
    click.echo(f"  {rule.sentence}")
    click.echo(f"  releases  {rule.releases}")
    click.echo(f"  source    {rule.source}")
    reached = [suite.name for suite in SUITES.values() if rule.id in suite.rules]
    click.echo(f"  suites    {', '.join(reached) or 'not covered by a suite; verified by `prove` only'}")
