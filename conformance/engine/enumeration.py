"""Every plan of a suite up to a bound: searched in the model alone, where states that are equal are searched once.

The bound is a number of steps, and how many values of each argument are tried, simplest first. A *transition* is a
state and an operation with its arguments. All transitions of states that fewer steps reach are played by a few plans:
the shortest way to each state, on which operations that leave the state as it is follow one another.

States of the model that are equal give equal answers to every later step. An implementation may remember more than the
model: what only shows on a longer way to the same state is not in these plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from hashlib import blake2b
from itertools import islice, product
from operator import itemgetter
from typing import Any, NamedTuple

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Row, Suite


class NotListedError(Exception):
    """The plans of a suite cannot be listed; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Level:
    """What so many steps reach first."""

    steps: int
    #: States that are not reached by fewer steps.
    states: int
    #: Transitions out of them.
    transitions: int
    #: Plans of so many steps, which they stand for.
    plans: int


@dataclass(frozen=True, slots=True)
class Enumeration:
    """What a bound holds: level by level, and the plans that play every transition."""

    levels: tuple[Level, ...]
    plans: tuple[tuple[Row, ...], ...]
    #: Does no further step reach another state? Then plans of any length were searched.
    closed: bool

    @property
    def states(self) -> int:
        """States whose transitions are all played."""
        return sum(level.states for level in self.levels)

    @property
    def transitions(self) -> int:
        """Pairs of a state and an operation."""
        return sum(level.transitions for level in self.levels)


#: A way to a state: the positions of a plan's operations in the listed rows.
Way = tuple[int, ...]


class Expanded(NamedTuple):
    """What the operations do to the state at the end of a way."""

    #: Those that leave it as it is.
    idle: Way
    #: The others, with the key of the state that each leads to.
    moves: tuple[tuple[int, bytes], ...]


class Search:
    """The listed operations of a suite on its model."""

    def __init__(self, suite: Suite, profile: Profile, values: int) -> None:
        """NotListedError for a suite whose plans cannot be listed."""
        bound = suite.bind(profile)
        self.initial = bound.initial
        self.rows = listed_rows(suite, profile, values)
        self._steps = [(suite.operations[at].spec.guard, bound.by_position[at], args) for at, args in self.rows]

    def expand(self, way: Way) -> Expanded:
        """Do every operation that may be done at the end of a way."""
        state = self.initial
        for at in way:
            _, handler, args = self._steps[at]
            state = handler(state, *args)[0]
        here, idle, moves = key_of(state), list[int](), list[tuple[int, bytes]]()
        for at, (guard, handler, args) in enumerate(self._steps):
            if guard is not None and not guard(state):
                continue
            after = handler(state, *args)[0]
            key = here if after is state else key_of(after)
            if key == here:
                idle.append(at)
            else:
                moves.append((at, key))
        return Expanded(tuple(idle), tuple(moves))


#: Expands many ways, in their order.
ExpandAll = Callable[[Sequence[Way]], Iterable[Expanded]]


def enumerated(
    suite: Suite, profile: Profile, *, steps: int, values: int, most: int, expand: ExpandAll | None = None
) -> Enumeration:
    """All that up to ``steps`` steps with ``values`` values of each argument can show.

    ``expand`` does the work elsewhere. NotListedError for a suite whose plans cannot be listed, and when there are more
    than ``most`` transitions.
    """
    search = Search(suite, profile, values)
    expand = expand or partial(map, search.expand)
    count = len(search.rows)
    known = {key_of(search.initial)}
    level: list[Way] = [()]
    levels, plans, seen, new = list[Level](), list[Way](), 0, False
    for depth in range(1, steps + 1):
        if not level:
            break
        reached: list[Way] = []
        seen += len(level) * count
        if seen > most:
            raise NotListedError(
                f"{steps} steps with {values} values have more than {most:,} transitions ({seen:,} of {depth} steps): "
                "lower --steps or --values, or raise --most."
            )
        for way, found in zip(level, expand(level), strict=True):
            for at, key in found.moves:
                if key in known or depth == steps:
                    plans.append((*way, at))
                    new |= key not in known
                else:
                    known.add(key)
                    reached.append((*way, at))
            if found.idle:
                plans.append(way + found.idle)
        levels.append(Level(depth, len(level), len(level) * count, count**depth))
        level = reached
    rows = [tuple(search.rows[at] for at in plan) for plan in plans]
    return Enumeration(tuple(levels), tuple(rows), closed=not new)


def listed_rows(suite: Suite, profile: Profile, values: int) -> list[Row]:
    """Every operation that the profile has, with the first values of each argument."""
    rows: list[Row] = []
    for at in suite.offered(profile):
        operation = suite.operations[at]
        rows += [(at, args) for args in product(*_columns(suite, operation, values))]
    return rows


def _columns(suite: Suite, operation: type[Operation], values: int) -> Iterator[tuple[Any, ...]]:
    spec = operation.spec
    if spec.observes:
        raise NotListedError(f"{suite.name} cannot be listed: the answer to {spec.name} depends on what was observed.")
    if spec.together:
        raise NotListedError(f"{suite.name} cannot be listed: the arguments of {spec.name} are drawn together.")
    for name, domain in spec.domains:
        every = domain.rows()
        if every is None:
            raise NotListedError(f"{suite.name} cannot be listed: {spec.name} has too many values of {name}.")
        yield tuple(islice(dict.fromkeys(every), values))


def key_of(state: Any) -> bytes:
    """16 bytes that are equal for equal states, in every process."""
    return blake2b(repr(_plain(state)).encode(), digest_size=16).digest()


def _plain(value: Any) -> Any:
    """A value that is written alike when it is equal."""
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *map(_plain, value))
    if isinstance(value, Mapping):
        return sorted([(repr(_plain(key)), _plain(item)) for key, item in value.items()], key=itemgetter(0))
    if isinstance(value, (set, frozenset)):
        return ("set", *sorted(repr(_plain(item)) for item in value))
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(_plain(getattr(value, field.name)) for field in fields(value)))
    written: object = type(value).__repr__
    if written is object.__repr__:
        raise TypeError(f"the state of a model has a {type(value).__name__}, which is no value")
    return value
