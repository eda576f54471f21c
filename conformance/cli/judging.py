"""Judging an address from the command line: the run's events become reports, and its verdict the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing

import click

from rocketmq_conformance.conformance import api
from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, ShowLine
from rocketmq_conformance.conformance.cli.exit import CouldNot, finish, reported
from rocketmq_conformance.conformance.cli.options import Judging, writable_folder
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.runner import Events, deliver
from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import html, jsonl, junit, markdown
from rocketmq_conformance.reports.console import ConsoleReport
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.fanout import Fanout, Report
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.start_display import StartDisplay
from rocketmq_conformance.suites.declare.reach import UnreachableRuleError
from rocketmq_conformance.suites.declare.suite import Suite


def judge(
    suites: Sequence[Suite],
    options: Options,
    judging: Judging,
    *,
    planned: Profile | None = None,
    named: bool = False,
    rule: str = "",
    on_line: ShowLine | None = None,
    workers: int = 1,
) -> None:
    """Judge the address of the options and end the process with the run's exit code.

    ``planned`` is the profile that the plans were written for; ``named`` says that the user chose the suites, so
    that those which the implementation does not offer are reported instead of left out. ``rule`` is the id of a rule:
    of the suites only those are run that can reach it. ``on_line`` is called with every line to and from an
    implementation that is talked to by lines. ``workers`` suites are played at a time.
    """
    display = StartDisplay(sys.stderr)
    events = api.judge(
        options.address,
        suites,
        options,
        releases=judging.overrides,
        patience=judging.patience,
        max_wait=judging.max_wait,
        start_timeout=judging.start_timeout,
        on_start=display,
        on_line=on_line,
        planned=planned,
        named=named,
        rule=rule,
        workers=workers,
    )
    with closing(events):
        try:
            with display:
                header = next(events)
            if options.out:
                writable_folder(options.out)
            code = _report(header, events, options, judging)
        except (AddressError, UnreachableRuleError) as error:
            raise click.UsageError(str(error)) from error
        except (AdapterError, CannotRunError) as error:
            raise CouldNot(str(error)) from error
        except OSError as error:
            raise CouldNot(
                f"Writing the run failed ({error}): free the disk or name another folder with --out."
            ) from error
    finish(code)


def _report(header: Event, events: Events, options: Options, judging: Judging) -> int:
    """Make the reports; the exit code."""
    summary = RunSummary()
    human = judging.form == "human"
    reports: list[Report] = [
        ConsoleReport(sys.stdout, verbose=judging.verbose) if human else jsonl.JsonlReport(sys.stdout)
    ]
    if options.out:
        reports.append(jsonl.JsonlReport.to(options.out / jsonl.NAME))
        reports.append(junit.JunitReport(options.out / junit.NAME))
        reports.append(html.HtmlReport(options.out / html.NAME))
        reports.append(markdown.MarkdownReport(options.out))
    fanout = Fanout(reports)

    def receive(event: Event) -> None:
        summary.add(event)
        fanout(event)

    try:
        receive(header)
        deliver(events, receive)
    finally:
        fanout.close()
    return reported(fanout, summary.conclusion().exit_code)
