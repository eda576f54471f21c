"""Outcomes: the possible results of an operation.

An outcome is ``Ok(value)``, ``Err(code)`` or ``Unsupported(reason)``, and nothing else. Inside the hot loop an
``Ok`` travels as its bare value (a :data:`Result`); ``outcome_of`` and ``result_of`` convert at the borders.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import overload

#: The values that an operation may answer: JSON's scalars, and tuples of them.
Value = None | bool | int | str | tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Ok:
    """The operation was done and answered ``value``.

    ``clients`` are the ids of a group's members, by their numbers, where an answer depends on their order ("": not
    known yet); the model is given them, and they are never compared. ``unshown`` are the rules that would not have
    shown here if they had been broken.
    """

    value: Value = None
    clients: tuple[str, ...] = field(default=(), compare=False, repr=False)
    unshown: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Err:
    """The operation was refused or failed with ``code``.

    ``definite`` is False when it is unknown whether it took effect (a commit that timed out).
    ``detail`` is for the reader; it is never compared. ``clients`` are as in an ``Ok``. ``commits`` are those that
    reached the broker all the same, of an operation that is judged by its commits.
    """

    code: str
    definite: bool = True
    detail: str = field(default="", compare=False, repr=False)
    clients: tuple[str, ...] = field(default=(), compare=False, repr=False)
    commits: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The implementation does not offer the operation; ``reason`` says why."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Undefined:
    """The model's answer where RocketMQ promises nothing: every outcome is accepted. Compared by identity."""


Outcome = Ok | Err | Unsupported
Result = Value | Err
#: A result, or the reason why there is none.
Answer = Result | Unsupported
#: The values that the model may expect.
Expected = Value | Err | Undefined

UNDEFINED = Undefined()


def outcome_of(answer: Answer) -> Outcome:
    """Wrap a bare result."""
    return answer if isinstance(answer, (Err, Unsupported)) else Ok(answer)


@overload
def result_of(outcome: Ok | Err) -> Result: ...
@overload
def result_of(outcome: Outcome) -> Answer: ...
def result_of(outcome: Outcome) -> Answer:
    """Unwrap an outcome; one without a result stays as it is."""
    return outcome.value if isinstance(outcome, Ok) else outcome


def having_sent(error: Err, commits: tuple[Value, ...]) -> Err:
    """The error of an operation that failed after it had sent these commits."""
    return Err(error.code, error.definite, error.detail, error.clients, commits) if commits else error


def agrees(expected: Expected, observed: Expected) -> bool:
    """Is ``observed`` what the model expects? Types count: ``True`` is not ``1``."""
    return expected is UNDEFINED or (expected == observed and repr(expected) == repr(observed))


def outcome_class(result: Expected) -> str:
    """The class of a result that coverage counts: errors by code, numbers by sign, lists by emptiness."""
    match result:
        case Undefined():
            return "undefined"
        case Err(code):
            return code
        case bool():
            return "true" if result else "false"
        case int():
            return "negative" if result < 0 else "positive" if result else "zero"
        case tuple():
            return "items" if result else "empty"
        case str():
            return "text"
        case _:
            return "done"
