"""Decoding: JSON objects back into events, checked field by field.

Fields that this reader does not know are left out, since newer kits of the same format may write them; a field that
is missing or of another type is an error.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from rocketmq_conformance.reports.event import (
    CaseEnded,
    CaseLost,
    Discovery,
    DivergenceFound,
    Event,
    ExpectedDivergence,
    Progress,
    RulesJudged,
    RunEnded,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
    Voices,
)
from rocketmq_conformance.reports.measurement_event import (
    CorruptionEnded,
    CorruptionJudged,
    CorruptionStarted,
    FolkloreDifference,
    FolkloreEnded,
    FolkloreStarted,
    FolkloreStep,
    MutantJudged,
    PowerEnded,
    PowerStarted,
)

EVENTS: tuple[type[Event], ...] = (
    RunStarted,
    SuiteStarted,
    Progress,
    CaseEnded,
    DivergenceFound,
    SuiteEnded,
    Discovery,
    Voices,
    CaseLost,
    ExpectedDivergence,
    RulesJudged,
    RunEnded,
    PowerStarted,
    MutantJudged,
    PowerEnded,
    CorruptionStarted,
    CorruptionJudged,
    CorruptionEnded,
    FolkloreStarted,
    FolkloreStep,
    FolkloreDifference,
    FolkloreEnded,
)
_KINDS = {event.kind: event for event in EVENTS}


def event_of(json: Any) -> Event:
    """The event of a JSON object; ValueError with the predicate of a sentence ("lacks …") when it is none."""
    if not isinstance(json, dict):
        raise ValueError("is not a JSON object")
    kind = json.get("event")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"has the unknown event kind {kind!r}")
    event = _build(_KINDS[kind], json)
    assert isinstance(event, Event)
    return event


def _build(cls: type, json: dict[str, Any]) -> object:
    values = {}
    for name, hint, plain, needed in _shape(cls):
        if name in json:
            value = json[name]
            # Most fields hold what they may at first sight, and a file may have millions of them.
            values[name] = value if type(value) is plain else _value(hint, value, name)
        elif needed:
            raise ValueError(f"lacks the field {name!r}")
    made: object = cls(**values)
    return made


@cache
def _shape(cls: type) -> list[tuple[str, Any, type | None, bool]]:
    """Per field: its name, its type, the same when it is a plain one, and whether it must be there."""
    hints = get_type_hints(cls)
    return [
        (
            item.name,
            hints[item.name],
            hints[item.name] if hints[item.name] in (str, int, float, bool) else None,
            item.default is MISSING and item.default_factory is MISSING,
        )
        for item in fields(cls)
    ]


def _value(hint: Any, value: Any, name: str) -> Any:
    """``value`` as a field of type ``hint``: only the types that events use."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin is list and isinstance(value, list):
        return [_value(args[0], item, name) for item in value]
    if origin is dict and isinstance(value, dict):
        return {key: _value(args[1], item, name) for key, item in value.items()}
    if origin is UnionType and any(_is(arg, value) for arg in args):
        return value
    if isinstance(hint, type) and is_dataclass(hint) and isinstance(value, dict):
        return _build(hint, value)
    if hint is float and _is(int, value):
        return float(value)
    if origin is None and _is(hint, value):
        return value
    raise ValueError(f"has a wrong value in the field {name!r}: {value!r:.60}")


def _is(hint: Any, value: object) -> bool:
    """Is ``value`` of a plain JSON type? ``True`` is no number."""
    if hint is NoneType or hint is None:
        return value is None
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
