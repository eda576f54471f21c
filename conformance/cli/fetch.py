"""The command ``fetch``: gets the jars of real clients and brokers before they are needed."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.exit import COULD_NOT_RUN, CouldNot, finish
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.conformance.startup import starting
from rocketmq_conformance.conformance.targets import maven
from rocketmq_conformance.conformance.targets.address import parse_address
from rocketmq_conformance.conformance.targets.address_kinds import JavaClientAddress, ReleasedBrokerAddress
from rocketmq_conformance.conformance.targets.broker.launch_config import maven_version
from rocketmq_conformance.conformance.targets.java_client.release import published_version
from rocketmq_conformance.conformance.targets.maven import Wanted
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.text import first_names


def client_jars(version: str) -> list[Wanted]:
    """What a real client needs."""
    return [Wanted(("rocketmq-client",), published_version(version))]


def broker_jars(release: Release) -> list[Wanted]:
    """What a real broker needs, and a name server beside it."""
    version = maven_version(release)
    return [Wanted((artifact,), version) for artifact in ("rocketmq-broker", "rocketmq-namesrv")]


def fetch_jars(wanted: Iterable[Wanted]) -> dict[Wanted, str]:
    """Get jars, and show how far that is; why Maven cannot get some. CannotRunError when there is no Maven."""
    from rocketmq_conformance.reports.start_display import StartDisplay  # --help does not need it

    with StartDisplay(sys.stderr) as display, starting(None, display):
        return maven.fetch(wanted)


def _jars(context: click.Context, option: click.Parameter, addresses: tuple[str, ...]) -> dict[Wanted, str]:
    """What addresses need, each with the first one that needs it."""
    wanted: dict[Wanted, str] = {}
    for address in addresses:
        try:
            match parse_address(address):
                case JavaClientAddress(version=version):
                    needed = client_jars(version)
                case ReleasedBrokerAddress(release=release):
                    needed = broker_jars(release)
                case _:
                    raise ValueError("it is not started from jars")
        except ValueError as error:
            raise click.BadParameter(
                f"Of {address} nothing can be fetched ({str(error).rstrip('.')}): name java-client:VERSION or "
                "broker:VERSION."
            ) from error
        for one in needed:
            wanted.setdefault(one, address)
    return wanted


@click.command()
@click.argument("wanted", nargs=-1, required=True, metavar="ADDRESS...", callback=_jars)
def fetch(wanted: dict[Wanted, str]) -> None:
    """Get the jars of each ADDRESS now, and all at once: where the network is not there later, or a job caches them.

    ADDRESS is java-client:VERSION or broker:VERSION, such as java-client:5.5.0. Maven keeps what it downloads.
    """
    try:
        reasons = fetch_jars(wanted)
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    for one, reason in reasons.items():
        say(f"{wanted[one]}: Maven cannot get {one}: {reason}", err=True)
    if reasons:
        finish(COULD_NOT_RUN)
    say(f"The jars are here: {first_names(dict.fromkeys(wanted.values()))}.")
