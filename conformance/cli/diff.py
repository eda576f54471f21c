"""The command ``diff``: the same plans at several addresses, with none of them right by definition."""

from __future__ import annotations

from pathlib import Path

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
from rocketmq_conformance.conformance.cli.options import suites_option, writable_folder
from rocketmq_conformance.conformance.cli.written_page import write


@click.command()
@click.argument("names", metavar="ADDRESS ADDRESS...", nargs=-1, required=True)
@suites_option
@cases_option
@seed_option
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the shortest plans.")
@comparing_options
def diff(
    names: tuple[str, ...],
    patterns: tuple[str, ...],
    cases: int,
    seed: int,
    out: Path | None,
    comparing: Comparing,
) -> None:
    """Compare what several addresses answer to the same plans.

    No address is right by definition: the model says only which rule a step is about. broker:4.9.4..5.5.0 stands for
    every release of a range. Exit codes: 0 no difference, 1 they differ, 3 something was not compared, 4 could not run.
    """
    from rocketmq_conformance.conformance.release_axis.difference import differences
    from rocketmq_conformance.conformance.release_axis.difference_page import difference_document, difference_page
    from rocketmq_conformance.conformance.release_axis.matrix import matrix

    found = addresses(names, "", "ADDRESS", least=2)
    chosen = plans(patterns, seed, cases)
    folder = writable_folder(out) if out else None
    compared = matrix(found, chosen, comparing.stored(), progress=progress, **comparing.limits)
    made = differences(compared, folder, **comparing.limits)
    write(comparing.form, lambda: difference_page(made), lambda: difference_document(made))
    if made.differ:
        finish(1)
    if not any(cell.suites for cell in compared.cells):
        finish(COULD_NOT_RUN)
    finish(0 if compared.complete and compared.comparable and not made.found else UNDECIDED)
