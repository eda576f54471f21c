"""The command ``campaign diff``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot, finish
from rocketmq_conformance.reports.campaign_diff import EXIT_CODES, NOTHING, show
from rocketmq_conformance.reports.text import clean


@click.command()
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@click.option("--address-a", metavar="ADDRESS", help="Which address of A, when it has several.")
@click.option("--address-b", metavar="ADDRESS", help="Which address of B, when it has several.")
@click.option(
    "--rebuild",
    type=click.IntRange(min=1),
    help="Cases per suite whose steps are rebuilt to find their first difference.  [default: 10,000]",
)
@click.option("-v", "--verbose", is_flag=True, help="Print every difference, in full.")
@click.option("--format", "form", type=click.Choice(["human", "jsonl"]), default="human")
def diff(
    a: Path, b: Path, address_a: str | None, address_b: str | None, rebuild: int | None, verbose: bool, form: str
) -> None:
    """Compare what two stored campaigns with the same plans did, case by case.

    A and B are folders of campaigns: two releases, or two commits of a port. They may be the same folder, to compare
    two of its addresses. Exit codes: 0 the same, 1 different, 3 undecided or nothing compared, 4 could not read.
    """
    try:
        from rocketmq_conformance.conformance.campaign.analysis import diff as comparing
        from rocketmq_conformance.conformance.campaign.tables.reading import CampaignError, DamagedError, open_campaign
    except ModuleNotFoundError as error:
        raise CouldNot(f"Campaigns need {error.name}: install the kit as rocketmq-conformance[spark].") from error
    try:
        first, second = open_campaign(a), open_campaign(b)
        found = comparing.diff(first, second, address_a, address_b, rebuild or comparing.REBUILT)
    except comparing.NothingComparedError as error:
        click.echo(clean(str(error)), err=True)
        finish(EXIT_CODES[NOTHING])
        return
    except DamagedError as error:
        raise CouldNot(clean(str(error))) from error
    except CampaignError as error:
        raise click.UsageError(clean(str(error))) from error
    if form == "human":
        show(found, sys.stdout, verbose=verbose)
    else:
        for line in found.lines():
            click.echo(line)
    finish(found.exit_code)
