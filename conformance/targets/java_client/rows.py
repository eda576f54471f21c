"""Many Java objects at once: what their methods answer, and setters; in one call of Java where it has a compiler."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client.java_source import BETWEEN, compiled

#: The value that leaves an object alone.
_ALONE = -(2**63)


def rows(objects: Any, *methods: str) -> list[tuple[str, ...]]:
    """What these methods answer, as text, for each object of a Java collection.

    A method of what another one answers has a dot between: ``getMessageQueue.getTopic``.
    """
    java = compiled("Rows")
    if java is None:
        return [tuple([_text(reduce(_call, path, one)) for path in _paths(methods)]) for one in objects]
    answers = iter(str(java.of(objects, _arrays(methods))).split(BETWEEN)[:-1])
    return list(zip(*[answers] * len(methods), strict=True))


def set_each(objects: Any, setter: str, values: Sequence[int | None]) -> None:
    """Call a setter of each object of a Java collection with the number at its place; None leaves it alone."""
    java = compiled("Rows")
    if java is not None:
        java.set(objects, setter, [_ALONE if value is None else value for value in values])
        return
    for one, value in zip(objects, values, strict=True):
        if value is not None:
            getattr(one, setter)(value)


def _text(answer: Any) -> str:
    """An answer as Java writes it."""
    return str(answer).lower() if isinstance(answer, bool) else str(answer)


def _call(owner: Any, method: str) -> Any:
    return getattr(owner, method)()


@cache
def _paths(methods: tuple[str, ...]) -> list[list[str]]:
    return [method.split(".") for method in methods]


@cache
def _arrays(methods: tuple[str, ...]) -> Any:
    """The same as arrays of Java."""
    return jpype.JArray(jpype.JString, 2)(_paths(methods))
