"""The command ``power``: runs the mutants, or corrupts the answers of an implementation, and prints what is noticed."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from rocketmq_conformance.conformance import api
from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.campaign.promote import minimal_plans
from rocketmq_conformance.conformance.cli.campaign_promote import corpus_folder, print_promoted, promote_plans
from rocketmq_conformance.conformance.cli.exit import CouldNot, finish, reported
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
    writable_folder,
)
from rocketmq_conformance.conformance.engine import boundary_power, corpus
from rocketmq_conformance.conformance.engine.plan import Plan, PlanError
from rocketmq_conformance.conformance.engine.runner import Events, deliver
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.conformance.targets.mutation_score import measure, noticing_plan
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.corruption import CorruptionReport
from rocketmq_conformance.reports.event import CorruptionEnded, Event, PowerEnded
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.power import PowerReport
from rocketmq_conformance.reports.start_display import StartDisplay
from rocketmq_conformance.reports.text import clean
from rocketmq_conformance.reports.tiers import COVER, SEEDED
from rocketmq_conformance.suites.declare.discovery import SUITES

#: Cases per suite that a mutant is given.
CASES = 2000
#: The value of --promote without a folder.
DEFAULT = "-"


@click.command()
@click.argument("names", nargs=-1)
@seed_option
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    help=f"Cases per suite and mutant.  [default: {CASES}; with --at {boundary_power.CASES}, or the suite's own]",
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
    seed = 1 if seed is None else seed
    if address is not None:
        if names or promote is not None:
            raise click.UsageError("--at changes answers and runs no mutants: leave out NAMES and --promote.")
        suites, display = chosen_suites(patterns, None), StartDisplay(sys.stderr)
        events = api.corrupt(
            address,
            suites,
            seed=seed,
            cases=cases,
            releases=overrides(releases, like),
            start_timeout=start_timeout,
            on_start=display,
        )
        human: Report = CorruptionReport(sys.stdout, verbose=verbose)
        finish(_reported(_begun(events, display), _reports(human, out, form)))
        return
    if patterns or like or releases:
        raise click.UsageError("-k, --like and --with go with --at: mutants are chosen by their names.")
    cases = CASES if cases is None else cases
    if promote in MUTANTS:
        raise click.UsageError(f"--promote takes {promote!r} for a folder: write the names of mutants before it.")
    to = None if promote is None else corpus_folder() if promote == DEFAULT else Path(promote)
    reports = _reports(PowerReport(sys.stdout, verbose=verbose), out, form)
    if to is None:
        finish(_reported(measure(names, seed, cases, tier=tier), reports))
        return
    known = _corpus(to)
    with TemporaryDirectory(prefix="rocketmq-conformance-") as plans:
        code = _reported(measure(names, seed, cases, Path(plans), tier=tier), reports)
        _promote(Path(plans), known, to, err=form != "human")
    finish(code)


def _reports(human: Report, out: Path | None, form: str) -> list[Report]:
    """The reports that were asked for, ``human`` for people."""
    reports = [human if form == "human" else jsonl.JsonlReport(sys.stdout)]
    if out:
        reports.append(jsonl.JsonlReport.to(writable_folder(out) / "power.jsonl"))
    return reports


def _begun(events: Events, display: StartDisplay) -> Events:
    """The events; what is under way until the first of them is displayed."""
    with display:
        first = next(events)
    yield first
    yield from events


def _reported(events: Events, reports: list[Report]) -> int:
    """Deliver the events; the exit code of the last one."""
    fanout = Fanout(reports)
    code = 0

    def receive(event: Event) -> None:
        nonlocal code
        fanout(event)
        if isinstance(event, PowerEnded | CorruptionEnded):
            code = event.exit_code

    try:
        deliver(events, receive)
    except KeyError as error:
        raise click.UsageError(str(error.args[0])) from error
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    except (AdapterError, CannotRunError) as error:
        raise CouldNot(str(error)) from error
    finally:
        fanout.close()
    return reported(fanout, code)


def _corpus(folder: Path) -> dict[str, list[corpus.StoredCase]]:
    """The cases of a corpus, in a folder that is made if need be; a usage error when one of its plans is damaged."""
    writable_folder(folder, "--promote")
    try:
        return corpus.cases([folder], SUITES.values())
    except PlanError as error:
        raise click.UsageError(clean(str(error))) from error


def _promote(plans: Path, known: dict[str, list[corpus.StoredCase]], to: Path, *, err: bool) -> None:
    """Put the plans of mutants that no plan of the corpus notices, nor one of those before, into the corpus."""
    chosen: list[tuple[Path, Plan]] = []
    for folder in sorted(plans.iterdir()):
        mutant = MUTANTS[folder.name]
        (path,) = minimal_plans(folder)
        noticing = noticing_plan(mutant, known)
        if noticing:
            click.echo(f"{mutant.name} is noticed by {clean(noticing.path.name)} already", err=err)
            continue
        one = corpus.read(path)
        known[one.suite.name] += [corpus.StoredCase(path, number, one.seed, rows) for number, rows in one.cases.items()]
        chosen.append((path, one))
    if chosen:
        print_promoted(promote_plans(chosen, to, "--promote"), to, err=err)
    else:
        click.echo("Nothing was promoted.", err=err)
