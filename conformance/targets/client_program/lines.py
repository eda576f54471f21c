"""The lines that a consumer program writes: what is wrong with one, by the schema that is shipped.

``rocketmq-conformance list operations --format client`` prints the schema, and docs/reference/client.md explains it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rocketmq_conformance.reports.text import shortened
from rocketmq_conformance.suites.declare.domain import Schema
from rocketmq_conformance.suites.declare.schema import fits

#: The schema of lines and commands, as package data.
FILE = Path(__file__).with_name("schema.json")
#: Characters of a line that a sentence shows.
_SHOWN = 120


@cache
def schemas(of: str) -> Mapping[str, Schema]:
    """The schemas of the "lines" or of the "commands", by their name."""
    found: Mapping[str, Schema] = json.loads(FILE.read_text("utf-8"))["$defs"][of]
    return found


def wrong_with(line: Mapping[str, object]) -> str:
    """One sentence on a line that has the name of one that is understood, but not its shape; "" of any other line."""
    for name, schema in schemas("lines").items():
        if name in line and not fits(schema, line):
            shown = shortened(json.dumps(line), _SHOWN)
            return f"The line {shown} is no `{name}` line: {schema['description']}"
    return ""


def foreign_topic(line: Mapping[str, Any], topics: Collection[str]) -> str:
    """One sentence on a line of the right shape that names another topic than these, or ""."""
    named = [line["got"][0]] if "got" in line else [topic for topic, _ in line.get("owned", ())]
    other = next((topic for topic in named if topic not in topics), None)
    if other is None:
        return ""
    shown, asked = shortened(json.dumps(line), _SHOWN), " and ".join(sorted(topics))
    return f"The line {shown} names the topic {other}, and the program was asked for {asked} alone."
