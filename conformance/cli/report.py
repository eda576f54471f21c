"""The command ``report``: makes a page from the events that a run or a campaign left, however it ended."""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import finish


@click.command()
@click.argument("events", type=click.Path(path_type=Path), metavar="DIR|EVENTS")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="The page.  [default: beside the events]")
@click.option("-v", "--verbose", is_flag=True, help="Also print everything that the run or campaign found.")
def report(events: Path, out: Path | None, verbose: bool) -> None:
    """Make one HTML page of a stored run or campaign: of its folder, or of its events.jsonl.

    Events that end early make a page too, which says so. The exit code says whether the page was made, not what is
    in it.
    """
    from rocketmq_conformance.conformance.cli.reporting import write_page

    finish(write_page(events, out, verbose=verbose))
