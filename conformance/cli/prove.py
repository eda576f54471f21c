"""The commands ``prove …``: check the model itself against real RocketMQ, and write the page of the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.exit import COULD_NOT_RUN, CouldNot, finish
from rocketmq_conformance.conformance.cli.options import release_names
from rocketmq_conformance.conformance.proof import broker as brokers_proof
from rocketmq_conformance.conformance.proof import client_broker_matrix, java_clock, proof_docs
from rocketmq_conformance.conformance.proof import java as java_proof
from rocketmq_conformance.conformance.proof import whole as whole_proof
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.proof import ProofRow, write_rows
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side

DIFFERENT = 1
PAGE = Path("docs/proof.md")
_CLIENT_SUITES = tuple(name for name, suite in SUITES.items() if suite.side is Side.CLIENT)


def _releases(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Releases that are given as arguments, in their own spelling."""
    try:
        for text in values:
            Release.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return values


def _rows_file(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """A file that can be written once there are rows."""
    if path is not None and path.is_dir():
        raise click.BadParameter(f"{path} is a folder: name a file.")
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}: make it first.")
    return path


_releases_argument = click.argument("releases", nargs=-1, callback=_releases)
_out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    callback=_rows_file,
    metavar="FILE",
    help="File for the rows, one JSON object a line.",
)


@click.group()
def prove() -> None:
    """Check the model itself against real RocketMQ. Java and Maven are needed, except for `page`.

    Exit codes: 0 all agree, 1 something differs, 2 usage, 4 a release could not be judged.
    """


@prove.command()
@_releases_argument
@_out_option
@click.option("--stateful", is_flag=True, help="Run every release statefully, which takes twice as long.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=java_proof.WORKERS,
    help="Processes, each with a Java machine.  [default: one per CPU, up to 4]",
)
@click.option(
    "--suite", type=click.Choice(_CLIENT_SUITES), default=None, metavar="NAME", help="Only stateful runs of this suite."
)
@click.option(
    "--real-clock", is_flag=True, help="Only stateful runs of suites that depend on time, on the clock of the machine."
)
def java(
    releases: tuple[str, ...], out: Path | None, stateful: bool, workers: int, suite: str | None, real_clock: bool
) -> None:
    """Ask the classes of real Java clients.

    RELEASES are such as 4.9.8 5.5.0; without them it is every release.
    """
    if real_clock and suite not in (None, *java_clock.TIMED):
        raise click.UsageError(f"{suite} does not depend on time; what does: {', '.join(java_clock.TIMED)}.")
    chosen = releases or java_proof.RELEASES
    stateful_ones = frozenset(chosen) if stateful else java_proof.STATEFUL
    _end(settle(lambda: java_proof.prove_all(chosen, workers, stateful_ones, suite or "", real_clock), out))


@prove.command()
@_releases_argument
@_out_option
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=brokers_proof.WORKERS,
    show_default=True,
    help="Releases side by side.",
)
def broker(releases: tuple[str, ...], out: Path | None, workers: int) -> None:
    """Ask real brokers, started from jars.

    RELEASES are such as 4.9.7 5.5.0; without them it is four.
    """
    _end(settle(lambda: brokers_proof.prove(releases or brokers_proof.RELEASES, workers), out))


@prove.command()
@click.option("--clients", callback=release_names, metavar="R,R,…", help="Client releases, such as 4.9.7,5.5.0.")
@click.option("--brokers", callback=release_names, metavar="R,R,…", help="Broker releases, such as 4.9.7,5.5.0.")
@_out_option
def pairs(clients: tuple[str, ...], brokers: tuple[str, ...], out: Path | None) -> None:
    """Ask every pair of a real client and a real broker.

    They talk over TCP. Without --clients and --brokers it is ten releases of both.
    """
    known = client_broker_matrix.RELEASES
    _end(settle(lambda: client_broker_matrix.prove(clients or known, brokers or known), out))


@prove.command()
@_releases_argument
@click.option("--fake", is_flag=True, help="On the fake broker instead of real ones.")
@click.option("--scripted", is_flag=True, help="On fake brokers whose faults come from a table.")
@click.option("--only", default="", metavar="TEXT", help="Only the scripted cases that have this in their name.")
@_out_option
def whole(releases: tuple[str, ...], fake: bool, scripted: bool, only: str, out: Path | None) -> None:
    """Run whole Java consumers, with threads and sockets.

    RELEASES are such as 4.9.7 5.5.0, of consumer and broker alike; without them it is ten, or with --scripted every
    client release.
    """
    if fake and scripted:
        raise click.UsageError("--fake and --scripted contradict each other: give one of them.")
    if only and not scripted:
        raise click.UsageError("--only picks scripted cases: give --scripted too.")
    chosen = releases or (java_proof.RELEASES if scripted else whole_proof.RELEASES)
    _end(settle(lambda: whole_proof.prove_releases(chosen, fake=fake, scripted=scripted, only=only), out))


@prove.command()
@click.argument("rows", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=PAGE, show_default=True, metavar="FILE", help="The page."
)
def page(rows: tuple[Path, ...], out: Path) -> None:
    """Write the page of what was proven.

    ROWS are the files that the other commands wrote with --out.
    """
    try:
        out.write_text(proof_docs.page_of(rows), "utf-8")
    except OSError as error:
        raise click.UsageError(f"{error.filename} cannot be used: {error.strerror}.") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def settle(proof: Callable[[], Iterable[ProofResult]], out: Path | None) -> int:
    """Print the result of each release and store the rows of all; the exit code."""
    began = time.monotonic()
    rows: list[ProofRow] = []
    differences = missing = 0
    try:
        for proven in proof():
            click.echo("\n".join(proven.lines))
            rows += proven.rows
            differences += proven.differences
            missing += not proven.judged
            if out:  # at once, so that a proof that is stopped keeps what it has
                _write(out, rows)
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    click.echo(f"{time.monotonic() - began:.0f} s")
    return DIFFERENT if differences else COULD_NOT_RUN if missing else 0


def _write(out: Path, rows: Iterable[ProofRow]) -> None:
    try:
        write_rows(out, rows)
    except OSError as error:
        raise CouldNot(f"Nothing can be written to {out} ({error.strerror}): name another file with --out.") from error


def _end(code: int) -> None:
    jvm.end(code)
    finish(code)
