"""The command ``prove folklore``: where new groups start, asked of a real broker and a whole consumer together."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.exit import CouldNot, finish, reported
from rocketmq_conformance.conformance.cli.options import format_option, release_names, writable_folder
from rocketmq_conformance.conformance.cli.proving import start_timeout_option
from rocketmq_conformance.conformance.proof.folklore import RELEASES, play_folklore
from rocketmq_conformance.conformance.proof.new_group_start import NewGroupStartPlayer
from rocketmq_conformance.conformance.startup import starting
from rocketmq_conformance.conformance.targets.broker import launch_config as needs
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.folklore import PAGE, FolklorePage, FolkloreReport
from rocketmq_conformance.reports.start_display import StartDisplay


@click.command()
@click.option(
    "--releases", callback=release_names, metavar="R,R,…", help="Releases of broker and client, such as 4.9.7,5.5.0."
)
@click.option("--out", type=click.Path(path_type=Path), help=f"Folder for {jsonl.NAME} and {PAGE}.")
@start_timeout_option
@format_option
def folklore(releases: tuple[str, ...], out: Path | None, form: str) -> None:
    """Ask where new groups start, and how they are made to start at the end.

    A real broker and a whole Java consumer of each release are started together, and every step is judged by the model.
    """
    reports: list[Report] = [FolkloreReport(sys.stdout) if form == "human" else jsonl.JsonlReport(sys.stdout)]
    if out:
        folder = writable_folder(out)
        reports += [jsonl.JsonlReport.to(folder / jsonl.NAME), FolklorePage(folder / PAGE)]
    fanout = Fanout(reports)
    try:
        with StartDisplay(sys.stderr) as display, starting(None, display):
            chosen = [Release.parse(text) for text in releases or RELEASES]
            code = play_folklore(NewGroupStartPlayer, needs.java_feature(needs.java()), chosen, fanout)
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    finally:
        fanout.close()
    finish(reported(fanout, code))
