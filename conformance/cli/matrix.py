"""The command ``matrix``: what each of many releases does, rule by rule."""

from __future__ import annotations

import click

from rocketmq_conformance.conformance.cli.axis_options import (
    Comparing,
    addresses,
    cases_option,
    comparing_options,
    plans,
    progress,
    seed_option,
)
from rocketmq_conformance.conformance.cli.exit import COULD_NOT_RUN, UNDECIDED, finish
from rocketmq_conformance.conformance.cli.options import suites_option
from rocketmq_conformance.conformance.cli.written_page import write


@click.command()
@click.option("--brokers", multiple=True, metavar="RELEASES", help="Brokers: releases, ranges, addresses of any kind.")
@click.option("--clients", multiple=True, metavar="RELEASES", help="Clients: releases, ranges, addresses of any kind.")
@suites_option
@cases_option
@seed_option
@comparing_options
def matrix(
    brokers: tuple[str, ...],
    clients: tuple[str, ...],
    patterns: tuple[str, ...],
    cases: int,
    seed: int,
    comparing: Comparing,
) -> None:
    """Show rule by rule what each of many releases does: which behave alike, and what parts them.

    RELEASES are such as 4.9.7,5.1.0..5.5.0 or any address. What was played is kept, so that a matrix that was
    interrupted goes on. Exit codes: 0 complete, 1 a release breaks its own rules, 3 incomplete, 4 nothing could run.
    """
    from rocketmq_conformance.conformance.release_axis import matrix as library
    from rocketmq_conformance.conformance.release_axis.addresses import BROKER, CLIENT
    from rocketmq_conformance.conformance.release_axis.matrix_page import matrix_document, matrix_page

    if not brokers and not clients:
        raise click.UsageError("Name the cells with --brokers and --clients, such as --brokers 4.9.4..5.5.0.")
    found = (
        *(addresses(brokers, BROKER, "--brokers") if brokers else ()),
        *(addresses(clients, CLIENT, "--clients") if clients else ()),
    )
    chosen = plans(patterns, seed, cases)
    made = library.matrix(found, chosen, comparing.stored(), progress=progress, **comparing.limits)
    write(comparing.form, lambda: matrix_page(made), lambda: matrix_document(made))
    if any(row.against for row in made.rows):
        finish(1)
    if not made.rows:
        finish(COULD_NOT_RUN)
    finish(0 if made.complete else UNDECIDED)
