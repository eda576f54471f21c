"""Measures for the command ``power``: mutants, or answers of an implementation that are changed on their way."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from rocketmq_conformance.conformance import api
from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.campaign.promote import minimal_plans
from rocketmq_conformance.conformance.cli.exit import CouldNot, finish, reported
from rocketmq_conformance.conformance.cli.options import writable_folder
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.conformance.cli.promoting import print_promoted, promote_plans
from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.limits import MUTANT_CASES
from rocketmq_conformance.conformance.engine.plan import Plan, PlanError
from rocketmq_conformance.conformance.engine.runner import Events, deliver
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.conformance.targets.mutation_score import measure, noticing_plan
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.corruption import CorruptionReport
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.measurement_event import CorruptionEnded, PowerEnded
from rocketmq_conformance.reports.power import PowerReport
from rocketmq_conformance.reports.start_display import StartDisplay
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options of both ways of measuring; ``cases`` per suite, None for as many as it takes by itself."""

    seed: int
    cases: int | None
    tier: str
    out: Path | None
    verbose: bool
    form: str


def corrupt(
    address: str, suites: Sequence[Suite], asked: Asked, releases: Mapping[str, str], start_timeout: float
) -> None:
    """Change answers of an implementation, print what is noticed, and end the command."""
    display = StartDisplay(sys.stderr)
    events = api.corrupt(
        address,
        suites,
        seed=asked.seed,
        cases=asked.cases,
        releases=releases,
        start_timeout=start_timeout,
        on_start=display,
    )
    human = CorruptionReport(sys.stdout, verbose=asked.verbose)
    finish(_reported(_show_start(events, display), _reports(human, asked)))


def run_mutants(names: Sequence[str], asked: Asked, to: Path | None) -> None:
    """Run mutants, print which are noticed, and end the command; minimal plans go to a folder, if there is one."""
    if str(to) in MUTANTS:
        raise click.UsageError(f"--promote takes {str(to)!r} for a folder: write the names of mutants before it.")
    reports = _reports(PowerReport(sys.stdout, verbose=asked.verbose), asked)
    cases = MUTANT_CASES if asked.cases is None else asked.cases
    if to is None:
        finish(_reported(measure(names, asked.seed, cases, tier=asked.tier), reports))
        return
    known = _corpus(to)
    with TemporaryDirectory(prefix="rocketmq-conformance-") as plans:
        code = _reported(measure(names, asked.seed, cases, Path(plans), tier=asked.tier), reports)
        _promote(Path(plans), known, to, err=asked.form != "human")
    finish(code)


def _reports(human: Report, asked: Asked) -> list[Report]:
    """The reports that were asked for, ``human`` for people."""
    reports = [human if asked.form == "human" else jsonl.JsonlReport(sys.stdout)]
    if asked.out:
        reports.append(jsonl.JsonlReport.to(writable_folder(asked.out) / "power.jsonl"))
    return reports


def _show_start(events: Events, display: StartDisplay) -> Events:
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
        raise click.UsageError(str(error)) from error


def _promote(plans: Path, known: dict[str, list[corpus.StoredCase]], to: Path, *, err: bool) -> None:
    """Put the plans of mutants that no plan of the corpus notices, nor one of those before, into the corpus."""
    chosen: list[tuple[Path, Plan]] = []
    for folder in sorted(plans.iterdir()):
        mutant = MUTANTS[folder.name]
        (path,) = minimal_plans(folder)
        noticing = noticing_plan(mutant, known)
        if noticing:
            say(f"{mutant.name} is noticed by {noticing.path.name} already", err=err)
            continue
        one = corpus.read(path)
        known[one.suite.name] += [corpus.StoredCase(path, number, one.seed, rows) for number, rows in one.cases.items()]
        chosen.append((path, one))
    if chosen:
        print_promoted(promote_plans(chosen, to, "--promote"), to, err=err)
    else:
        say("Nothing was promoted.", err=err)
