"""Operations: everything that a plan can do, each declared once.

An operation is a frozen dataclass whose fields are annotated with their domains::

    @operation("Read the offset of a queue.", weight=4)
    class Read:
        queue: Annotated[int, Values(0, 1, 2)]

Modules of suites do without ``from __future__ import annotations``: every annotation is read here, and a string would
be compiled for it at each start of a command.

``operation`` makes the dataclass, gives it a ``name`` (``read``) and registers its :class:`OperationSpec`; sampler,
Hypothesis machine, JSON Schema and documentation all come from that one declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import FrozenInstanceError, dataclass, fields
from enum import Enum
from inspect import get_annotations
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform, get_args, get_origin

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.choices import Choices
from rocketmq_conformance.suites.declare.domain import Domain, Duration, Fault, Requests, Schema
from rocketmq_conformance.suites.declare.wording import Exchange, Wording, text, worded


class Side(Enum):
    """The part that an operation belongs to: pure (no state), client, whole (a consumer that runs by itself, judged by
    its traffic), grpc (the same over the gRPC protocol), broker, or the world around them."""

    PURE = "pure"
    CLIENT = "client"
    WHOLE = "whole"
    GRPC = "grpc"
    BROKER = "broker"
    #: Played by the runner on the fake broker; the implementation never sees it.
    WORLD = "world"

    @property
    def runs_by_itself(self) -> bool:
        """Is it a consumer that runs by itself, so that every step takes seconds where its timers are real?"""
        return self in (Side.WHOLE, Side.GRPC)


#: Past so many combinations an operation is drawn field by field instead of from a table.
TABLE_LIMIT = 4096

Guard = Callable[[Any], bool]
Offered = Callable[[Profile], bool]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OperationSpec:
    """The declaration of one operation type."""

    name: str
    sentence: str
    side: Side
    weight: int
    domains: tuple[tuple[str, Domain], ...]
    #: Names of the arguments, in field order.
    names: tuple[str, ...]
    #: May it be done in this state of the model? Steps of a plan for which it may not are left out when it is played.
    guard: Guard | None
    #: Does this profile have it at all?
    offered: Offered
    #: The model needs to see what was observed before it can answer (store timestamps, message ids).
    observes: bool
    #: The result is not the implementation's response but the commits that reached the fake broker, as sorted
    #: (queue, offset) pairs, with the word awaited as a third part when the request was not one way.
    effect: bool
    #: The commits that reached the fake broker are appended to the implementation's response, when that is a tuple.
    commits: bool
    #: Places of the parts of the answer that are sets, -1 for the answer itself: in which order an implementation has
    #: their elements says nothing.
    sets: tuple[int, ...]
    #: After an indeterminate outcome the model follows every possibility (indeterminate.py); of any other operation
    #: such an outcome decides nothing, and ends the case.
    may_be_indeterminate: bool
    #: Draws all fields together when they depend on one another.
    together: Callable[[Choices], tuple[Any, ...]] | None
    #: Simpler argument tuples for ``together``.
    shrink: Callable[[tuple[Any, ...]], list[tuple[Any, ...]]] | None
    #: The parts of the answer, when it is a list of different things: their names, in order, each with the rules that
    #: decide it.
    answer: Mapping[str, tuple[str, ...]]
    #: Parts of the answer that an implementation may leave open by null: they are not compared then.
    unsaid: tuple[str, ...]
    #: Parts of the answer that nothing later depends on: after a difference in these alone, the state is certain.
    idle: tuple[str, ...]
    #: Parts that no offset and no message depends on: a difference in these alone breaks a SHOULD.
    should: tuple[str, ...]
    #: How the parts of the answer are put into words, by name; "" stands for an answer without named parts.
    words: Mapping[str, Wording]
    #: The requests of which an answer says when they were asked and answered, to be drawn side by side.
    history: Callable[[Any], list[Exchange]] | None
    #: The same of its arguments, where their domains do not say it.
    said: Mapping[str, Wording]
    #: Ms of the plan that pass within it, by its arguments; None when none do. Only a virtual clock can do that.
    lasts: Callable[..., int] | None
    #: Places of the arguments that an implementation gets: all but faults and durations.
    given: tuple[int, ...]
    #: Places of its faults, with the requests that each of them plays.
    faults: tuple[tuple[int, Requests], ...]

    @property
    def duration(self) -> Duration | None:
        """Its domain of durations, when all it does is let time pass."""
        domain = self.domains[0][1] if self.domains else None
        return domain if isinstance(domain, Duration) else None

    def draw(self, choices: Choices) -> tuple[Any, ...]:
        """Arguments, in field order."""
        if self.together:
            return self.together(choices)
        return tuple(domain.draw(choices) for _, domain in self.domains)

    def rows(self) -> list[tuple[Any, ...]] | None:
        """Every argument tuple by weight, or None when there are too many to list."""
        columns = self.columns()
        if columns is None or prod(map(len, columns)) > TABLE_LIMIT:
            return None
        return list(product(*columns))

    def columns(self) -> tuple[Sequence[Any], ...] | None:
        """Every value of each argument by weight, or None when one of them cannot be listed."""
        if self.together:
            return None
        listed = [domain.rows() for _, domain in self.domains]
        return None if None in listed else tuple(rows for rows in listed if rows is not None)

    def simpler(self, args: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Argument tuples to try instead of ``args``, simplest first."""
        if self.shrink:
            return self.shrink(args)
        return [
            (*args[:at], value, *args[at + 1 :])
            for at, (_, domain) in enumerate(self.domains)
            for value in domain.simpler(args[at])
        ]

    def schema(self) -> Schema:
        """JSON Schema of the operation as a plan file writes it."""
        return {
            "type": "object",
            "description": self.sentence,
            "properties": {name: domain.schema() for name, domain in self.domains},
            "required": [name for name, _ in self.domains],
            "additionalProperties": False,
        }


