"""The command ``bisect``: the release at which the answers to a plan changed."""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.axis_options import Comparing, addresses, comparing_options, progress
from rocketmq_conformance.conformance.cli.exit import COULD_NOT_RUN, UNDECIDED, finish
from rocketmq_conformance.conformance.cli.options import case_option, plan_argument, plan_notes, read_plan
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.conformance.cli.written_page import write


@click.command()
@plan_argument
@case_option
@click.option("--broker", "brokers", multiple=True, metavar="RELEASES", help="Brokers, the oldest first.")
@click.option("--client", "clients", multiple=True, metavar="RELEASES", help="Clients, the oldest first.")
@comparing_options
def bisect(
    plan: Path, number: int | None, brokers: tuple[str, ...], clients: tuple[str, ...], comparing: Comparing
) -> None:
    """Find the release at which the answers to a PLAN changed, by which rule, and the source of the change.

    RELEASES are such as 4.7.1..5.5.0, or any addresses in the order to search. Exit codes: 0 both ends answer alike,
    1 the answer changed, 3 nothing was compared, 4 could not run.
    """
    from rocketmq_conformance.conformance.release_axis import bisect as library
    from rocketmq_conformance.conformance.release_axis.addresses import BROKER, CLIENT
    from rocketmq_conformance.conformance.release_axis.bisect_page import bisect_document, bisect_page
    from rocketmq_conformance.conformance.release_axis.plans import given_plans

    if bool(brokers) == bool(clients):
        raise click.UsageError("Name the releases with either --broker or --client, such as --broker 4.7.1..5.5.0.")
    if brokers:
        order = addresses(brokers, BROKER, "--broker", least=2)
    else:
        order = addresses(clients, CLIENT, "--client", least=2)
    read = read_plan(plan, number)
    for note in plan_notes(read):
        say(note, err=True)
    plans = given_plans(read.suite, read.seed, read.cases)
    made = library.bisect(order, plans, comparing.stored(), progress=progress, **comparing.limits)
    write(comparing.form, lambda: bisect_page(made), lambda: bisect_document(made))
    if made.changes:
        finish(1)
    finish(0 if len(made.played) > 1 else UNDECIDED if made.played else COULD_NOT_RUN)
