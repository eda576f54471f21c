"""The commands ``predict allocation``, ``predict reset`` and ``predict upgrade``."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot, finish
from rocketmq_conformance.conformance.cli.predict_options import (
    could_not,
    counted,
    facts_of,
    group_option,
    in_ms,
    max_repeat_option,
    max_skip_option,
    name_servers_argument,
    patience_option,
    release_option,
    state_option,
    topics_option,
)
from rocketmq_conformance.conformance.cli.written_page import format_option, write
from rocketmq_conformance.models.release import NEWEST, Release

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.predict.facts import GroupFacts

_STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM")
client_option = click.option("--client", callback=release_option, metavar="RELEASE", help="Release of the client.")


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


@click.command()
@name_servers_argument
@group_option
@topics_option
@click.option("--members", metavar="ID,ID,…", help="Client ids, instead of those of a cluster.")
@click.option("--queues", metavar="N|BROKER:N,…", help="Queues, instead of those of a cluster.")
@click.option(
    "--strategy",
    type=click.Choice(_STRATEGIES),
    default="AVG",
    show_default=True,
    help="How the group allocates queues.",
)
@click.option("--rooms", metavar="ROOM,…", help="The rooms that MACHINE_ROOM is configured with.")
@click.option("--join", "joining", multiple=True, metavar="ID", help="A client id that joins.")
@click.option("--leave", "leaving", multiple=True, metavar="ID", help="A client id that leaves.")
@client_option
@patience_option
@state_option
@format_option
@could_not
def allocation(
    name_servers: str | None,
    group: str | None,
    topics: tuple[str, ...],
    members: str | None,
    queues: str | None,
    strategy: str,
    rooms: str | None,
    joining: tuple[str, ...],
    leaving: tuple[str, ...],
    client: Release | None,
    patience: float,
    path: Path | None,
    form: str,
) -> None:
    """Predict which queues each member of a group gets, and what moves when one joins or leaves.

    Of a live group, or of --members and --queues. Exits with 1 when a queue has no owner, or more than one.
    """
    from rocketmq_conformance.conformance.predict.allocation import (
        GroupMembers,
        group_of,
        parse_queues,
        predict_allocation,
    )
    from rocketmq_conformance.conformance.predict.allocation_page import allocation_document, allocation_page
    from rocketmq_conformance.conformance.predict.api import consumer_of, refuse_pops

    if (members is None) != (queues is None):
        raise click.UsageError("--members and --queues go together: give both, or the name servers of a cluster.")
    if members is not None and queues is not None:
        if name_servers or path:
            raise click.UsageError("--members and --queues replace a cluster: name no name servers, and no --state.")
        if not _names(members):
            raise click.BadParameter("write client ids with commas between them", param_hint="--members")
        try:
            made = GroupMembers(
                members=_names(members),
                queues=parse_queues(queues),
                strategy=strategy,
                client=client or NEWEST,
                rooms=_names(rooms),
            )
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--queues") from error
    else:
        facts = facts_of(name_servers, path, group, topics, patience=patience)
        refuse_pops(facts)
        made = group_of(facts, strategy, client or consumer_of(facts).client, _names(rooms))
    prediction = predict_allocation(made, joining, leaving)
    write(form, lambda: allocation_page(prediction), lambda: allocation_document(prediction))
    finish(1 if prediction.unowned or prediction.shared else 0)


def _only(facts: GroupFacts) -> tuple[str]:
    """The one topic that a group consumes; a usage error when there are several, or none."""
    from rocketmq_conformance.conformance.predict.facts import retry_topic

    topics = [topic for topic in facts.topics if topic != retry_topic(facts.group)]
    if len(topics) != 1:
        have = f"consumes {', '.join(topics)}" if topics else "consumes none"
        raise click.UsageError(f"A reset is of one topic, and the group {have}: name it with --topic.")
    return (topics[0],)


@click.command()
@name_servers_argument
@group_option
@topics_option
@click.option(
    "--to",
    "target",
    required=True,
    metavar="end|beginning|MS",
    help="Where to; a time is in ms since 1970, such as 1769860800000.",
)
@click.option("--online/--offline", default=None, help="With or without members; as they are unless given.")
@click.option(
    "--kind",
    type=click.Choice(["push", "orderly", "lite", "pop", "grpc"]),
    help="Kind of consumer; what members say unless given.",
)
@client_option
@patience_option
@state_option
@format_option
@could_not
def reset(
    name_servers: str | None,
    group: str | None,
    topics: tuple[str, ...],
    target: str,
    online: bool | None,
    kind: str | None,
    client: Release | None,
    patience: float,
    path: Path | None,
    form: str,
) -> None:
    """Predict what a reset of a topic does, queue by queue, and to members that run. It is not made.

    Exits with 1 when a broker would refuse it, or its members ignore it.
    """
    from rocketmq_conformance.conformance.predict.api import consumer_of, usual_kind
    from rocketmq_conformance.conformance.predict.reset import AT_TIME, predict_reset
    from rocketmq_conformance.conformance.predict.reset_page import reset_document, reset_page

    is_time = re.fullmatch("[0-9]{1,19}", target) is not None
    if target not in {"end", "beginning"} and not is_time:
        raise click.BadParameter(f"write end, beginning or a time in ms, not {target!r}", param_hint="--to")
    time = in_ms(int(target), "--to") if is_time else None
    if len(topics) > 1:
        raise click.UsageError("A reset is of one topic: name it with --topic.")
    facts = facts_of(name_servers, path, group, topics, time, patience=patience)
    (topic,) = topics or _only(facts)
    if time is not None and facts.time != time:
        raise click.UsageError(f"{path} is about the time {facts.time}, not {time}: write it again with --time {time}.")
    facts = replace(facts, kind=kind or usual_kind(facts))
    prediction = predict_reset(facts, topic, AT_TIME if time is not None else target, online)
    consumer = consumer_of(facts, client=client)
    write(form, lambda: reset_page(prediction, consumer), lambda: reset_document(prediction, consumer))
    finish(0 if prediction.made else 1)


@click.command()
@name_servers_argument
@group_option
@topics_option
@click.option("--all", "every", is_flag=True, help="Every group of the cluster, instead of one.")
@click.option("--broker", "brokers", required=True, metavar="RANGE", help="Releases of brokers, such as 4.9.4..5.5.0.")
@click.option("--client", "clients", metavar="RANGE", help="Releases of the client; the group's unless given.")
@click.option("--java", type=click.IntRange(8, 99), default=17, show_default=True, help="The brokers' Java.")
@max_skip_option
@max_repeat_option
@patience_option
@state_option
@format_option
@could_not
def upgrade(
    name_servers: str | None,
    group: str | None,
    topics: tuple[str, ...],
    every: bool,
    brokers: str,
    clients: str | None,
    java: int,
    max_skip: int | None,
    max_repeat: int | None,
    patience: float,
    path: Path | None,
    form: str,
) -> None:
    """Predict what other releases of the brokers and the client change for a group in its present state.

    Exits with 1 when consumers would get another first message in any queue or, where limits are given, beyond a limit
    for any group; with 4 when a group could not be read.
    """
    from rocketmq_conformance.conformance.predict.api import access, consumer_of
    from rocketmq_conformance.conformance.predict.cluster import ReadGroups
    from rocketmq_conformance.conformance.predict.releases import range_of
    from rocketmq_conformance.conformance.predict.upgrade import predict_upgrade
    from rocketmq_conformance.conformance.predict.upgrade_page import upgrade_document, upgrade_page

    def releases(text: str, option: str) -> tuple[Release, ...]:
        try:
            return range_of(text)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint=option) from error

    wanted = releases(brokers, "--broker")
    chosen = releases(clients, "--client") if clients else ()
    if every:
        if group or path or name_servers is None:
            raise click.UsageError(
                "--all is about the groups of a cluster: name its name servers, and no group or file."
            )
        from rocketmq_conformance.conformance.predict.cluster import ClusterReader

        with ClusterReader(name_servers, access(), patience) as reader, counted("groups") as progress:
            read = reader.read_all(topics, progress)
    else:
        read = ReadGroups((facts_of(name_servers, path, group, topics, patience=patience),))
    predictions = []
    with counted("predictions") as progress:
        for facts in read.known:
            consumer = consumer_of(facts)
            predictions.append(predict_upgrade(facts, consumer, wanted, chosen or (consumer.client,), java))
            progress(len(predictions), len(read.known))
    write(
        form,
        lambda: upgrade_page(predictions, read.unused, read.failed),
        lambda: (
            upgrade_document(predictions[0])
            if not every
            else {
                "groups": list(map(upgrade_document, predictions)),
                "unused": read.unused,
                "failed": [{"group": name, "why": why} for name, why in read.failed],
            }
        ),
    )
    if read.failed:
        raise CouldNot(f"{len(read.failed)} of the groups could not be read: {', '.join(n for n, _ in read.failed)}.")
    most = [(each.repeats, max_repeat) for each in predictions] + [(each.skips, max_skip) for each in predictions]
    if max_repeat is None and max_skip is None:
        finish(1 if any(each.changed for each in predictions) else 0)
    finish(1 if any(limit is not None and count > limit for count, limit in most) else 0)
