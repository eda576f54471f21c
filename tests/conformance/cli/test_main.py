"""The group of commands: every name leads to a command, and the group's help imports none of them."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from unittest.mock import patch

import click
import pytest
from click.testing import CliRunner

from rocketmq_conformance.conformance.cli.campaign import campaign
from rocketmq_conformance.conformance.cli.lazy_group import LazyGroup
from rocketmq_conformance.conformance.cli.main import cli


@pytest.mark.parametrize("group", [cli, campaign])
def test_every_name_leads_to_a_command_of_that_name(group: LazyGroup) -> None:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.help, f"{name} --help says nothing"


@pytest.mark.parametrize("group", [cli, campaign])
def test_the_help_of_a_group_has_one_line_for_each_command(group: LazyGroup) -> None:
    text = CliRunner().invoke(group, ["--help"]).output
    listed = text.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == [name for name, entry in group.lazy.items() if not entry.hidden]


def test_every_command_has_an_example_that_can_be_read() -> None:
    seen: list[str] = []
    lacking = []
    with patch.object(click.Command, "invoke", lambda self, context: seen.append(context.command_path)):
        for path, command in _commands("", cli):
            _, found, example = (command.epilog or "").partition("rocketmq-conformance ")
            if not found or not f"{example} ".startswith(f"{path} "):
                lacking.append(path)
                continue
            cli.main(shlex.split(example), standalone_mode=False)
    assert lacking == []
    assert len(seen) > 30


def _commands(path: str, group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Every command that help names, by its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        entry = group.lazy.get(name) if isinstance(group, LazyGroup) else None
        if command is None or (entry is not None and entry.hidden):
            continue
        words = f"{path} {name}".strip()
        if isinstance(command, click.Group):
            yield from _commands(words, command)
        else:
            yield words, command


def test_help_imports_no_suite_and_no_report() -> None:
    script = (
        "import sys\n"
        "from rocketmq_conformance.conformance.cli.main import cli\n"
        "cli.main(['--help'], standalone_mode=False)\n"
        "rooms = ('models.client', 'suites', 'reports', 'conformance.engine', 'conformance.targets')\n"
        "sys.exit(str([name for name in sys.modules for room in rooms if f'rocketmq_conformance.{room}' in name]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"
