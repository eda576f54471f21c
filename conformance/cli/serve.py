"""The command ``serve``: the fake name server and broker, for clients of any kind."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.options import releases_option
from rocketmq_conformance.conformance.cli.output import say

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.fakes.broker import FakeBroker


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 lets the system choose.")
@click.option("--advertise", metavar="HOST", default="", help="Name this host in routes, not the one of --host.")
@click.option("--topic", "topics", multiple=True, metavar="NAME[=QUEUES]", help="A topic that exists from the start.")
@click.option("--fault", "faults", multiple=True, metavar="REQUEST=FAULT", help="Play a request code by a fault.")
@click.option("--auto-create/--no-auto-create", default=True, show_default=True, help="Create topics on first use.")
@click.option(
    "--lease",
    type=click.IntRange(min=1),
    metavar="MS",
    help="How long locks of queues live; a minute unless given. Judge it as broker:HOST:PORT?lease=MS.",
)
@click.option(
    "--log",
    "log_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write each request and response to FILE, a line of JSON each.",
)
@releases_option
def serve(
    host: str,
    port: int,
    advertise: str,
    topics: tuple[str, ...],
    faults: tuple[str, ...],
    auto_create: bool,
    lease: int | None,
    log_file: Path | None,
    releases: dict[str, str],
) -> None:
    """Run a fake name server and broker, answered by the model, until interrupted.

    On a terminal it shows who is connected, members, offsets, locks, and the latest requests and responses.
    """
    # The fake broker and its models are imported when they are needed: --help does not.
    from rocketmq_conformance.conformance.adapter import CannotRunError, Hello
    from rocketmq_conformance.conformance.cli.serving import watch
    from rocketmq_conformance.conformance.engine.handshake import profile_of
    from rocketmq_conformance.conformance.fakes.serve import serve as serve_broker
    from rocketmq_conformance.conformance.fakes.wire_log import WireLog
    from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME
    from rocketmq_conformance.models.release import newer_than_known

    profile = profile_of(Hello("serve", __version__), releases)
    for newer in newer_than_known("broker", profile.broker, "serve it as"):
        raise click.UsageError(newer)
    terminal = sys.stdout.isatty()
    try:
        with open_log(log_file) as file:
            log = WireLog(file) if file or terminal else None

            def ready(broker: FakeBroker) -> None:
                say(f"serving name server and broker at {broker.address} (broker {profile.broker}); Ctrl-C ends it")
                if terminal and log is not None:
                    watch(broker, log)

            serve_broker(
                profile,
                host,
                port,
                topics=topics,
                faults=faults,
                auto_create=auto_create,
                lease=lease or MAX_LIVE_TIME,
                advertise=advertise,
                observer=log,
                ready=ready,
            )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    except KeyboardInterrupt:
        say("stopped")


@contextmanager
def open_log(path: Path | None) -> Iterator[TextIO | None]:
    """The log, to be appended to; CouldNot with a sentence when it cannot be written."""
    if path is None:
        yield None
        return
    try:
        # a pipe that nobody reads is none to wait for
        number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise CouldNot(f"cannot write {path} ({error.strerror}); name another file with --log") from error
    os.set_blocking(number, True)
    with os.fdopen(number, "a", encoding="utf-8") as file:
        yield file
