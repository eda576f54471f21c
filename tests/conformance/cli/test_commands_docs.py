"""The page of commands, and what ``explain`` says is believed of a rule."""

from __future__ import annotations

import re

import click
from click.testing import CliRunner

from rocketmq_conformance.conformance.cli.commands_docs import commands, page
from rocketmq_conformance.conformance.cli.main import COMMANDS, cli


def test_the_page_has_every_command_with_its_options_and_an_example() -> None:
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page(), re.MULTILINE | re.DOTALL))
    known = {name: command for name, command in commands("", cli) if name}
    assert sections.keys() == known.keys()
    assert {name for name, entry in COMMANDS.items() if not entry.hidden} <= sections.keys()
    assert "regenerate" not in sections
    for name, command in known.items():
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        assert [option for option in options if option not in sections[name]] == [], name
        assert ("```sh\nrocketmq-conformance " in sections[name]) == (not isinstance(command, click.Group)), name


def test_what_is_printed_as_it_is_stays_so() -> None:
    assert "\b" not in page()
    assert "```\ncampaign ADDRESS… [OPTIONS]" in page()


def test_explain_says_what_is_believed_of_a_rule_by_any_release() -> None:
    for release in ((), ("--with", "broker=4.9.8")):
        shown = CliRunner().invoke(cli, ["explain", "bq-lock-4", *release]).output
        assert "  believed  A lock request without a client id is refused.\n  but       It fails" in shown
    assert "believed" not in CliRunner().invoke(cli, ["explain", "allocation"]).output
