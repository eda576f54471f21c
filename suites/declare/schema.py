"""JSON Schema of a plan file's case lines, made from the declarations of the operations.

``fits`` checks a value against the part of JSON Schema that domains and the lines of consumer programs use, so that
reading them needs no library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from rocketmq_conformance.suites.declare.domain import Schema
from rocketmq_conformance.suites.declare.operation import OperationSpec
from rocketmq_conformance.suites.declare.suite import Suite

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def case_line(suites: Iterable[Suite]) -> Schema:
    """The schema (draft 2020-12) of one case line; all steps of a case are of one suite.

    ``$defs`` has an entry ``SUITE.OPERATION`` for every operation. JSON values only.
    """
    known = list(suites)
    schema: Schema = {
        "$schema": DIALECT,
        "title": "A case of a plan",
        "description": "Every line of a plan file but the first: a case's number, its steps, and the digest of both.",
        "type": "object",
        "properties": {
            "case": {"type": "integer", "minimum": 0},
            "steps": {"type": "array"},
            "digest": {"type": "string"},
        },
        "required": ["case", "steps"],
        "additionalProperties": False,
        "anyOf": [_steps(suite) for suite in known],
        "$defs": {_key(suite, op.spec): _step(op.spec) for suite in known for op in suite.operations},
    }
    # tuples become lists, as in a plan file
    plain: Schema = json.loads(json.dumps(schema))
    return plain


def _key(suite: Suite, spec: OperationSpec) -> str:
    return f"{suite.name}.{spec.name}"


def _steps(suite: Suite) -> Schema:
    choices = [{"$ref": f"#/$defs/{_key(suite, op.spec)}"} for op in suite.operations]
    return {"title": suite.name, "properties": {"steps": {"items": {"anyOf": choices}}}}


def _step(spec: OperationSpec) -> Schema:
    return {
        "type": "object",
        "properties": {spec.name: spec.schema()},
        "required": [spec.name],
        "additionalProperties": False,
    }


_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: type(value) is bool,
    "integer": lambda value: type(value) is int,
    "string": lambda value: type(value) is str,
    "array": lambda value: type(value) is list,
    "object": lambda value: type(value) is dict,
}


def fits(schema: Schema, value: Any) -> bool:
    """Is a value, as JSON gives it, what a schema allows? ``1`` is not ``true``."""
    if "anyOf" in schema:
        return any(fits(choice, value) for choice in schema["anyOf"])
    if "enum" in schema:
        return any(type(value) is type(item) and value == item for item in schema["enum"])
    if "type" in schema and not _TYPES[schema["type"]](value):
        return False
    if type(value) is int:
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    if type(value) is list:
        return _list_fits(schema, value)
    return type(value) is not dict or _object_fits(schema, value)


def _list_fits(schema: Schema, value: list[Any]) -> bool:
    first = schema.get("prefixItems", [])
    inside = [*first, *[schema.get("items", {})] * (len(value) - len(first))]
    return (
        schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        and not (schema.get("uniqueItems") and len(set(map(repr, value))) < len(value))
        and all(fits(item, part) for item, part in zip(inside, value, strict=False))
    )


def _object_fits(schema: Schema, value: dict[str, Any]) -> bool:
    inside = schema.get("properties", {})
    return all(key in value for key in schema.get("required", ())) and all(
        fits(inside[key], value[key]) for key in inside.keys() & value.keys()
    )
