"""The page of the operations, made from their declarations: ``list operations --format page``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rocketmq_conformance.models.outcome import Err, Expected, Undefined, outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.suites.declare.answers import answers, errors
from rocketmq_conformance.suites.declare.domain import Domain, Schema, Values
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side
from rocketmq_conformance.suites.declare.reach import judged_side, rule_of, where
from rocketmq_conformance.suites.declare.suite import Suite

_OLDEST = Profile.of("4.0.0", "4.0.0")
#: Characters of an answer that still make an example when shorter ones have nothing in their parts.
_LONGEST_EXAMPLE = 100

_INTRODUCTION = """# Operations

Every operation of every suite, as its declaration in `suites/` has it. `rocketmq-conformance list operations --format
page` makes the page; with `-k NAME`, of some suites.

A plan file writes a step as `{"operation": {"argument": value, …}}`; `rocketmq-conformance list operations --format
schema` prints the JSON Schema. Values are listed simplest first, the way in which a failing plan shrinks; `×4` after a
value means that it is drawn four times as often as one without a number. The weight of an operation is how often it
is drawn, next to the other operations of its suite. Who plays it:
"""
_SIDES = {
    "pure": "the implementation; nothing is remembered between steps",
    "client": "the implementation's consumer, against the fake broker",
    "broker": "the implementation, asked over its socket",
    "world": "the kit, on the fake broker; the implementation never sees it",
}


def page(suites: Iterable[Suite]) -> str:
    """The page, as Markdown that ends with a line break."""
    sides = markdown_table(("side", "played by"), _SIDES.items())
    return "\n".join([_INTRODUCTION, *sides, "", *(_suite(suite) for suite in suites)])


def _suite(suite: Suite) -> str:
    size = f"{suite.cases} cases of {suite.steps} steps"
    seen = answers(suite) if suite.side in (Side.PURE, Side.CLIENT) else {}
    when = "" if suite.ordinary else " It is run only when it is named with `-k`."
    parts = [
        f"## {suite.name}",
        f"{suite.sentence}{suite.beginning and ' '}{suite.beginning} An ordinary run has {size}.{when}",
        _rules(suite),
        *(_operation(op.spec, seen.get(op.spec.name, ())) for op in suite.operations),
    ]
    return "\n\n".join(parts) + "\n"


def _rules(suite: Suite) -> str:
    """The rules by the releases on which the suite reaches them, those of all releases first."""
    found: dict[str, list[str]] = {}
    for name in suite.rules:
        found.setdefault(where(suite, rule_of(suite, name)), []).append(f"`{name}`")
    everywhere = found.pop(f"{judged_side(suite)}, all releases", [])
    groups = [", ".join(everywhere)] if everywhere else []
    groups += [f"on {releases}: {', '.join(names)}" for releases, names in found.items()]
    return f"Rules that it can reach: {'; '.join(groups)}."


def _operation(spec: OperationSpec, seen: Sequence[Expected]) -> str:
    facts = [f"Side {spec.side.value}, weight {spec.weight}.", spec.sentence]
    if spec.effect:
        facts.append(
            "Judged by the commits that reached the fake broker, as sorted (queue, offset) pairs, each with the word "
            "awaited when its request was not one way."
        )
    if spec.side is Side.WORLD:
        facts.append("It has no answer.")
    if not spec.offered(_OLDEST):
        facts.append("Not every release has it.")
    lines = [f"### {spec.name}", "", " ".join(facts)]
    if seen:
        lines += ["", _answered(spec, seen)]
    if spec.domains:
        rows = ((name, _values(domain)) for name, domain in spec.domains)
        lines += ["", *markdown_table(("argument", "values"), rows)]
    return "\n".join(lines)


def _answered(spec: OperationSpec, seen: Sequence[Expected]) -> str:
    """What an implementation answers: an example of each class, the names of its parts, and the errors."""
    examples: dict[str, str] = {}
    for answer in seen:
        if not isinstance(answer, (Err, Undefined)):
            text, kind = _code(answer), outcome_class(answer)
            examples[kind] = min(examples.get(kind, text), text, key=_as_example)
    said = [" or ".join(sorted(examples.values(), key=len))]
    if spec.answer and not spec.effect:
        said.append(f"the parts are {', '.join(list(spec.answer)[: -1 if spec.commits else None])}")
    if spec.sets:
        said.append("the order is free" if spec.sets == (-1,) else "the order of some parts is free")
    if refused := errors(seen):
        said.append(f"or the error {' or '.join(_code(code) for code in refused)}")
    such_as = "" if list(examples) == [outcome_class(None)] else "such as "
    return f"Answers {such_as}{'; '.join(said)}."


def _as_example(text: str) -> tuple[bool, int, int, str]:
    """Short ones, with something in their parts, go first."""
    return len(text) > _LONGEST_EXAMPLE, text.count("[]") + text.count("null"), len(text), text


def _values(domain: Domain) -> str:
    if isinstance(domain, Values):
        weights = domain.weights or (1,) * len(domain.items)
        return ", ".join(
            _code(item) + (f" ×{n}" if n > 1 else "") for item, n in zip(domain.items, weights, strict=True)
        )
    return _described(domain.schema())


def _described(schema: Schema) -> str:
    """A schema in words."""
    if "enum" in schema:
        return ", ".join(_code(item) for item in schema["enum"])
    if "anyOf" in schema:
        return ", or ".join(_described(choice) for choice in schema["anyOf"])
    if "prefixItems" in schema:
        return f"({schema['description']})"
    match schema["type"]:
        case "array":
            inside = _described(schema["items"])
            return f"set of {inside}" if schema.get("uniqueItems") else f"list of {inside}"
        case "integer":
            return f"whole number from {schema['minimum']} to {schema['maximum']}"
        case "string":
            return "text"
        case other:
            return _code(None) if other == "null" else str(other)


def _code(value: Any) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"
