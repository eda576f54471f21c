"""The command ``regenerate``: rewrites every file that is made from the code, and lists what is still missing.

For contributors, in a checkout of the project. ``--check`` changes nothing.
"""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.output import say


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; name the files that are stale.")
@click.option(
    "--broker-defaults",
    "asks_brokers",
    is_flag=True,
    help="Also ask a broker of every release for the defaults of its properties (Java, Maven; some minutes).",
)
@click.option(
    "--provenance",
    "reads_sources",
    is_flag=True,
    help="Also hash what rules name in the published sources of every release (Maven; some minutes).",
)
@click.option(
    "--covering",
    "searches",
    is_flag=True,
    help="Search the covering plans of every suite anew, and the steps that show clauses (half an hour).",
)
@click.option(
    "--covering-of",
    "named",
    metavar="SUITE",
    multiple=True,
    help="The same of one suite (minutes); may be repeated. Without either, of those that have changed.",
)
@click.option(
    "--docs",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Only write the documentation, with the pages that are made from the code, into this folder.",
)
def regenerate(
    check: bool, asks_brokers: bool, reads_sources: bool, searches: bool, named: tuple[str, ...], folder: Path | None
) -> None:
    """Rewrite all files that are made from the code, and list what is still missing.

    For contributors: it needs a checkout of the project. It takes some minutes, or nothing where no file has changed
    since all was up to date, and minutes for each suite that answers or asks otherwise since its covering plans were
    searched. With --check these are named, and not searched.
    Exit codes: 0, or 1 when --check found stale files.
    """
    from rocketmq_conformance.conformance.cli import missing
    from rocketmq_conformance.conformance.cli.regenerating import (
        checkout,
        keep_up_to_date,
        lacking_when_up_to_date,
        stale_files,
        state_of,
        write_documentation,
    )
    from rocketmq_conformance.suites.declare.discovery import SUITES

    unknown = sorted({*named} - {*SUITES})
    if unknown:
        raise click.BadParameter(f"there is no suite {unknown[0]}.", param_hint="--covering-of")
    root = checkout()
    if folder:
        write_documentation(root, folder)
        return
    searched = tuple(SUITES) if searches else named
    state = state_of(root)
    before = None if searched or asks_brokers or reads_sources else lacking_when_up_to_date(root, state)
    if before is not None:
        for sentence in before:
            say(f"missing  {sentence}")
        say("Nothing has changed since every file was up to date.")
        return
    stale = False
    for path, why in stale_files(
        root, check=check, asks_brokers=asks_brokers, reads_sources=reads_sources, searched=searched
    ):
        say(f"{'stale' if check else 'written'}  {path}: {why}")
        stale = True
    lacking = missing.everything(root)
    for sentence in lacking:
        say(f"missing  {sentence}")
    if not stale:
        keep_up_to_date(root, state, lacking)
        if not lacking:
            say("Every file is up to date, and nothing is missing.")
    if stale and check:
        raise click.exceptions.Exit(1)
