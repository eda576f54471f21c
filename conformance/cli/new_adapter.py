"""The command ``new-adapter``: writes a program to start from, for ``exec:``, ``client:`` or ``python:``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.conformance.targets.skeletons import SKELETONS, TRIES


def _each(words: list[str]) -> click.Choice[str]:
    """One of these words, in the order in which they first appear."""
    return click.Choice(list(dict.fromkeys(words)))


@click.command("new-adapter")
@click.option(
    "--language",
    type=_each([language for _, language in SKELETONS]),
    required=True,
    help="Which language it is written in.",
)
@click.option(
    "--kind",
    type=_each([kind for kind, _ in SKELETONS]),
    default="stepped",
    show_default=True,
    help="How it is judged: asked step by step, or as a consumer that is started, by its traffic.",
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def new_adapter(language: str, kind: str, folder: Path) -> None:
    """Write a program to start from into DIR.

    A stepped one speaks the protocol of exec:COMMAND (docs/reference/exec.md) and answers the suite allocation by two
    strategies of its own. Put your client's in their place, then add operations: `list operations --format exec`
    describes them.

    A consumer is a push consumer of a cluster for client:COMMAND, with an official client, or for python:module:factory
    (docs/reference/client.md), without one: put your own client there. No adapter is needed.
    """
    skeleton = SKELETONS[kind, language]
    try:
        made = skeleton.write(folder)
    except FileExistsError as error:
        raise click.UsageError(f"{error} is there already: name a folder without it.") from error
    except OSError as error:
        raise CouldNot(f"{folder} cannot be written ({error.strerror}): name another folder.") from error
    for path in made:
        say(f"written  {path}")
    (first, *others) = [
        f"rocketmq-conformance {command} {shlex.quote(skeleton.address)}{options}" for command, options in TRIES[kind]
    ]
    say("try it   " + " && ".join(filter(None, [f"cd {shlex.quote(str(folder))}", skeleton.build, first])))
    for other in others:
        say(f"then     {other}")
