"""The command ``smoke``: runs a few short cases of every suite, or takes a first look at a program."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cli.options import (
    Judging,
    address_argument,
    address_through,
    chosen_suites,
    expected_option,
    judging_options,
    quirks_option,
    read_expected,
    read_rulebook,
    rule_named,
    rule_option,
    rulebook_option,
    suite_notes,
    suites_option,
    through_option,
)
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.reports.text import shortened

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.adapter import Adapter
    from rocketmq_conformance.conformance.targets.client_program.smoke import FirstLook
    from rocketmq_conformance.suites.declare.suite import Suite

#: Cases and steps per suite of a smoke run.
SMOKE_CASES, SMOKE_STEPS = 3, 10
#: Characters of a line that are printed.
LONGEST_SHOWN = 1000


@click.command()
@address_argument
@through_option
@suites_option
@rule_option
@expected_option
@quirks_option
@rulebook_option
@judging_options
def smoke(
    address: str,
    through: str | None,
    patterns: tuple[str, ...],
    rule_id: str | None,
    expected: Path | None,
    quirks: bool,
    rulebook: str | None,
    judging: Judging,
) -> None:
    """Check that the adapter at ADDRESS is wired up, by a few short cases of every suite.

    The cases have every operation, and every rule that covering plans show. What differs is not shrunk.

    Of exec:COMMAND every line to (>) and from (<) the program is printed, on standard error.

    Of client:COMMAND, and of a consumer in Python, nothing is judged. One member is started, of the kind that the
    chosen suites are about, and what was seen and what was missed is printed.
    """
    address = address_through(address, through)
    suites = chosen_suites(patterns, rule_id)
    if _is_program(address):
        if expected or quirks or rulebook:
            raise click.UsageError(
                "Of a program nothing is judged yet: leave --expected, --quirks and --rulebook to `run`."
            )
        _look_at_program(address, suites, judging)
        return
    # The engine, with all models and suites, is imported when a command needs it: --help does not.
    from rocketmq_conformance.conformance.cli.judging import judge
    from rocketmq_conformance.conformance.engine.options import Options

    options = Options(
        address,
        1,
        SMOKE_CASES,
        SMOKE_STEPS,
        notes=suite_notes(patterns),
        brief=True,
        expected=read_expected(expected) if expected else (),
        quirks=quirks,
        rulebook=read_rulebook(rulebook) if rulebook else None,
    )
    rule = rule_named(rule_id).id if rule_id else ""
    judge(suites, options, judging, named=bool(patterns or rule_id), rule=rule, on_line=_show)


def _show(way: str, line: str) -> None:
    """Print a line to (">") or from ("<") an implementation, cut at what a reader takes in."""
    say(f"{way} {shortened(line, LONGEST_SHOWN)}", err=True)


def _is_program(address: str) -> bool:
    """Does an address name a program? An error is left to those who open it."""
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.targets.address import AddressError, parse_address
    from rocketmq_conformance.conformance.targets.opener import is_program

    try:
        return is_program(parse_address(address))
    except (AddressError, CannotRunError):
        return False


def _is_over_grpc(address: str) -> bool:
    from rocketmq_conformance.conformance.targets.address import parse_address
    from rocketmq_conformance.conformance.targets.address_kinds import ClientAddress

    parsed = parse_address(address)
    return isinstance(parsed, ClientAddress) and parsed.settings.protocol == "grpc"


def _look_over_grpc(adapter: Adapter) -> FirstLook:
    from rocketmq_conformance.conformance.targets.grpc_program.adapter import GrpcProgram
    from rocketmq_conformance.conformance.targets.grpc_program.smoke import look_at

    assert isinstance(adapter, GrpcProgram)
    return look_at(adapter)


def _look_at_program(address: str, suites: Sequence[Suite], judging: Judging) -> None:
    """Start one member of a ``client:`` address, and print how far it gets: as lines, or as JSON Lines."""
    from rocketmq_conformance.conformance.adapter import CannotRunError
    from rocketmq_conformance.conformance.engine.handshake import release_choice
    from rocketmq_conformance.conformance.opening import Opening, opened
    from rocketmq_conformance.conformance.targets.address import AddressError
    from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
    from rocketmq_conformance.conformance.targets.client_program.smoke import Seen, kinds_of, look_at
    from rocketmq_conformance.reports.event import COULD_NOT_RUN, EXIT_CODES
    from rocketmq_conformance.reports.start_display import StartDisplay
    from rocketmq_conformance.suites.declare.operation import Side

    kinds = kinds_of(suites)
    over_grpc = _is_over_grpc(address)
    if not (any(suite.side is Side.GRPC for suite in suites) if over_grpc else kinds):
        such = "grpc-push" if over_grpc else "whole-push"
        raise click.UsageError(f"No chosen suite judges such programs: name another, such as {such}.")
    people = judging.form != "jsonl"
    opening = Opening(address, judging.overrides, judging.patience, judging.max_wait, judging.start_timeout)
    display = StartDisplay(sys.stderr)
    try:
        with opened(opening, [], on_start=display) as (stage, hello, profile):
            if people:
                say(f"note    {release_choice(hello, judging.overrides, profile)}")
            if over_grpc:
                found, suite = _look_over_grpc(stage.adapter)
            else:
                assert isinstance(stage.adapter, ClientProgram)
                found, suite = look_at(stage.adapter, kinds=kinds)
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        found, suite = [Seen("connected and sent a heartbeat", False, str(error), needed=True)], ""
    able = all(one.seen or not one.needed for one in found)
    for one in found:
        if people:
            say(f"{'seen' if one.seen else 'missed':7} {one.what}" + ("" if one.seen else f": {one.hint}"))
        else:
            say(json.dumps(one._asdict()))
    if people and able:
        judged_as = [word for item in judging.overrides.items() for word in ("--with", "=".join(item))]
        command = shlex.join(("rocketmq-conformance", "run", address, "-k", suite, *judged_as, "--max-time", "120"))
        differs = "" if all(one.seen for one in found) else "; what was missed differs there"
        say(f"next    {command}{differs}")
    if not able:
        sys.exit(EXIT_CODES[COULD_NOT_RUN])
