"""The command ``predict failover``: what it does to a group that its master is gone, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from rocketmq_conformance.conformance.cli.exit import finish
from rocketmq_conformance.conformance.cli.predict_options import (
    client_option,
    could_not,
    counted,
    group_option,
    max_repeat_option,
    max_skip_option,
    name_servers_argument,
    patience_option,
    release_option,
    topics_option,
)
from rocketmq_conformance.conformance.cli.written_page import format_option, write
from rocketmq_conformance.models.release import Release

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.predict.failover import PairFacts

#: A queue by hand: what the master has stored, what the slave has, and max.
_QUEUE = re.compile(r"(\d{1,18}|-)/(\d{1,18}|-)/(\d{1,18})", re.ASCII)


def _queues(
    context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[int | None, int | None, int], ...]:
    """The queues that are given by hand."""
    found = []
    for value in values:
        match = _QUEUE.fullmatch(value)
        if match is None:
            raise click.BadParameter(f"write MASTER/SLAVE/MAX in messages, such as 7/5/10 or 7/-/10, not {value!r}")
        master, slave, most = (None if text == "-" else int(text) for text in match.groups())
        found.append((master, slave, most or 0))
    return tuple(found)


@click.command()
@name_servers_argument
@group_option
@topics_option
@click.option("--broker", callback=release_option, metavar="RELEASE", help="With --queue: the release of the pair.")
@click.option(
    "--queue",
    "queues",
    multiple=True,
    callback=_queues,
    metavar="MASTER/SLAVE/MAX",
    help="Instead of a cluster, a queue by hand: the offsets that master and slave have stored (- for none), and max.",
)
@click.option(
    "--meanwhile",
    type=click.IntRange(min=0),
    metavar="N",
    help="Messages of each queue that are consumed while the master is gone; all unless given.",
)
@click.option(
    "--acting/--not-acting",
    default=None,
    help="With or without enableSlaveActingMaster and totalReplicas above 1; as the masters are unless given.",
)
@client_option
@max_skip_option
@max_repeat_option
@patience_option
@format_option
@could_not
def failover(
    name_servers: str | None,
    group: str | None,
    topics: tuple[str, ...],
    broker: Release | None,
    queues: tuple[tuple[int | None, int | None, int], ...],
    meanwhile: int | None,
    acting: bool | None,
    client: Release | None,
    max_skip: int | None,
    max_repeat: int | None,
    patience: float,
    form: str,
) -> None:
    """Predict what a fail-over does: a group's master is gone and its slave serves, then the master is back.

    NAMESRV is the cluster's name server, HOST:PORT. Counted are the messages that come again or are left out for
    consumers that start or take queues over at either time.
    """
    from rocketmq_conformance.conformance.predict.api import consumer_of
    from rocketmq_conformance.conformance.predict.failover import predict_failover
    from rocketmq_conformance.conformance.predict.failover_page import failover_document, failover_page

    facts = _facts(name_servers, group, topics, broker, queues, patience)
    prediction = predict_failover(facts, consumer_of(facts.master, client=client), acting, meanwhile)
    write(form, lambda: failover_page(prediction), lambda: failover_document(prediction))
    most = ((prediction.repeats, max_repeat), (prediction.skips, max_skip))
    finish(1 if any(limit is not None and number > limit for number, limit in most) else 0)


def _facts(
    name_servers: str | None,
    group: str | None,
    topics: tuple[str, ...],
    broker: Release | None,
    queues: tuple[tuple[int | None, int | None, int], ...],
    patience: float,
) -> PairFacts:
    from rocketmq_conformance.conformance.predict.api import read_pair
    from rocketmq_conformance.conformance.predict.failover import pair_of

    if (broker is None) != (not queues):
        raise click.UsageError("--broker and --queue go together: give both, or the name servers of a cluster.")
    if broker is not None:
        if name_servers or group or topics:
            raise click.UsageError("--broker and --queue replace a cluster: name no name servers, group or topic.")
        return pair_of(broker, queues)
    if name_servers is None:
        raise click.UsageError(
            "Name the name servers of a cluster, such as 127.0.0.1:9876, or give --broker and --queue."
        )
    if not group:
        raise click.UsageError("Name the consumer group with --group.")
    with counted("topics") as progress:
        return read_pair(name_servers, group, topics, patience, progress)