@dataclass_transform(frozen_default=True)
class Operation:
    """Base of every operation: a frozen dataclass with a :class:`OperationSpec`.

    An implementation gets it without its faults and its duration (:meth:`for_implementation`): it lacks these
    attributes then.

    What ``dataclass`` would compile for each of some two hundred classes is written here once: that was most of the
    time in which the suites are imported.
    """

    spec: ClassVar[OperationSpec]

    def __init__(self, *args: Any, **named: Any) -> None:
        names = self.spec.names
        given = dict(zip(names, args, strict=False), **named)
        if len(args) + len(named) != len(names) or given.keys() != set(names):
            raise TypeError(f"{type(self).__name__} takes ({', '.join(names)}), not {args} {named}")
        vars(self).update((name, given[name]) for name in names)  # in field order, however they were given

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    @property
    def args(self) -> tuple[Any, ...]:
        """Its arguments, in field order."""
        return tuple(vars(self).values())

    @classmethod
    def for_implementation(cls, args: Sequence[Any]) -> Self:
        """The operation as an implementation is given it, of all its arguments in field order."""
        spec = cls.spec
        made = cls.__new__(cls)
        if len(spec.given) == len(args):
            vars(made).update(zip(spec.names, args, strict=True))
        else:
            vars(made).update((spec.domains[at][0], args[at]) for at in spec.given)
        return made

    @classmethod
    def of(cls, args: Sequence[Any]) -> Self:
        """The whole operation, of all its arguments in field order; they are not checked."""
        made = cls.__new__(cls)
        vars(made).update(zip(cls.spec.names, args, strict=True))
        return made

    def __str__(self) -> str:
        return f"{self.spec.name}({self._inside()})"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inside()})"

    def _inside(self) -> str:
        words = {name: getattr(of, "words", None) or self.spec.said.get(name) for name, of in self.spec.domains}
        return ", ".join(f"{name}={_argument(words[name], value)}" for name, value in vars(self).items())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.args))


def _argument(words: Wording | None, value: Any) -> str:
    if words is None:
        return repr(value)
    shown = text(worded(words, value))
    return f"[{shown}]" if isinstance(value, tuple) and words is not None else shown


O = TypeVar("O")  # noqa: E741 - the type of an operation class


def _domains(cls: type) -> tuple[tuple[str, Domain], ...]:
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__[: -len(Operation.__mro__)]):
        hints |= get_annotations(base, eval_str=True)
    found = []
    for item in fields(cls):
        hint = hints[item.name]
        extras = get_args(hint)[1:] if get_origin(hint) is not None else ()
        domain = next((extra for extra in extras if hasattr(extra, "draw")), None)
        if domain is None:
            raise TypeError(f"{cls.__name__}.{item.name} has no domain: annotate it with one")
        found.append((item.name, domain))
    return tuple(found)


def arguments(cls: type[O]) -> type[O]:
    """Make the dataclass of an operation, or of arguments that several operations inherit."""
    # Without its faults an instance has fewer fields than its class: it is compared and shown by what it has.
    return dataclass(init=False, repr=False, eq=False)(cls)


def operation(
    sentence: str,
    *,
    side: Side = Side.CLIENT,
    weight: int = 1,
    guard: Guard | None = None,
    offered: Offered = lambda profile: True,
    observes: bool = False,
    effect: bool = False,
    commits: bool = False,
    sets: tuple[int, ...] = (),
    may_be_indeterminate: bool = False,
    together: Callable[[Choices], tuple[Any, ...]] | None = None,
    shrink: Callable[[tuple[Any, ...]], list[tuple[Any, ...]]] | None = None,
    lasts: Callable[..., int] | None = None,
    answer: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    unsaid: tuple[str, ...] = (),
    idle: tuple[str, ...] = (),
    should: tuple[str, ...] = (),
    words: Wording | Mapping[str, Wording] = MappingProxyType({}),
    history: Callable[[Any], list[Exchange]] | None = None,
    said: Mapping[str, Wording] = MappingProxyType({}),
) -> Callable[[type[O]], type[O]]:
    """Declare an operation. The class must derive from :class:`Operation`.

    The keywords are explained by :class:`OperationSpec`; one that ``may_be_indeterminate`` cannot observe.
    """

    def declare(cls: type[O]) -> type[O]:
        cls.__doc__ = cls.__doc__ or sentence
        made = arguments(cls)
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        domains = _domains(made)
        if any(isinstance(domain, Duration) for _, domain in domains) and len(domains) > 1:
            raise TypeError(f"{cls.__name__} has more arguments than its duration: let time pass by an operation alone")
        given = [at for at, (_, domain) in enumerate(domains) if not isinstance(domain, (Fault, Duration))]
        made.__match_args__ = tuple(domains[at][0] for at in given)  # type: ignore[misc, attr-defined]
        made.spec = OperationSpec(  # type: ignore[attr-defined]
            name=name,
            sentence=sentence,
            side=side,
            weight=weight,
            domains=domains,
            names=tuple(name for name, _ in domains),
            guard=guard,
            offered=offered,
            observes=observes,
            effect=effect,
            commits=commits,
            sets=sets,
            may_be_indeterminate=may_be_indeterminate,
            together=together,
            shrink=shrink,
            lasts=lasts,
            answer=answer,
            unsaid=unsaid,
            idle=idle,
            should=should,
            words={"": words} if callable(words) else words,
            history=history,
            said=said,
            given=tuple(given),
            faults=tuple((at, domain.kind) for at, (_, domain) in enumerate(domains) if isinstance(domain, Fault)),
        )
        return made

    return declare
