"""The page of all commands, made from their own help: ``list commands``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from rocketmq_conformance.conformance.cli.lazy_group import LazyGroup
from rocketmq_conformance.reports.markdown_table import markdown_table

_INTRODUCTION = """# Commands

Each command says the same by `--help`. ADDRESS is [what is judged](addresses.md); [exit codes](results.md#exit-codes)
are those of a run unless a command names its own.
"""


def page() -> str:
    """The page, as Markdown that ends with a line break."""
    from rocketmq_conformance.conformance.cli.main import cli

    return "\n".join([_INTRODUCTION, *(_section(name, command) for name, command in commands("", cli) if name)])


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and those below it, each with the words that call it; hidden ones are left out."""
    yield name.strip(), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        lazy = command.lazy if isinstance(command, LazyGroup) else {}
        for part in command.list_commands(context):
            found = None if part in lazy and lazy[part].hidden else command.get_command(context, part)
            if found:
                yield from commands(f"{name} {part}", found)


def _section(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"rocketmq-conformance {name}")
    usage = " ".join(["rocketmq-conformance", name, *command.collect_usage_pieces(context)])
    options = [
        (f"`{record[0].replace('|', '/')}`", record[1])
        for parameter in command.params
        if (record := parameter.get_help_record(context))
    ]
    example = re.sub(r"^\x08\nExamples?:\n", "", command.epilog or "")
    parts = [
        f"## {name}",
        f"```\n{usage}\n```",
        *map(_paragraph, re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))),
        "\n".join(markdown_table(("option", "meaning"), options)) if options else "",
        f"```sh\n{inspect.cleandoc(example)}\n```" if example else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _paragraph(text: str) -> str:
    """A paragraph of a help text; what stands behind \\b is printed as it is."""
    marked, _, as_it_is = text.partition("\b\n") if text.startswith("\b") else (text, "", "")
    return f"```\n{as_it_is}\n```" if as_it_is else marked
