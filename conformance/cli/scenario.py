"""The command ``scenario``: a story that is played step by step, at any addresses."""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.axis_options import Comparing, addresses, comparing_options, progress
from rocketmq_conformance.conformance.cli.exit import finish
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.conformance.cli.written_page import write
from rocketmq_conformance.reports.text import in_columns


@click.command()
@click.argument("name", required=False)
@click.argument("names", metavar="[ADDRESS...]", nargs=-1)
@click.option("--plan", type=click.Path(path_type=Path), help="Write it as a plan, for replay, shrink and bisect.")
@comparing_options
def scenario(name: str | None, names: tuple[str, ...], plan: Path | None, comparing: Comparing) -> None:
    """Play the scenario NAME, or that of a file, at each ADDRESS; without a NAME, list the scenarios.

    Each step is shown with its sentence, who answers what, and by which rules. broker:4.9.4..5.5.0 stands for every
    release of a range. Exit codes: 0 all as the rules demand, 1 an answer is not, 3 not all was played, 4 nothing was.
    """
    from rocketmq_conformance.conformance.release_axis import scenario as scenarios
    from rocketmq_conformance.conformance.release_axis.matrix import matrix
    from rocketmq_conformance.conformance.release_axis.scenario_page import (
        scenario_document,
        scenario_page,
        verdict_of,
    )
    from rocketmq_conformance.reports.event import EXIT_CODES

    if name is None:
        for line in in_columns([(one.name, f"{one.title}  [{one.suite.name}]") for one in scenarios.known()]):
            say(line)
        return
    try:
        chosen = scenarios.find(name)
    except scenarios.ScenarioError as error:
        raise click.UsageError(str(error)) from error
    if plan:
        chosen.write_plan(plan)
        if not names:
            return
    if not names:
        raise click.UsageError(f"Name addresses that play {chosen.suite.name}, such as {chosen.example}.")
    found = addresses(names, "", "ADDRESS")
    made = matrix(found, [chosen.plans], comparing.stored(), progress=progress, **comparing.limits)
    write(comparing.form, lambda: scenario_page(chosen, made), lambda: scenario_document(chosen, made))
    finish(EXIT_CODES[verdict_of(made)])
