"""The command ``campaign trend``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot, finish
from rocketmq_conformance.conformance.cli.output import say


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-v", "--verbose", is_flag=True, help="Print every cluster and every rule.")
@click.option("--format", "form", type=click.Choice(["human", "jsonl"]), default="human")
def trend(folders: tuple[Path, ...], verbose: bool, form: str) -> None:
    """Compare the latest of several stored campaigns with those before it: clusters, coverage, what an hour more shows.

    DIR is the folder of a campaign, or one that holds several, such as those of every night. Exit codes: 0 no new
    cluster, 1 new ones, 3 only one campaign, 4 could not read.
    """
    try:
        from rocketmq_conformance.conformance.campaign.analysis import trend as comparing
        from rocketmq_conformance.conformance.campaign.tables.reading import CampaignError, DamagedError
    except ModuleNotFoundError as error:
        raise CouldNot(f"Campaigns need {error.name}: install the kit as rocketmq-conformance[spark].") from error
    from rocketmq_conformance.reports.campaign_trend import show

    try:
        found = comparing.trend(folders)
    except DamagedError as error:
        raise CouldNot(str(error)) from error
    except CampaignError as error:
        raise click.UsageError(str(error)) from error
    if form == "human":
        show(found, sys.stdout, verbose=verbose)
    else:
        for line in found.lines():
            say(line)
    finish(found.exit_code)
