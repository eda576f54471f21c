"""The command ``serve``: the fake name server and broker, for clients of any kind."""

from __future__ import annotations

import click

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.options import releases_option


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 lets the system choose.")
@click.option("--topic", "topics", multiple=True, metavar="NAME[=QUEUES]", help="A topic that exists from the start.")
@click.option("--fault", "faults", multiple=True, metavar="REQUEST=FAULT", help="Play a request code by a fault.")
@click.option("--auto-create/--no-auto-create", default=True, show_default=True, help="Create topics on first use.")
@click.option(
    "--lease",
    type=click.IntRange(min=1),
    metavar="MS",
    help="How long locks of queues live; a minute unless given. Judge it as broker:HOST:PORT?lease=MS.",
)
@releases_option
def serve(
    host: str,
    port: int,
    topics: tuple[str, ...],
    faults: tuple[str, ...],
    auto_create: bool,
    lease: int | None,
    releases: dict[str, str],
) -> None:
    """Run a fake name server and broker, answered by the model, until interrupted."""
    # The fake broker and its models are imported when they are needed: --help does not.
    from rocketmq_conformance.conformance.adapter import CannotRunError, Hello
    from rocketmq_conformance.conformance.engine.handshake import profile_of
    from rocketmq_conformance.conformance.fakes.serve import serve as serve_broker
    from rocketmq_conformance.models.broker.lock import MAX_LIVE_TIME

    profile = profile_of(Hello("serve", __version__), releases)

    def ready(address: str) -> None:
        click.echo(f"serving name server and broker at {address} (broker {profile.broker}); Ctrl-C ends it")

    try:
        serve_broker(
            profile,
            host,
            port,
            topics=topics,
            faults=faults,
            auto_create=auto_create,
            lease=lease or MAX_LIVE_TIME,
            ready=ready,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except CannotRunError as error:
        raise CouldNot(str(error)) from error
    except KeyboardInterrupt:
        click.echo("stopped")
