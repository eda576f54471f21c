"""The command ``replay``: runs the cases of a plan file again."""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.options import (
    Judging,
    address_argument,
    address_through,
    case_option,
    judging_options,
    out_option,
    plan_argument,
    plan_notes,
    quirks_option,
    read_plan,
    through_option,
)


@click.command()
@plan_argument
@address_argument
@case_option
@out_option
@quirks_option
@through_option
@judging_options
def replay(
    plan: Path, address: str, number: int | None, out: Path | None, quirks: bool, through: str | None, judging: Judging
) -> None:
    """Run the cases of a PLAN file again on ADDRESS."""
    # The engine, with all models and suites, is imported when a command needs it: --help does not.
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.options import Options

    address = address_through(address, through)
    read = read_plan(plan, number)
    cases = {read.suite.name: read.cases}
    options = Options(address, read.seed, out=out, plans=cases, notes=plan_notes(read), plan=plan, quirks=quirks)
    judge([read.suite], options, judging, planned=read.profile)
