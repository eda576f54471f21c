"""Makes a page from stored events, for the command ``report``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot, reported
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.reports import html, jsonl
from rocketmq_conformance.reports.campaign import CampaignReport
from rocketmq_conformance.reports.console import ConsoleReport
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.fanout import Fanout
from rocketmq_conformance.reports.measurement_event import FolkloreStarted, PowerStarted
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.whole_file import write_whole


def write_page(events: Path, out: Path | None, *, verbose: bool) -> int:
    """Write the page of a folder or file of events, by default beside them, and say where it is; the exit code.

    With ``verbose`` everything that the run or campaign would have printed is printed, too.
    """
    events = events / jsonl.NAME if events.is_dir() else events
    summary = summary_of(events)
    out = out or events.with_name(html.NAME)
    if out.is_dir():
        raise click.UsageError(f"{out} is a folder: name a file with --out.")
    if out.exists() and out.samefile(events):
        raise click.UsageError(f"{out} holds the events themselves: name another file with --out.")
    try:
        write_whole(out, html.render(summary))
    except OSError as error:
        raise CouldNot(f"Nothing can be written to {out} ({error.strerror}): name another file with --out.") from error
    conclusion = summary.conclusion()
    say(f"{out}  ({conclusion.verdict}{f': {conclusion.reason}' if conclusion.reason else ''})")
    return _print(events, summary) if verbose else 0


def _print(events: Path, summary: RunSummary) -> int:
    """Print what the run or campaign would have printed with --verbose; the exit code."""
    campaign = any(address for _, address in summary.ended)
    printed = Fanout([(CampaignReport if campaign else ConsoleReport)(sys.stdout, verbose=True)])
    for event in _events_of(events):
        printed(event)
    printed.close()
    return reported(printed, 0)


def summary_of(events: Path) -> RunSummary:
    """The summary of a file of events, or of the folder that it is in; usage errors for any other file."""
    events = events / jsonl.NAME if events.is_dir() else events
    summary = RunSummary()
    for event in _events_of(events):
        if isinstance(event, PowerStarted):
            raise click.UsageError(f"{events} is a measurement of mutants: a page shows a run or a campaign.")
        if isinstance(event, FolkloreStarted):
            raise click.UsageError(f"{events} is the folklore, whose report is the page beside it.")
        summary.add(event)
    if summary.header is None:
        raise click.UsageError(f"{events} has no whole event: there is nothing to show.")
    return summary


def _events_of(events: Path) -> Iterator[Event]:
    """The events of a file; usage errors for anything else."""
    try:
        yield from jsonl.stream(events)
    except FileNotFoundError as error:
        raise click.UsageError(f"There is no {events}: name the folder of a run, or its {jsonl.NAME}.") from error
    except OSError as error:
        raise click.UsageError(f"{events} cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
