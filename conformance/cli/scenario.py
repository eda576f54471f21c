"""The command ``scenario``: plays a scenario on real releases, and judges every step."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.exit import CouldNot, finish, reported
from rocketmq_conformance.conformance.cli.options import format_option, release_names, writable_folder
from rocketmq_conformance.conformance.proof.new_group_start import NewGroupStartPlayer
from rocketmq_conformance.conformance.proof.scenario import Scenario, play_scenario
from rocketmq_conformance.conformance.startup import starting
from rocketmq_conformance.conformance.targets.broker import launch_config as needs
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.scenario import PAGE, ScenarioPage, ScenarioReport
from rocketmq_conformance.reports.start_display import StartDisplay

SCENARIOS = {
    "folklore": Scenario(
        "folklore",
        "Where does a new group with CONSUME_FROM_LAST_OFFSET start? Asked of a real broker and a whole Java consumer.",
        ("4.9.7", "5.0.0", "5.1.4", "5.5.0"),
        NewGroupStartPlayer,
        lambda: needs.java_feature(needs.java()),
    ),
}


@click.command()
@click.argument("name", required=False)
@click.option(
    "--releases", callback=release_names, metavar="R,R,…", help="Releases of broker and client, such as 4.9.7,5.5.0."
)
@click.option("--out", type=click.Path(path_type=Path), help=f"Folder for {jsonl.NAME} and {PAGE}.")
@format_option
def scenario(name: str | None, releases: tuple[str, ...], out: Path | None, form: str) -> None:
    """Take real releases through the scenario NAME; without a NAME, list the scenarios.

    A broker and a client of each release are started, and every step is judged by the model.
    """
    if name is None:
        for known in SCENARIOS.values():
            click.echo(f"{known.name:<12} {known.sentence}  [{', '.join(known.releases)}]")
        return
    found = SCENARIOS.get(name)
    if found is None:
        raise click.UsageError(f"No scenario is called {name!r}; there is {', '.join(SCENARIOS)}.")
    reports: list[Report] = [ScenarioReport(sys.stdout) if form == "human" else jsonl.JsonlReport(sys.stdout)]
    if out:
        folder = writable_folder(out)
        reports += [jsonl.JsonlReport.to(folder / jsonl.NAME), ScenarioPage(folder / PAGE)]
    fanout = Fanout(reports)
    try:
        with StartDisplay(sys.stderr) as display, starting(None, display):
            code = play_scenario(found, [Release.parse(text) for text in releases or found.releases], fanout)
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    finally:
        fanout.close()
    finish(reported(fanout, code))
