"""JSON Schema of what operations answer, found by asking the models: they are played on drawn cases.

An answer is described by its kinds of values: null, true or false, whole numbers, texts, lists, and lists of a fixed
length part by part. Texts that were seen are examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Schema
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

#: Profiles, with the cases that are drawn by each: the newest releases, and older ones that know other operations.
_DRAWN = ((Profile(), 80), (Profile.of("4.9.8", "4.9.7"), 20), (Profile.of("4.1.0", "4.1.0"), 20))
_STEPS = 40
#: Examples of a text that a schema has.
_EXAMPLES = 4


@cache
def answers(suite: Suite) -> dict[str, list[Expected]]:
    """The distinct answers of each operation of an implementation in drawn cases, by the operation's name.

    They are what an implementation is to answer, without the commits that the kit adds; ``null`` stands for an answer
    that is not looked at. Suites whose models observe cannot be asked.
    """
    seen: dict[str, dict[Expected, None]] = {op.spec.name: {} for op in suite.operations if given(op.spec)}
    for profile, cases in _DRAWN:
        bound, draw = suite.bind(profile), sampler(suite, profile)
        for number in range(cases):
            state = bound.initial
            for at, args in draw.case(0, number, _STEPS):
                spec = suite.operations[at].spec
                if spec.guard and not spec.guard(state):
                    continue
                state, answer, _ = bound.by_position[at](state, *args)
                if given(spec):
                    seen[spec.name][_own(spec, answer)] = None
    return {name: list(found) for name, found in seen.items()}


def given(spec: OperationSpec) -> bool:
    """Is the operation one of an implementation?"""
    return spec.side is not Side.WORLD


def errors(found: Sequence[Expected]) -> list[str]:
    """The error codes among the answers."""
    return sorted({one.code for one in found if isinstance(one, Err)})


def schema_of(values: Sequence[Any]) -> Schema:
    """A schema that all of these values fit."""
    choices: list[Schema] = []
    if any(value is None for value in values):
        choices.append({"type": "null"})
    if any(type(value) is bool for value in values):
        choices.append({"type": "boolean"})
    if any(type(value) is int for value in values):
        choices.append({"type": "integer"})
    texts = [value for value in values if type(value) is str]
    if texts:
        choices.append({"type": "string", "examples": sorted(set(texts))[:_EXAMPLES]})
    lists = [value for value in values if type(value) is tuple]
    if lists:
        choices.append(_schema_of_lists(lists))
    return choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {"type": "null"}


def _schema_of_lists(lists: Sequence[tuple[Any, ...]]) -> Schema:
    lengths = {len(value) for value in lists}
    if len(lengths) == 1 and 0 not in lengths and len(lists) > 1:
        (length,) = lengths
        parts = [schema_of([value[at] for value in lists]) for at in range(length)]
        return {"type": "array", "prefixItems": parts, "minItems": length, "maxItems": length}
    items = [item for value in lists for item in value]
    return {"type": "array", "items": schema_of(items)} if items else {"type": "array", "maxItems": 0}


def _own(spec: OperationSpec, answer: Expected) -> Expected:
    """The part of an answer that is the implementation's own."""
    if isinstance(answer, Err):
        return answer
    if spec.effect:
        return None
    if spec.commits and isinstance(answer, tuple):
        return answer[:-1]
    return answer
