"""The command ``campaign promote``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1)
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the corpus.  [default: suites/corpus of the kit's source tree, else ./corpus]",
)
def promote(folder: Path, patterns: tuple[str, ...], to: Path | None) -> None:
    """Put minimal plans of the campaign or run in DIR into the corpus, which every `run` plays first.

    PATTERN picks some of them: a part of the name, or a pattern such as 'start-*'. No plan is replaced, and none is
    taken whose steps are there already.
    """
    from rocketmq_conformance.conformance.cli.promoting import promote_minimal_plans

    promote_minimal_plans(folder, patterns, to)
