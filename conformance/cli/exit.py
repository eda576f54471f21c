"""How a command ends: its exit codes, and an end of the process that no thread of a Java machine delays."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cli.output import say

if TYPE_CHECKING:
    from rocketmq_conformance.reports.fanout import Fanout

UNDECIDED, COULD_NOT_RUN, FAULT = 3, 4, 5
KIT_FAULT = "This is a fault of the kit, not of what is judged: please report it with the lines above."


class CouldNot(click.ClickException):
    """Something that is needed is missing; one sentence, exit code 4."""

    exit_code = COULD_NOT_RUN


class Interrupted(click.ClickException):
    """Ctrl-C was pressed before there was anything to report; one sentence, exit code 3."""

    exit_code = UNDECIDED


def reported(fanout: Fanout, code: int) -> int:
    """Name the reports that failed; the exit code of a run that would otherwise end with ``code``."""
    for fault in fanout.faults:
        say(fault, err=True)
    if any(not isinstance(error, OSError) for error in fanout.errors):
        return FAULT
    # a closed standard output does not affect the verdict; a full disk does
    if any(not isinstance(error, BrokenPipeError) for error in fanout.errors):
        return COULD_NOT_RUN
    return code


def finish(code: int) -> None:
    """End the process; a Java machine's threads must not keep it alive."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # standard output is closed: nothing can be written at the end either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if "jpype" in sys.modules:
        from rocketmq_conformance.conformance.targets.java_client import jvm  # only where there may be a machine

        jvm.end(code)
    sys.exit(code)
