"""Every plan of a suite up to a bound: searched in the model alone, where states that are equal are searched once.

The bound is a number of steps, and how many values of each argument are tried, simplest first. A *transition* is a
state and an operation with its arguments. All transitions of states that fewer steps reach are played by a few plans:
the shortest way to each state, on which operations that leave the state as it is follow one another.

States of the model that are equal give equal answers to every later step. An implementation may remember more than the
model: what only shows on a longer way to the same state is not in these plans.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice, product
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


class _Found(NamedTuple):
    """A state, and the shortest plan that reaches it."""

    state: Any
    plan: tuple[Row, ...]


def enumerated(suite: Suite, profile: Profile, *, steps: int, values: int, most: int) -> Enumeration:
    """All that up to ``steps`` steps with ``values`` values of each argument can show.

    NotListedError for a suite whose plans cannot be listed, and when there are more than ``most`` transitions.
    """
    rows = listed_rows(suite, profile, values)
    handlers = suite.bind(profile).by_position
    initial = suite.bind(profile).initial
    known: set[Hashable] = {frozen(initial)}
    level, levels, plans, seen, new = [_Found(initial, ())], list[Level](), list[tuple[Row, ...]](), 0, False
    for depth in range(1, steps + 1):
        if not level:
            break
        reached: list[_Found] = []
        seen += len(level) * len(rows)
        if seen > most:
            raise NotListedError(
                f"{steps} steps with {values} values have more than {most:,} transitions ({seen:,} of {depth} steps): "
                "lower --steps or --values, or raise --most."
            )
        for found in level:
            here, idle = frozen(found.state), []
            for row in rows:
                guard = suite.operations[row[0]].spec.guard
                if guard is not None and not guard(found.state):
                    continue
                after = handlers[row[0]](found.state, *row[1])[0]
                key = frozen(after)
                if key == here:
                    idle.append(row)
                elif key in known or depth == steps:
                    plans.append((*found.plan, row))
                    new |= key not in known
                else:
                    known.add(key)
                    reached.append(_Found(after, (*found.plan, row)))
            if idle:
                plans.append((*found.plan, *idle))
        levels.append(Level(depth, len(level), len(level) * len(rows), len(rows) ** depth))
        level = reached
    return Enumeration(tuple(levels), tuple(plans), closed=not new)


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


def frozen(value: Any) -> Hashable:
    """A value that is equal for equal states, and can be looked up."""
    if isinstance(value, Mapping):
        return frozenset((key, frozen(item)) for key, item in value.items())
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *map(frozen, value))
    if isinstance(value, (set, frozenset)):
        return frozenset(map(frozen, value))
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(frozen(getattr(value, field.name)) for field in fields(value)))
    hash(value)  # the state of a model is a value
    return value if isinstance(value, Hashable) else repr(value)
