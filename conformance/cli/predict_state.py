"""The command ``predict state``: the facts that predictions are made from, as a file to keep or to share."""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.output import say_text
from rocketmq_conformance.conformance.cli.predict_options import (
    could_not,
    facts_of,
    group_option,
    in_ms,
    name_servers_argument,
    patience_option,
    topics_option,
)


@click.command()
@name_servers_argument
@group_option
@topics_option
@click.option("--time", type=int, metavar="MS", help="Search every queue for this time (ms since the epoch), too.")
@click.option(
    "--names", is_flag=True, help="Keep the names of the group, its topics, brokers and members, and name servers."
)
@click.option("--out", type=click.Path(path_type=Path), help="The file; standard output unless given.")
@patience_option
@could_not
def state(
    name_servers: str | None,
    group: str | None,
    topics: tuple[str, ...],
    time: int | None,
    names: bool,
    out: Path | None,
    patience: float,
) -> None:
    """Write what is known about a group to a file, for --state.

    It has offsets, store times and releases, and no messages; names are replaced by others.
    """
    from rocketmq_conformance.conformance.predict.facts import masked, to_json

    facts = facts_of(
        name_servers, None, group, topics, None if time is None else in_ms(time, "--time"), patience=patience
    )
    text = to_json(facts if names else masked(facts))
    if out is None:
        say_text(text)
        return
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise CouldNot(f"Nothing can be written to {out} ({error.strerror}): name another file with --out.") from error
