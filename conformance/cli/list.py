"""The command ``list``: suites, rules, operations and mutants. What takes long to import is read from
made files, unless installed packages bring suites of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import click

from rocketmq_conformance.conformance.cli.made_texts import OPERATIONS, RULES, SCHEMA, SUITES, made_text
from rocketmq_conformance.conformance.cli.options import selected_names, suites_option
from rocketmq_conformance.conformance.cli.output import say, say_text

#: What -k selects, as an error says it.
_WITH_OPERATIONS = "suite with operations here"


@click.command("list")
@click.argument("what", type=click.Choice(["suites", "rules", "operations", "mutants"]))
@click.option(
    "--format",
    "form",
    type=click.Choice(["human", "schema", "exec", "client"]),
    default="human",
    help="Of operations: schema is the JSON Schema of a plan's case lines, exec that of what exec:COMMAND asks and of "
    "the answers, client that of the lines and commands of client:COMMAND.",
)
@suites_option
def list_(what: str, form: str, patterns: Sequence[str]) -> None:
    """Name the suites, rules, operations or mutants; with -k the operations of some suites."""
    if form != "human" and what != "operations":
        raise click.UsageError(f"Only operations have a schema: write `list operations --format {form}`.")
    if patterns and (what != "operations" or form == "client"):
        raise click.UsageError("Only operations are chosen by their suite: write `list operations -k NAME`.")
    text = _TEXTS[what if form == "human" else form]()
    say_text((_lines_of if form == "human" else _schema_of)(text, patterns) if patterns else text)
    if what == "mutants":
        say("Every mutant cites a defect (D01 and so on): docs/defects.md explains each of them.", err=True)


def suites() -> str:
    """A line for each suite."""
    from rocketmq_conformance.suites.declare.discovery import SUITES as FOUND

    lines = []
    for suite in FOUND.values():
        note = "" if suite.ordinary else "  (only when named with -k)"
        lines.append(f"{suite.name:<18} {suite.side.value:<7} {suite.sentence}{note}\n")
    return "".join(lines)


def operations() -> str:
    """A line for each operation of each suite."""
    from rocketmq_conformance.suites.declare.discovery import SUITES as FOUND

    lines = []
    for suite in FOUND.values():
        for op in suite.operations:
            fields = ", ".join(name for name, _ in op.spec.domains)
            lines.append(f"{suite.name}/{op.spec.name}({fields})  {op.spec.sentence}\n")
    return "".join(lines)


def schema() -> str:
    """The JSON Schema of a plan's case lines."""
    from rocketmq_conformance.suites.declare.discovery import SUITES as FOUND
    from rocketmq_conformance.suites.declare.schema import case_line

    return json.dumps(case_line(FOUND.values()), indent=2) + "\n"


def rules() -> str:
    """A line for each rule."""
    from rocketmq_conformance.models import rulebook

    return "".join(
        f"{rule.id:<20} {rule.level.value:<9} {rule.releases:<18} {rule.sentence}\n" for rule in rulebook.RULES.values()
    )


def _lines_of(text: str, patterns: Sequence[str]) -> str:
    """The lines of operations of some suites."""
    lines = text.splitlines(keepends=True)
    chosen = selected_names(patterns, dict.fromkeys(line.partition("/")[0] for line in lines), _WITH_OPERATIONS)
    return "".join(line for line in lines if line.partition("/")[0] in chosen)


def _schema_of(text: str, patterns: Sequence[str]) -> str:
    """A schema with the operations of some suites: definitions called SUITE.OPERATION, and choices by suite."""
    schema: dict[str, Any] = json.loads(text)
    definitions = schema["$defs"]
    chosen = selected_names(patterns, dict.fromkeys(name.partition(".")[0] for name in definitions), _WITH_OPERATIONS)
    schema["$defs"] = {name: one for name, one in definitions.items() if name.partition(".")[0] in chosen}
    if "anyOf" in schema:
        schema["anyOf"] = [one for one in schema["anyOf"] if one["title"] in chosen]
    return json.dumps(schema, indent=2) + "\n"


def _exec() -> str:
    from rocketmq_conformance.conformance.targets.exec_client import schema

    return schema.FILE.read_text("utf-8")


def _client() -> str:
    from rocketmq_conformance.conformance.targets.client_program import lines

    return lines.FILE.read_text("utf-8")


def _mutants() -> str:
    from rocketmq_conformance.conformance.targets import mutants_list

    return mutants_list.FILE.read_text("utf-8")


_TEXTS: dict[str, Callable[[], str]] = {
    "suites": lambda: made_text(SUITES) or suites(),
    "rules": lambda: made_text(RULES) or rules(),
    "operations": lambda: made_text(OPERATIONS) or operations(),
    "mutants": _mutants,
    "schema": lambda: made_text(SCHEMA) or schema(),
    "exec": _exec,
    "client": _client,
}
