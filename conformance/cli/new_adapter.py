"""The command ``new-adapter``: writes a program to start from, for ``exec:COMMAND``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.targets.exec_client.skeletons import SKELETONS


@click.command("new-adapter")
@click.option("--language", type=click.Choice(list(SKELETONS)), required=True, help="Which language it is written in.")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def new_adapter(language: str, folder: Path) -> None:
    """Write a program to start from into DIR.

    It speaks the protocol of exec:COMMAND (docs/exec.md) and answers the suite allocation by two strategies of its own:
    put your client's in their place, then add operations (`list operations --format exec` describes them).
    """
    skeleton = SKELETONS[language]
    try:
        made = skeleton.write(folder)
    except FileExistsError as error:
        raise click.UsageError(f"{error} is there already: name a folder without it.") from error
    except OSError as error:
        raise CouldNot(f"{folder} cannot be written ({error.strerror}): name another folder.") from error
    for path in made:
        click.echo(f"written  {path}")
    words = [
        f"cd {shlex.quote(str(folder))}",
        skeleton.build,
        f"rocketmq-conformance run {shlex.quote(skeleton.address)}",
    ]
    click.echo("try it   " + " && ".join(filter(None, words)))
