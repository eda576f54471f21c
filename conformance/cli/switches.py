"""The command ``switches``: what changes from one release to another."""

from __future__ import annotations

import click

from rocketmq_conformance.conformance.cli.written_page import format_option, write

SIDES = ("client", "broker")


@click.command()
@click.argument("releases", metavar="FROM..TO")
@click.option(
    "--side", "sides", multiple=True, type=click.Choice(SIDES), help="Of clients or brokers; both unless given."
)
@format_option
def switches(releases: str, sides: tuple[str, ...], form: str) -> None:
    """Show what changes for consumers and in brokers from the release FROM to the release TO, as the model has it.

    Each change has the number of its switch, its rules (`explain RULE`) and the place in the Java source.
    """
    from rocketmq_conformance.conformance.release_axis.switch_page import switches_document, switches_page
    from rocketmq_conformance.models.release import Release

    one, dots, other = releases.partition("..")
    try:
        first, last = Release.parse(one), Release.parse(other)
    except ValueError as error:
        raise click.BadParameter(
            str(error) if dots else "write two releases, such as 5.3.3..5.5.0", param_hint="FROM..TO"
        ) from error
    wanted = sides or SIDES
    write(form, lambda: switches_page(first, last, wanted), lambda: switches_document(first, last, wanted))
