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
    max_time_option,
    out_option,
    plan_argument,
    plan_notes,
    quirks_option,
    read_plan,
    stop_option,
    through_option,
)


@click.command()
@plan_argument
@address_argument
@case_option
@max_time_option
@out_option
@stop_option
@quirks_option
@through_option
@judging_options
def replay(
    plan: Path,
    address: str,
    number: int | None,
    max_time: float | None,
    out: Path | None,
    stop_at_first: bool,
    quirks: bool,
    through: str | None,
    judging: Judging,
) -> None:
    """Run the cases of a PLAN file again on ADDRESS."""
    # The engine, with all models and suites, is imported when a command needs it: --help does not.
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.options import Options

    address = address_through(address, through)
    read = read_plan(plan, number)
    cases, notes = read.cases, plan_notes(read)
    if read.suite.tries > 1 and len(cases) == 1:
        ((number, rows),) = cases.items()
        cases = {number + time: rows for time in range(read.suite.tries)}
        notes = (*notes, f"the case is played {len(cases)} times, as its requests race: each play counts as a case")
    options = Options(
        address,
        read.seed,
        max_time=max_time,
        out=out,
        stop_at_first=stop_at_first,
        plans={read.suite.name: cases},
        notes=notes,
        plan=plan,
        quirks=quirks,
    )
    judge([read.suite], options, judging, planned=read.profile)
