"""Value domains: the values that an argument of an operation may have.

A domain is declared once, beside the field (``Annotated[int, Values(0, 1)]``), and gives the sampler, the
Hypothesis strategy, the JSON Schema and the documentation. Values are listed simplest first: that is the
direction in which a failing plan shrinks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any, Protocol

from rocketmq_conformance.suites.declare.choices import Choices, pick
from rocketmq_conformance.suites.declare.wording import Wording

Schema = dict[str, Any]


class Domain(Protocol):
    """The values of one argument."""

    def draw(self, choices: Choices) -> Any:
        """One value."""
        ...

    def rows(self) -> Sequence[Any] | None:
        """Every value, simplest first and repeated by weight; None when they cannot be listed."""
        ...

    def simpler(self, value: Any) -> Sequence[Any]:
        """Values to try instead of ``value`` when shrinking, simplest first."""
        ...

    def schema(self) -> Schema:
        """JSON Schema of one value."""
        ...


def _simpler_of(rows: Sequence[Any], value: Any) -> list[Any]:
    distinct = list(dict.fromkeys(rows))
    return distinct[: distinct.index(value)] if value in distinct else distinct


def _as_lists(value: Any) -> Any:
    """A value as JSON has it: lists for tuples, at every depth."""
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Values:
    """One of a few values; ``weights`` repeats each of them (1 when absent)."""

    items: tuple[Any, ...]
    weights: tuple[int, ...] = ()
    #: How a value is put into words; None: as it is.
    words: Wording | None = None

    def __init__(self, *items: Any, weights: tuple[int, ...] = (), words: Wording | None = None) -> None:
        if weights and len(weights) != len(items):
            raise ValueError("one weight per value")
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "words", words)

    def draw(self, choices: Choices) -> Any:
        return pick(choices, self.rows())

    def rows(self) -> Sequence[Any]:
        if not self.weights:
            return self.items
        return [item for item, weight in zip(self.items, self.weights, strict=True) for _ in range(weight)]

    def simpler(self, value: Any) -> Sequence[Any]:
        return _simpler_of(self.items, value)

    def schema(self) -> Schema:
        return {"enum": [_as_lists(item) for item in self.items]}


#: The value of a fault that means no fault: requests are answered as usual.
ANSWER = "answer"


class Requests(Enum):
    """Which requests of an implementation the fake broker plays by a fault."""

    OFFSETS = "queries and commits of offsets"
    BOUNDS = "max, min and searches"
    MEMBERS = "the list of a group's members"
    SEND_BACK = "messages that come back"
    LOCKS = "locks and unlocks of queues"
    ASSIGNMENTS = "assignments of queues"
    HEARTBEATS = "heartbeats"


@dataclass(frozen=True, init=False)
class Fault(Values):
    """How the fake broker plays some requests while an operation is done: one of a few values, such as ANSWER.

    It is part of the plan and of the model's arguments. The kit plays it: an implementation does not get it.
    """

    kind: Requests = Requests.OFFSETS

    def __init__(self, kind: Requests, *items: str, weights: tuple[int, ...] = ()) -> None:
        super().__init__(*items, weights=weights)
        object.__setattr__(self, "kind", kind)


class Duration(Values):
    """How long an operation lets time pass, in ms: one of a few values; the only argument of its operation.

    The kit lets it pass, by turning the clock of an implementation or by waiting for a real one: no implementation
    gets it as an argument.
    """


#: The most whole numbers that are listed.
_LISTED = 4096


@dataclass(frozen=True)
class Whole:
    """A whole number of ``[low, high]``: one of ``edges`` in every second draw."""

    low: int
    high: int
    edges: tuple[int, ...] = ()

    def draw(self, choices: Choices) -> int:
        if self.edges and choices.below(2) == 0:
            return pick(choices, self.edges)
        return self.low + choices.below(self.high - self.low + 1)

    def rows(self) -> Sequence[int] | None:
        every = range(self.low, self.high + 1)
        if len(every) > _LISTED:
            return None
        if not self.edges:
            return every
        return [*self.edges * -(-len(every) // len(self.edges)), *every]

    def simpler(self, value: int) -> Sequence[int]:
        around = (*self.edges, self.low, value // 2, value - 1)
        return [v for v in dict.fromkeys(around) if self.low <= v <= self.high and abs(v) < abs(value)]

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": min((self.low, *self.edges)), "maximum": self.high}


@dataclass(frozen=True)
class Subset:
    """A sorted tuple of some of ``items``, at most ``most`` of them."""

    items: tuple[Any, ...]
    most: int | None = None

    def draw(self, choices: Choices) -> tuple[Any, ...]:
        rows = self.rows()
        return pick(choices, rows)

    def rows(self) -> Sequence[tuple[Any, ...]]:
        most = len(self.items) if self.most is None else self.most
        return [c for size in range(most + 1) for c in combinations(self.items, size)]

    def simpler(self, value: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        return [tuple(v for v in value if v != left_out) for left_out in value]

    def schema(self) -> Schema:
        return {"type": "array", "items": {"enum": list(self.items)}, "uniqueItems": True}


@dataclass(frozen=True)
class Drawn:
    """Values that are too many to list: ``make`` draws one, ``shrink`` gives simpler ones."""

    make: Callable[[Choices], Any]
    json: Schema
    shrink: Callable[[Any], Sequence[Any]] = lambda value: ()
    words: Wording | None = None

    def draw(self, choices: Choices) -> Any:
        return self.make(choices)

    def rows(self) -> None:
        return None

    def simpler(self, value: Any) -> Sequence[Any]:
        return self.shrink(value)

    def schema(self) -> Schema:
        return self.json
