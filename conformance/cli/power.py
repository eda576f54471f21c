"""The command ``power``: runs the mutants, or corrupts the answers of an implementation, and prints what is noticed."""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.options import (
    chosen_suites,
    format_option,
    like_option,
    out_option,
    overrides,
    releases_option,
    seed_option,
    start_timeout_option,
    suites_option,
)
from rocketmq_conformance.conformance.engine.limits import CORRUPTED_CASES, MUTANT_CASES
from rocketmq_conformance.reports.tiers import COVER, SEEDED

#: The value of --promote without a folder.
DEFAULT = "-"


@click.command()
@click.argument("names", nargs=-1)
@seed_option
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    help=f"Cases per suite and mutant.  [default: {MUTANT_CASES}; with --at {CORRUPTED_CASES}, or the suite's own]",
)
@click.option(
    "--tier",
    type=click.Choice([COVER, SEEDED]),
    default=SEEDED,
    show_default=True,
    help="Judge mutants by the covering plans, or by generated cases.",
)
@click.option(
    "--at",
    "address",
    metavar="ADDRESS",
    help="Corrupt the answers of this implementation on their way to the judge, instead of running mutants.",
)
@suites_option
@like_option
@releases_option
@start_timeout_option
@click.option(
    "--promote",
    is_flag=False,
    flag_value=DEFAULT,
    metavar="[FOLDER]",
    help="Put a minimal plan for every killed mutant that no plan there notices into the corpus in FOLDER. Write it "
    "after NAMES.  [default: suites/corpus of the kit's source tree, else ./corpus]",
)
@out_option
@click.option("-v", "--verbose", is_flag=True, help="List every mutant, however many there are.")
@format_option
def power(
    names: tuple[str, ...],
    seed: int | None,
    cases: int | None,
    tier: str,
    address: str | None,
    patterns: tuple[str, ...],
    like: str | None,
    releases: dict[str, str],
    start_timeout: float,
    promote: str | None,
    out: Path | None,
    verbose: bool,
    form: str,
) -> None:
    """Run the mutants (all, or NAMES) and print which of them were noticed, and how soon.

    NAMES are names of mutants, or patterns: a part of the name, or such as 'zero-*'. With --at, the answers of a real
    implementation are changed one at a time (off by one, stale, swapped, late, …), and the matrix is rule by way.
    """
    # The engine, with all suites and mutants, is imported when the command needs it: --help does not.
    from rocketmq_conformance.conformance.cli import measuring
    from rocketmq_conformance.conformance.cli.promoting import corpus_folder

    asked = measuring.Asked(
        seed=1 if seed is None else seed, cases=cases, tier=tier, out=out, verbose=verbose, form=form
    )
    if address is not None:
        if names or promote is not None:
            raise click.UsageError("--at changes answers and runs no mutants: leave out NAMES and --promote.")
        measuring.corrupt(address, chosen_suites(patterns, None), asked, overrides(releases, like), start_timeout)
        return
    if patterns or like or releases:
        raise click.UsageError("-k, --like and --with go with --at: mutants are chosen by their names.")
    to = None if promote is None else corpus_folder() if promote == DEFAULT else Path(promote)
    measuring.run_mutants(names, asked, to)
