"""The command ``power``: runs the mutants and prints which of them are noticed."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from rocketmq_conformance.conformance.campaign.promote import minimal_plans
from rocketmq_conformance.conformance.cli.campaign_promote import corpus_folder, print_promoted, promote_plans
from rocketmq_conformance.conformance.cli.exit import finish, reported
from rocketmq_conformance.conformance.cli.options import format_option, out_option, seed_option, writable_folder
from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.plan import Plan, PlanError
from rocketmq_conformance.conformance.engine.runner import deliver
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.conformance.targets.mutation_score import measure, noticing_plan
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import Event, PowerEnded
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.power import PowerReport
from rocketmq_conformance.reports.text import clean
from rocketmq_conformance.suites.declare.discovery import SUITES

#: The value of --promote without a folder.
DEFAULT = "-"


@click.command()
@click.argument("names", nargs=-1)
@seed_option
@click.option(
    "--cases", type=click.IntRange(min=1), default=2000, show_default=True, help="Cases per suite and mutant."
)
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
    cases: int,
    promote: str | None,
    out: Path | None,
    verbose: bool,
    form: str,
) -> None:
    """Run the mutants (all, or NAMES) and print which of them were noticed, and how soon.

    NAMES are names of mutants, or patterns: a part of the name, or such as 'zero-*'.
    """
    if promote in MUTANTS:
        raise click.UsageError(f"--promote takes {promote!r} for a folder: write the names of mutants before it.")
    to = None if promote is None else corpus_folder() if promote == DEFAULT else Path(promote)
    seed = 1 if seed is None else seed
    reports: list[Report] = [
        PowerReport(sys.stdout, verbose=verbose) if form == "human" else jsonl.JsonlReport(sys.stdout),
    ]
    if out:
        reports.append(jsonl.JsonlReport.to(writable_folder(out) / "power.jsonl"))
    if to is None:
        finish(_measured(names, seed, cases, reports, None))
        return
    known = _corpus(to)
    with TemporaryDirectory(prefix="rocketmq-conformance-") as plans:
        code = _measured(names, seed, cases, reports, Path(plans))
        _promote(Path(plans), known, to, err=form != "human")
    finish(code)


def _measured(names: tuple[str, ...], seed: int, cases: int, reports: list[Report], plans: Path | None) -> int:
    """Measure and report; the exit code."""
    fanout = Fanout(reports)
    code = 0

    def receive(event: Event) -> None:
        nonlocal code
        fanout(event)
        if isinstance(event, PowerEnded):
            code = event.exit_code

    try:
        deliver(measure(names, seed, cases, plans), receive)
    except KeyError as error:
        raise click.UsageError(str(error.args[0])) from error
    finally:
        fanout.close()
    return reported(fanout, code)


def _corpus(folder: Path) -> dict[str, list[corpus.CorpusCase]]:
    """The cases of a corpus, in a folder that is made if need be; a usage error when one of its plans is damaged."""
    writable_folder(folder, "--promote")
    try:
        return corpus.cases([folder], SUITES.values())
    except PlanError as error:
        raise click.UsageError(clean(str(error))) from error


def _promote(plans: Path, known: dict[str, list[corpus.CorpusCase]], to: Path, *, err: bool) -> None:
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
        known[one.suite.name] += [corpus.CorpusCase(path, number, one.seed, rows) for number, rows in one.cases.items()]
        chosen.append((path, one))
    if chosen:
        print_promoted(promote_plans(chosen, to, "--promote"), to, err=err)
    else:
        click.echo("Nothing was promoted.", err=err)
