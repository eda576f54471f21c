"""The lines that a consumer program writes: what is wrong with one, by the schema that is shipped.

``rocketmq-conformance list operations --format client`` prints the schema, and docs/client.md explains it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rocketmq_conformance.reports.text import shortened

#: The schema of lines and commands, as package data.
FILE = Path(__file__).with_name("schema.json")
#: Characters of a line that a sentence shows.
_SHOWN = 120
_TYPES: dict[str, type] = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


@cache
def schemas(of: str) -> Mapping[str, Any]:
    """The schemas of the "lines" or of the "commands", by their name."""
    found: Mapping[str, Any] = json.loads(FILE.read_text("utf-8"))["$defs"][of]
    return found


def wrong_with(line: Mapping[str, object]) -> str:
    """One sentence on a line that has the name of one that is understood, but not its shape; "" of any other line."""
    for name, schema in schemas("lines").items():
        if name in line and not fits(line, schema):
            shown = shortened(json.dumps(line), _SHOWN)
            return f"The line {shown} is no `{name}` line: {schema['description']}"
    return ""


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """Does a value fit a schema? Of JSON Schema this knows what the file uses."""
    kind = schema.get("type")
    if kind and (not isinstance(value, _TYPES[kind]) or isinstance(value, bool) != (kind == "boolean")):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, int):
        return bool(value >= schema.get("minimum", value))
    if isinstance(value, list):
        places = schema.get("prefixItems", ())
        return (
            schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
            and all(fits(*pair) for pair in zip(value, places, strict=False))
            and all(fits(one, schema.get("items", {})) for one in value[len(places) :])
        )
    if isinstance(value, dict):
        inside = schema.get("properties", {})
        return all(key in value for key in schema.get("required", ())) and all(
            fits(value[key], inside[key]) for key in inside.keys() & value.keys()
        )
    return True
