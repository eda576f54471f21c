"""The command ``smoke``: runs a few short cases of every suite."""

from __future__ import annotations

import click

from rocketmq_conformance.conformance.cli.options import Judging, address_argument, chosen_suites, judging_options

#: Cases and steps per suite of a smoke run.
SMOKE_CASES, SMOKE_STEPS = 3, 10


@click.command()
@address_argument
@judging_options
def smoke(address: str, judging: Judging) -> None:
    """Run a few short cases of every suite, to check that the adapter at ADDRESS is wired up."""
    # The engine, with all models and suites, is imported when a command needs it: --help does not.
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.options import Options

    options = Options(address, 1, SMOKE_CASES, SMOKE_STEPS)
    judge(chosen_suites((), None), options, judging)
