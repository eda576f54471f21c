"""JSON Schema of what a program is asked and what it answers, made from the declarations and the models.

``rocketmq-conformance list operations --format exec`` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from rocketmq_conformance.conformance.targets.exec_client.lines import WHOLE
from rocketmq_conformance.models.outcome import Err, Undefined
from rocketmq_conformance.suites.declare.answers import answers, errors, given, schema_of
from rocketmq_conformance.suites.declare.domain import Schema
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side
from rocketmq_conformance.suites.declare.schema import DIALECT
from rocketmq_conformance.suites.declare.suite import Suite

_ADDED = {
    "effect": "It is judged by the commits that reach the broker, which the kit takes from there: answer null.",
    "commits": "The kit appends the commits that reach the broker.",
}


def text(suites: Iterable[Suite]) -> str:
    """For each operation of the pure and client suites "SUITE.OPERATION", its arguments and its answers."""
    found: Schema = {}
    for suite in suites:
        if suite.side not in (Side.PURE, Side.CLIENT):
            continue
        seen = answers(suite)
        for operation in suite.operations:
            spec = operation.spec
            if given(spec):
                values = [one for one in seen[spec.name] if not isinstance(one, (Err, Undefined))]
                found[f"{suite.name}.{spec.name}"] = {
                    "description": spec.sentence,
                    "properties": {
                        "do": {"const": spec.name},
                        "args": _arguments(spec),
                        "ok": {**schema_of(values), **_notes(spec)},
                        "err": {"type": "string", "examples": errors(seen[spec.name])},
                    },
                }
    about = {
        "$schema": DIALECT,
        "title": "Steps and their answers",
        "description": "What exec:COMMAND asks a program (do, args), and what it answers (ok or err, or unsupported).",
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    return json.dumps(about)[:-1] + ', "$defs": {\n' + ",\n".join(lines) + "\n}}\n"  # a line for each operation


def _arguments(spec: OperationSpec) -> Schema:
    """Arguments that an implementation gets: faults are played by the kit."""
    faults = {at for at, _ in spec.faults}
    return {
        "type": "object",
        "properties": {name: domain.schema() for at, (name, domain) in enumerate(spec.domains) if at not in faults},
        "additionalProperties": False,
    }


def _notes(spec: OperationSpec) -> Schema:
    """What a schema cannot say of an answer."""
    notes = [_ADDED["effect"]] if spec.effect else [_ADDED["commits"]] if spec.commits else []
    if spec.sets:
        which = "The list is a set" if spec.sets == (WHOLE,) else f"Sets (by place): {', '.join(map(str, spec.sets))}"
        notes.append(f"{which}; the order is free.")
    return {"description": " ".join(notes)} if notes else {}
