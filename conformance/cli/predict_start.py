"""The command ``predict start``: where a group's consumers start."""

from __future__ import annotations

from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import finish
from rocketmq_conformance.conformance.cli.predict_options import (
    client_option,
    could_not,
    facts_of,
    group_option,
    max_repeat_option,
    max_skip_option,
    name_servers_argument,
    patience_option,
    state_option,
    topics_option,
)
from rocketmq_conformance.conformance.cli.written_page import format_option, write
from rocketmq_conformance.models.release import Release

#: What --from may be besides a time.
WHERES = {"last": "CONSUME_FROM_LAST_OFFSET", "first": "CONSUME_FROM_FIRST_OFFSET"}


@click.command()
@name_servers_argument
@group_option
@topics_option
@client_option
@click.option(
    "--from",
    "where",
    metavar="last|first|TIMESTAMP",
    help="ConsumeFromWhere, or the consume timestamp (yyyyMMddHHmmss); what members say, or last, unless given.",
)
@click.option("--zone", default="UTC", show_default=True, help="Time zone of the client, for a consume timestamp.")
@click.option("--model", type=click.Choice(["clustering", "broadcasting"]), help="Message model.")
@click.option("--kind", type=click.Choice(["push", "orderly", "lite", "pull", "pop", "grpc"]), help="Kind of consumer.")
@max_skip_option
@max_repeat_option
@patience_option
@state_option
@format_option
@could_not
def start(
    name_servers: str | None,
    group: str | None,
    topics: tuple[str, ...],
    client: Release | None,
    where: str | None,
    zone: str,
    model: str | None,
    kind: str | None,
    max_skip: int | None,
    max_repeat: int | None,
    patience: float,
    path: Path | None,
    form: str,
) -> None:
    """Predict where consumers of a group start in each queue, why, and what they consume again or skip.

    NAMESRV is the cluster's name server, HOST:PORT. What is consumed again or skipped is counted from where the group
    was to start: its stored offset, or what ConsumeFromWhere says.
    """
    from rocketmq_conformance.conformance.predict.api import consumer_of
    from rocketmq_conformance.conformance.predict.documents import start_document
    from rocketmq_conformance.conformance.predict.pages import start_page
    from rocketmq_conformance.conformance.predict.start import predict_start
    from rocketmq_conformance.models.client.start import TIMESTAMP
    from rocketmq_conformance.models.client.timestamp import parse_timestamp

    timestamp = where if where is not None and where not in WHERES else None
    time = None
    if timestamp is not None:
        try:
            time = parse_timestamp(timestamp, zone)
        except (LookupError, ValueError, OSError) as error:
            raise click.BadParameter(f"there is no time zone {zone!r}", param_hint="--zone") from error
        if time is None:
            raise click.BadParameter(
                f"write last, first, or a time such as 20260131120000, not {timestamp!r}", param_hint="--from"
            )
    facts = facts_of(name_servers, path, group, topics, time, patience=patience)
    consumer = consumer_of(
        facts,
        client=client,
        kind=kind or "",
        model=model or "",
        where=TIMESTAMP if timestamp is not None else WHERES.get(where or "", ""),
        timestamp=timestamp,
        zone=zone,
    )
    prediction = predict_start(facts, consumer)
    write(form, lambda: start_page(prediction), lambda: start_document(prediction))
    beyond = [
        (prediction.repeats, max_repeat),
        (prediction.skips, max_skip),
    ]
    finish(1 if any(most is not None and count > most for count, most in beyond) else 0)
