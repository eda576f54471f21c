"""Puts minimal plans into a corpus, for the commands ``campaign promote`` and ``power --promote``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from rocketmq_conformance.conformance.campaign.promote import Promoted, matching, minimal_plans, promote, read
from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.options import writable_folder
from rocketmq_conformance.conformance.cli.output import say
from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.plan import Plan, PlanError
from rocketmq_conformance.reports.text import count, in_columns


def promote_minimal_plans(folder: Path, patterns: Sequence[str], to: Path | None) -> None:
    """Put the minimal plans of a folder whose names match into a corpus, and print which."""
    try:
        plans = read(matching(minimal_plans(folder), patterns))
    except PlanError as error:
        raise click.UsageError(str(error)) from error
    if not plans:
        say(f"{folder} kept no minimal plan: there is nothing to promote.")
        return
    to = corpus_folder() if to is None else to
    writable_folder(to, "--to")
    print_promoted(promote_plans(plans, to, "--to"), to)


def promote_plans(plans: Sequence[tuple[Path, Plan]], to: Path, option: str) -> list[Promoted]:
    """Copy minimal plans into a corpus, a folder that is there; ``option`` is how another one can be named."""
    try:
        return promote(plans, to)
    except PlanError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise CouldNot(
            f"Writing to {to} failed ({error.strerror or error}): name another folder with {option}."
        ) from error


def corpus_folder() -> Path:
    """The corpus that plans are promoted to by default: the kit's in its source tree, else that of this folder."""
    if not corpus.in_source_tree():
        return Path(corpus.NAME)
    folder = corpus.kit_folder()
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def print_promoted(done: Sequence[Promoted], to: Path, *, err: bool = False) -> None:
    """Print what was promoted and what was there, to standard output or, with ``err``, to standard error."""
    new, known = [one for one in done if one.new], [one for one in done if not one.new]
    rows = [(one.target.name, count(one.steps, "step") + _origin(one)) for one in new]
    rows += [(one.source.name, f"has the steps of {one.target.name}") for one in known]
    lines = [f"  {line}" for line in in_columns(rows)]
    for head, listed in (("promoted to", lines[: len(new)]), ("already in", lines[len(new) :])):
        for line in [f"{head} {to}", *listed] if listed else []:
            say(line, err=err)
    say(f"{len(new):,} promoted, {len(known):,} already there. {_played(to)}", err=err)


def _origin(one: Promoted) -> str:
    return "" if one.target.name == one.source.name else f", from {one.source.name}"


def _played(to: Path) -> str:
    """Say which runs will play the plans."""
    if to.resolve() == corpus.kit_folder().resolve():
        return "Every `run` plays them first."
    if to.resolve() == Path(corpus.NAME).resolve():
        return "Every `run` in this folder plays them first."
    return f"`run --corpus {shlex.quote(str(to))}` plays them first."
