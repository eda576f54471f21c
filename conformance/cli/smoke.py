"""The command ``smoke``: runs a few short cases of every suite, or takes a first look at a program."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence

import click

from rocketmq_conformance.conformance.cli.options import (
    Judging,
    address_argument,
    address_through,
    chosen_suites,
    judging_options,
    suites_option,
    through_option,
)
from rocketmq_conformance.reports.text import shortened

#: Cases and steps per suite of a smoke run.
SMOKE_CASES, SMOKE_STEPS = 3, 10
#: Characters of a line that are printed.
LONGEST_SHOWN = 1000


@click.command()
@address_argument
@through_option
@suites_option
@judging_options
def smoke(address: str, through: str | None, patterns: Sequence[str], judging: Judging) -> None:
    """Run a few short cases of every suite, to check that the adapter at ADDRESS is wired up.

    Every operation is asked for, and every rule that covering plans show; what differs is not shrunk. Of exec:COMMAND
    every line to (>) and from (<) the program is printed, on standard error. Of client:COMMAND, and of a consumer in
    Python, one member is started, and what was seen and what was missed is printed.
    """
    address = address_through(address, through)
    if address.startswith(("client", "python:")) and _is_program(address):
        _look_at_program(address, judging.form)
        return
    # The engine, with all models and suites, is imported when a command needs it: --help does not.
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.options import Options

    options = Options(address, 1, SMOKE_CASES, SMOKE_STEPS, brief=True)
    judge(chosen_suites(patterns, None), options, judging, named=bool(patterns), on_line=_show)


def _show(way: str, line: str) -> None:
    """Print a line to (">") or from ("<") an implementation, cut at what a reader takes in."""
    click.echo(f"{way} {shortened(line, LONGEST_SHOWN)}", err=True)


def _is_program(address: str) -> bool:
    """Does an address name a program? An error is left to those who open it."""
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.targets.address import AddressError, is_program

    try:
        return is_program(address)
    except (AddressError, CannotRunError):
        return False


def _look_at_program(address: str, form: str) -> None:
    """Start one member of a ``client:`` address, and print how far it gets: as lines, or as JSON Lines."""
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.targets.address import AddressError, open_address
    from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
    from rocketmq_conformance.conformance.targets.client_program.smoke import Seen, look_at
    from rocketmq_conformance.reports.event import COULD_NOT_RUN, EXIT_CODES

    try:
        program = open_address(address)
        assert isinstance(program, ClientProgram)
        found, suite = look_at(program)
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        found, suite = [Seen("connected and sent a heartbeat", False, str(error), needed=True)], ""
    able = all(one.seen or not one.needed for one in found)
    for one in found:
        if form == "jsonl":
            click.echo(json.dumps(one._asdict()))
        else:
            click.echo(f"{'seen' if one.seen else 'missed':7} {one.what}" + ("" if one.seen else f": {one.hint}"))
    if form != "jsonl" and able:
        command = shlex.join(("rocketmq-conformance", "run", address, "-k", suite, "--max-time", "120"))
        differs = "" if all(one.seen for one in found) else "; what was missed differs there"
        click.echo(f"next    {command}{differs}")
    if not able:
        sys.exit(EXIT_CODES[COULD_NOT_RUN])
