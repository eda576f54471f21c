"""Judging an address: it is opened, asked who it is, judged, reported, and the process ends with the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import click

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Hello
from rocketmq_conformance.conformance.cli.exit import CouldNot, finish, reported
from rocketmq_conformance.conformance.cli.options import Judging, writable_folder
from rocketmq_conformance.conformance.engine.handshake import clock_notes, hello_of, profile_of
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.runner import Runner
from rocketmq_conformance.conformance.engine.stage import LONGEST_WAIT, Stage
from rocketmq_conformance.conformance.targets.address import AddressError, open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import html, jsonl, junit
from rocketmq_conformance.reports.console import ConsoleReport
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.run_summary import Ledger
from rocketmq_conformance.suites.declare.suite import Suite


def judge(
    suites: Sequence[Suite],
    options: Options,
    judging: Judging,
    *,
    planned: Profile | None = None,
    named: bool = False,
) -> None:
    """Judge the address of the options and end the process with the run's exit code.

    ``planned`` is the profile that the plans were written for; ``named`` says that the user chose the suites, so
    that those which the implementation does not offer are told instead of left out.
    """
    stage = _open(options.address, judging)
    said = tuple(word for item in judging.overrides.items() for word in ("--with", "=".join(item)))
    if judging.max_wait != LONGEST_WAIT:
        said += ("--max-wait", f"{judging.max_wait:g}")
    options = replace(options, judged_as=said)
    try:
        hello = hello_of(stage)
        profile = profile_of(hello, judging.overrides)
        stage.use(profile)
        options = replace(options, notes=(*options.notes, *clock_notes(hello, judging.max_wait)))
        if planned is not None and planned != profile:
            note = f"the plan was written for {planned}; it is judged by {profile}"
            options = replace(options, notes=(*options.notes, note))
        if not named and planned is None:
            suites = [suite for suite in suites if not hello.refuses(suite)] or suites
        if options.out:
            writable_folder(options.out)
        code = _run(stage, hello, profile, options, suites, judging.form)
    except (AdapterError, CannotRunError) as error:
        raise CouldNot(str(error)) from error
    except OSError as error:
        raise CouldNot(f"Writing the run failed ({error}): free the disk or name another folder with --out.") from error
    finally:
        stage.close()
    finish(code)


def _open(address: str, judging: Judging) -> Stage:
    try:
        return Stage(open_address(address), Profile(), judging.patience, judging.max_wait)
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        raise CouldNot(str(error)) from error


def _run(stage: Stage, hello: Hello, profile: Profile, options: Options, suites: Sequence[Suite], form: str) -> int:
    """Run the suites and report; the exit code."""
    ledger = Ledger()
    reports: list[Report] = [ConsoleReport(sys.stdout) if form == "human" else jsonl.JsonlReport(sys.stdout)]
    if options.out:
        reports.append(jsonl.JsonlReport.to(options.out / jsonl.NAME))
        reports.append(junit.JunitReport(options.out / junit.NAME))
        reports.append(html.HtmlReport(options.out / html.NAME))
    fanout = Fanout(reports)

    def emit(event: Event) -> None:
        ledger.add(event)
        fanout(event)

    try:
        Runner(stage, hello, profile, options, emit).run(suites)
    finally:
        fanout.close()
    return reported(fanout, ledger.conclusion().exit_code)
