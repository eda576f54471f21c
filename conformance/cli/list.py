"""The command ``list``: suites, rules, operations and mutants, and what is documented of them in tables.

What takes long to import is kept (``conformance/cache.py``), unless installed packages bring suites of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import click

from rocketmq_conformance.conformance.cache import kept_text
from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.options import selected_names, suites_option
from rocketmq_conformance.conformance.cli.output import say, say_text
from rocketmq_conformance.reports.text import in_columns
from rocketmq_conformance.suites.declare.entry_points import packages_may_bring_suites

#: What -k selects, as an error says it.
_WITH_OPERATIONS = "suite with operations here"
#: What is listed as a page, in Markdown: modules with a ``page``.
PAGES = {
    "beliefs": "conformance.proof.beliefs",
    "clauses": "conformance.targets.clauses",
    "commands": "conformance.cli.commands_docs",
    "properties": "conformance.cli.properties_docs",
    "switches": "conformance.cli.switches_docs",
    "tables": "conformance.campaign.tables.tables_docs",
    "versions": "conformance.cli.versions_docs",
}


@click.command("list")
@click.argument("what", type=click.Choice(["suites", "rules", "operations", "mutants", *PAGES]))
@click.option(
    "--format",
    "form",
    type=click.Choice(["human", "page", "schema", "exec", "client"]),
    default="human",
    help="Of operations: page is Markdown with arguments and answers. JSON Schemas are schema, of a plan's case lines; "
    "exec, of what exec:COMMAND asks and of the answers; client, of the lines and commands of client:COMMAND.",
)
@suites_option
def list_(what: str, form: str, patterns: Sequence[str]) -> None:
    """Name the suites, rules, operations or mutants; with -k the operations of some suites.

    Also pages in Markdown: what is easily believed of rules and wrong, and the clauses of rules that are seen. Others
    have all commands, the properties of brokers, the switches between releases, the tables of a campaign, and versions.
    """
    if form != "human" and what != "operations":
        raise click.UsageError(f"Only operations have a format: write `list operations --format {form}`.")
    if patterns and (what != "operations" or form == "client"):
        raise click.UsageError("Only operations are chosen by their suite: write `list operations -k NAME`.")
    say_text(_CHOICES[form](listed(what, form), patterns) if patterns else listed(what, form))
    if what == "mutants":
        say("Every mutant cites a defect (D01 and so on): docs/reference/defects.md explains each of them.", err=True)


def listed(what: str, form: str = "human") -> str:
    """What ``list`` shows. What takes long to import is kept until a module changes."""
    if what in PAGES:
        return page(PAGES[what])
    name = what if form == "human" else f"{what}-{form}"
    make = _TEXTS[name]
    return make() if form == "client" or packages_may_bring_suites() else kept_text(name, make)


def page(module: str) -> str:
    """The page that a module makes; CouldNot where a package that it needs is not installed."""
    try:
        text: str = import_module(f"rocketmq_conformance.{module}").page()
    except ModuleNotFoundError as error:
        raise CouldNot(f"This page needs {error.name}: pip install 'rocketmq-conformance[spark]'.") from error
    return text


def suites() -> str:
    """A line for each suite."""
    from rocketmq_conformance.suites.declare.discovery import SUITES as FOUND

    rows = []
    for suite in FOUND.values():
        note = "" if suite.ordinary else "  (only when named with -k)"
        rows.append((suite.name, suite.side.value, suite.sentence + note))
    return _lines(rows)


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

    # a few ranges of releases are long
    rows = [(rule.id, rule.level.value, f"{rule.releases:<18}  {rule.sentence}") for rule in rulebook.RULES.values()]
    return _lines(rows)


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"{line}\n" for line in in_columns(rows))


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


def _sections_of(text: str, patterns: Sequence[str]) -> str:
    """The sections of a page on some suites."""
    first, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    by_name = {section.split()[1]: section for section in sections}
    chosen = selected_names(patterns, dict.fromkeys(by_name), _WITH_OPERATIONS)
    return first + "".join(by_name[name] for name in by_name if name in chosen)


def _page() -> str:
    from rocketmq_conformance.conformance.cli import operations_docs
    from rocketmq_conformance.suites.declare.discovery import SUITES as FOUND

    return operations_docs.page(FOUND.values())


def _exec() -> str:
    from rocketmq_conformance.conformance.targets.exec_client import schema
    from rocketmq_conformance.suites.declare.discovery import SUITES as FOUND

    return schema.text(FOUND.values())


def _client() -> str:
    from rocketmq_conformance.conformance.targets.client_program import lines

    return lines.FILE.read_text("utf-8")


def mutants() -> str:
    """A line for each mutant: its name, the defect that it repeats, what it does, and why it changes nothing if so."""
    from rocketmq_conformance.conformance.targets.mutants import MUTANTS

    rows = []
    for mutant in MUTANTS.values():
        note = f"  (equivalent: {mutant.equivalent})" if mutant.equivalent else ""
        rows.append((mutant.name, mutant.defect, mutant.sentence + note))
    return _lines(rows)


_TEXTS: dict[str, Callable[[], str]] = {
    "suites": suites,
    "rules": rules,
    "operations": operations,
    "mutants": mutants,
    "operations-page": _page,
    "operations-schema": schema,
    "operations-exec": _exec,
    "operations-client": _client,
}
_CHOICES = {"human": _lines_of, "page": _sections_of, "schema": _schema_of, "exec": _schema_of}
