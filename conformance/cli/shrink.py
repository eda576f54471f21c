"""The command ``shrink``: finds a minimal failing example of a plan file."""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.options import (
    Judging,
    address_argument,
    case_option,
    judging_options,
    name_of,
    plan_argument,
    plan_notes,
    quirks_option,
    read_plan,
)


@click.command()
@plan_argument
@address_argument
@case_option
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the shrunk plan.  [default: beside PLAN]")
@quirks_option
@judging_options
def shrink(plan: Path, address: str, number: int | None, out: Path | None, quirks: bool, judging: Judging) -> None:
    """Find the shortest plan that shows the first divergence of a PLAN file on ADDRESS."""
    # The engine, with all models and suites, is imported when a command needs it: --help does not.
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.options import Options

    read = read_plan(plan, number)
    folder = out or plan.parent / f"{name_of(plan)}-shrunk"
    cases = {read.suite.name: read.cases}
    notes = plan_notes(read)
    options = Options(
        address, read.seed, out=folder, stop_at_first=True, plans=cases, notes=notes, plan=plan, quirks=quirks
    )
    judge([read.suite], options, judging, planned=read.profile)
