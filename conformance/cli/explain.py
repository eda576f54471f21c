"""The command ``explain``: one rule of the rule book, and the suites that reach it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from rocketmq_conformance.conformance.cli.options import like_option, overrides, releases_option, rule_named
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Rule
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.reach import reach, where


@click.command()
@click.argument("rule_id", metavar="RULE")
@releases_option
@like_option
def explain(rule_id: str, releases: dict[str, str], like: str | None) -> None:
    """Show what RULE requires, of which releases, where it comes from, and which suites reach it."""
    rule = rule_named(rule_id)
    chosen, newest = overrides(releases, like), Profile()
    profile = Profile.of(
        chosen.get("client", str(newest.client)),
        chosen.get("broker", str(newest.broker)),
        int(chosen.get("java", newest.java)),
    )
    click.echo(f"{rule.id}  ({rule.level.value}, {rule.origin.value})")
    click.echo(f"  {rule.sentence}")
    click.echo(f"  releases  {rule.releases}")
    if rule.needs:
        click.echo(f"  needs     {rule.needs}")
    click.echo(f"  source    {rule.source}")
    for line in _suites(rule, profile):
        click.echo(line)


def _suites(rule: Rule, profile: Profile) -> Iterator[str]:
    """The lines on the suites: where each of them reaches the rule, and which of them do so by the profile."""
    suites = [suite for suite in SUITES.values() if rule.id in suite.rules]
    if not suites:
        yield "  suites    none: `prove` compares it with real releases"
        return
    width = max(len(suite.name) for suite in suites)
    for at, suite in enumerate(suites):
        yield f"  {'' if at else 'suites':<10}{suite.name:<{width}}  {where(suite, rule)}"
    reasons = {suite.name: reach(suite, profile)[rule.id] for suite in suites}
    fires = [name for name, reason in reasons.items() if not reason]
    yield f"  by {profile} it can fire in {', '.join(fires) or 'no suite'}"
    for reason in dict.fromkeys(filter(None, reasons.values())):
        yield f"    not in {', '.join(name for name, why in reasons.items() if why == reason)}: {reason}"
