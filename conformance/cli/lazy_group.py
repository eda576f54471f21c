"""A group of commands that imports a command's module when the command is used, so that the group's help is quick."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click


class Lazy(NamedTuple):
    """The place of a command, and its line in the group's help."""

    #: Module and name of the command, as "package.module:name".
    place: str
    #: Short enough for one line of the group's help; the command's own help says more.
    sentence: str
    #: Words after the program's name that are worth trying; no words for a group, whose commands have theirs.
    example: str = ""
    hidden: bool = False


def example_of(words: str) -> str:
    """The last lines of a command's help."""
    return f"\b\nExample:\n  rocketmq-conformance {words}"


class LazyGroup(click.Group):
    """A group whose commands are imported on first use."""

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in alphabetical order."""
        return sorted({*super().list_commands(ctx), *self.lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported if need be; None when there is none."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, name = self.lazy[cmd_name].place.partition(":")
        command: click.Command = getattr(import_module(module), name)
        if example := self.lazy[cmd_name].example:
            command.epilog = example_of(example)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the section of the commands; none of them is imported."""
        known = {name: command.get_short_help_str(formatter.width) for name, command in self.commands.items()}
        known |= {name: entry.sentence for name, entry in self.lazy.items() if not entry.hidden}
        with formatter.section("Commands"):
            formatter.write_dl(sorted(known.items()))
