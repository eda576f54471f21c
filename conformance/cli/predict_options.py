"""What the commands ``predict …`` share: where the facts come from, and how a prediction is written."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.options import Number
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.models.release import Release

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.predict.facts import GroupFacts

#: Seconds between two lines of progress.
_EVERY = 10.0
#: Numbers of 14 digits, as consumeTimestamp is written; a time in ms has 13 until 2286.
_CONSUME_TIMESTAMPS = range(10**13, 10**14)

name_servers_argument = click.argument("name_servers", metavar="[NAMESRV[,…]]", required=False)
group_option = click.option("--group", metavar="G", help="The consumer group.")
topics_option = click.option(
    "--topic", "topics", multiple=True, metavar="T", help="A topic; those that the group consumes unless given."
)
state_option = click.option(
    "--state",
    "path",
    type=click.Path(path_type=Path),
    help="Facts in a file of `predict state`, not a cluster.",
)
max_skip_option = click.option(
    "--max-skip", type=click.IntRange(min=0), metavar="N", help="Exit with 1 when more messages are skipped."
)
max_repeat_option = click.option(
    "--max-repeat", type=click.IntRange(min=0), metavar="N", help="Exit with 1 when more messages are consumed again."
)
patience_option = click.option(
    "--patience",
    type=Number(0.1, 86_400),
    default=10.0,
    show_default=True,
    help="Seconds for a server's answer.",
)


def release_option(context: click.Context, option: click.Parameter, value: str | None) -> Release | None:
    """The release of an option."""
    if value is None:
        return None
    try:
        return Release.parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


client_option = click.option(
    "--client",
    callback=release_option,
    metavar="RELEASE",
    help="Release of the client; that of the oldest member that is connected, or the newest one, unless given.",
)


def in_ms(millis: int, option: str) -> int:
    """A time in ms since 1970, as it is; usage error where an option was given consumeTimestamp's form of one."""
    if millis in _CONSUME_TIMESTAMPS:
        raise click.BadParameter(
            f"{millis} is the year {datetime.fromtimestamp(millis / 1000, UTC).year} in ms since 1970: write ms, "
            "such as 1769860800000 for 2026-01-31 12:00:00 UTC, not yyyyMMddHHmmss",
            param_hint=option,
        )
    return millis


def could_not(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose failures to read a cluster or a file, or to predict, are one sentence each."""

    @wraps(command)
    def wrapped(*args: Any, **named: Any) -> None:
        # imported when used: --help needs none of it
        from rocketmq_conformance.conformance.adapter import CannotRunError
        from rocketmq_conformance.conformance.predict.facts import FactsError
        from rocketmq_conformance.conformance.predict.start import PredictError

        try:
            command(*args, **named)
        except CannotRunError as error:
            raise CouldNot(str(error)) from error
        except (FactsError, PredictError) as error:
            raise click.UsageError(str(error)) from error

    return wrapped


def facts_of(
    name_servers: str | None,
    path: Path | None,
    group: str | None,
    topics: tuple[str, ...],
    at: int | None = None,
    *,
    patience: float,
) -> GroupFacts:
    """The facts of a cluster or of a file; usage errors when neither or both are named."""
    from rocketmq_conformance.conformance.predict.api import read_group
    from rocketmq_conformance.conformance.predict.facts import read_file

    if name_servers is not None and path is not None:
        raise click.UsageError("Name the name servers of a cluster or a file with --state, and not both.")
    if name_servers is None and path is None:
        raise click.UsageError("Name the name servers of a cluster, such as 127.0.0.1:9876, or a file with --state.")
    if name_servers is not None:
        if not group:
            raise click.UsageError("Name the consumer group with --group.")
        with counted("topics") as progress:
            return read_group(name_servers, group, topics, at, patience, progress)
    assert path is not None
    facts = read_file(path)
    if group and group != facts.group:
        raise click.UsageError(f"{path} is about the group {facts.group!r}, not {group!r}.")
    unknown = [topic for topic in topics if topic not in facts.topics]
    if unknown:
        raise click.UsageError(f"{path} has no topic {unknown[0]!r}; it has {', '.join(facts.topics)}.")
    return facts if not topics else _only(facts, topics)


def _only(facts: GroupFacts, topics: tuple[str, ...]) -> GroupFacts:
    from dataclasses import replace

    return replace(facts, queues=tuple(queue for queue in facts.queues if queue.topic in topics))


@contextmanager
def counted(what: str) -> Iterator[Callable[[int, int], None]]:
    """Shows on standard error how many of all are done: a bar on a terminal, and elsewhere a line each 10 s."""
    from rocketmq_conformance.reports.progress import bars
    from rocketmq_conformance.reports.screen import Screen

    screen = Screen(sys.stderr)
    shown = bars(screen, f"{{task.completed:,.0f}} of {{task.total:,.0f}} {what}", "beside")
    task = shown.add_task("", total=None, beside="")
    last = time.monotonic()

    def move(done: int, of: int) -> None:
        nonlocal last
        if screen.live:
            shown.update(task, completed=done, total=of, refresh=True)
        elif time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            say(f"{done:,} of {of:,} {what}", err=True)

    if screen.live:
        shown.start()
    try:
        yield move
    finally:
        if screen.live:
            shown.stop()
