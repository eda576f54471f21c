"""The command ``power``: runs the mutants and prints which of them are noticed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import finish
from rocketmq_conformance.conformance.cli.options import format_option, out_option, seed_option, writable_folder
from rocketmq_conformance.conformance.targets.mutation_score import measure
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.power import PowerReport


@click.command()
@click.argument("names", nargs=-1)
@seed_option
@click.option(
    "--cases", type=click.IntRange(min=1), default=2000, show_default=True, help="Cases per suite and mutant."
)
@out_option
@format_option
def power(names: tuple[str, ...], seed: int | None, cases: int, out: Path | None, form: str) -> None:
    """Run the mutants (all, or NAMES) and print which of them were noticed, and how soon."""
    seed = 1 if seed is None else seed
    reports: list[Report] = [
        PowerReport(sys.stdout) if form == "human" else jsonl.JsonlReport(sys.stdout),
    ]
    if out:
        reports.append(jsonl.JsonlReport.to(writable_folder(out) / "power.jsonl"))
    fanout = Fanout(reports)
    try:
        code = measure(names, seed, cases, fanout)
    except KeyError as error:
        raise click.UsageError(str(error.args[0])) from error
    finally:
        fanout.close()
    finish(code)
