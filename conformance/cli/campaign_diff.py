"""The command ``campaign diff``."""

from __future__ import annotations

import sys

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot, finish
from rocketmq_conformance.conformance.cli.output import say


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--address-a", metavar="ADDRESS", help="Which address of A, when it has several.")
@click.option("--address-b", metavar="ADDRESS", help="Which address of B, when it has several.")
@click.option(
    "--rebuild",
    type=click.IntRange(min=1),
    help="Cases per suite whose steps are rebuilt to find their first difference.  [default: 10,000]",
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "process", "spark"]),
    default="auto",
    show_default=True,
    help="What compares: one process, or Spark, which has room for any number of cases; auto: Spark from 4,000,000 on.",
)
@click.option("--master", help="Where Spark runs, as for `campaign run`; implies --engine spark.  [default: local[*]]")
@click.option("-v", "--verbose", is_flag=True, help="Print every difference, in full.")
@click.option("--format", "form", type=click.Choice(["human", "jsonl"]), default="human")
def diff(
    a: str,
    b: str,
    address_a: str | None,
    address_b: str | None,
    rebuild: int | None,
    engine: str,
    master: str | None,
    verbose: bool,
    form: str,
) -> None:
    """Compare what two stored campaigns with the same plans did, case by case.

    A and B are folders of campaigns: two releases, or two commits of a port. They may be the same folder, to compare
    two of its addresses, and on any storage that Spark reads: file:///…, hdfs://…, s3a://….

    Exit codes: 0 the same, 1 different, 3 undecided or nothing compared, 4 could not read.
    """
    try:
        from rocketmq_conformance.conformance.campaign.analysis import diff as comparing
        from rocketmq_conformance.conformance.campaign.analysis.engine import PROCESS, opened_campaigns
        from rocketmq_conformance.conformance.campaign.analysis.suite_comparison import REBUILT
        from rocketmq_conformance.conformance.campaign.spark.master import MasterError
        from rocketmq_conformance.conformance.campaign.tables.reading import CampaignError, DamagedError
    except ModuleNotFoundError as error:
        raise CouldNot(f"Campaigns need {error.name}: install the kit as rocketmq-conformance[spark].") from error
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.reports.campaign_diff import EXIT_CODES, NOTHING, show

    if master and engine == PROCESS:
        raise click.UsageError("--master says where Spark runs: leave it out, or --engine process.")
    try:
        with opened_campaigns([a, b], engine, master) as ((first, second), chosen):
            found = comparing.diff(first, second, address_a, address_b, rebuild or REBUILT, chosen)
    except comparing.NothingComparedError as error:
        say(str(error), err=True)
        finish(EXIT_CODES[NOTHING])
        return
    except (CannotRunError, DamagedError) as error:
        raise CouldNot(str(error)) from error
    except (CampaignError, MasterError) as error:
        raise click.UsageError(str(error)) from error
    if form == "human":
        show(found, sys.stdout, verbose=verbose)
    else:
        for line in found.lines():
            say(line)
    finish(found.exit_code)
