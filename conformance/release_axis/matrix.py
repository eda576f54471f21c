"""A matrix: per rule, what each of many implementations does with the same plans::

    from rocketmq_conformance.conformance.release_axis.matrix import matrix

    for row in matrix(["broker:4.9.7", "broker:5.5.0"], plans).rows: ...

``plans`` are those of one or more suites (``plans_of``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocketmq_conformance.conformance.engine.limits import LONGEST_WAIT, PATIENCE, START_TIMEOUT
from rocketmq_conformance.conformance.release_axis.addresses import release_of
from rocketmq_conformance.conformance.release_axis.cache import Cache
from rocketmq_conformance.conformance.release_axis.cell import Cell, Progress, play_cell
from rocketmq_conformance.conformance.release_axis.classes import Parting, classes, partings
from rocketmq_conformance.conformance.release_axis.plans import Plans
from rocketmq_conformance.models.broker import switches as broker_switches
from rocketmq_conformance.models.client import switches as client_switches
from rocketmq_conformance.models.release import Switch, changes, switches_of

_SWITCHES = (*switches_of(broker_switches), *switches_of(client_switches))


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """A rule: which implementations go by it, how they part, and who broke it."""

    rule: str
    suites: tuple[str, ...]
    #: Steps that it decided, of all implementations together.
    steps: int
    #: Implementations whose release has it: it decided some of their steps.
    goes_by: tuple[str, ...]
    #: Implementations that behave alike at its steps, of those that played its suites.
    groups: tuple[tuple[str, ...], ...]
    #: The earliest step that parts each group from the first one.
    partings: tuple[Parting, ...]
    #: Implementations that did what the rules of their own release forbid.
    against: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All cells, and what was found in them."""

    cells: tuple[Cell, ...]
    plans: tuple[Plans, ...]
    rows: tuple[RuleRow, ...]
    #: Implementations that no step of any suite tells from each other.
    classes: tuple[tuple[str, ...], ...]
    partings: tuple[Parting, ...]

    @property
    def comparable(self) -> bool:
        """Was a suite played at two addresses?"""
        return any(sum(_has_played(cell, plan.suite.name) for cell in self.cells) > 1 for plan in self.plans)

    @property
    def complete(self) -> bool:
        """Could every address be played to the end?"""
        return not any(cell.reason for cell in self.cells)


def matrix(
    addresses: Sequence[str],
    plans: Sequence[Plans],
    cache: Cache | None = None,
    *,
    start_timeout: float = START_TIMEOUT,
    patience: float = PATIENCE,
    max_wait: float = LONGEST_WAIT,
    progress: Progress = lambda address, text: None,
) -> Matrix:
    """Play the plans at each address, one after another, and compare. A cell that cannot run says why.

    AddressError for what is no address, before anything is played at a later one.
    """
    kept = cache or Cache(None)
    cells = tuple(
        play_cell(
            address,
            plans,
            kept,
            start_timeout=start_timeout,
            patience=patience,
            max_wait=max_wait,
            progress=progress,
        )
        for address in addresses
    )
    return compared(cells, plans)


def compared(cells: Sequence[Cell], plans: Sequence[Plans]) -> Matrix:
    """The matrix of cells that were played."""
    found = tuple(
        parting
        for plan in plans
        for parting in partings(
            plan.suite.name,
            {cell.address: cell.suites[plan.suite.name] for cell in cells if plan.suite.name in cell.suites},
        )
    )
    played = [cell.address for cell in cells if any(record.cases for record in cell.suites.values())]
    return Matrix(tuple(cells), tuple(plans), tuple(_rows(cells, found)), classes(played, found), found)


def _rows(cells: Sequence[Cell], found: Sequence[Parting]) -> Iterator[RuleRow]:
    steps: Counter[str] = Counter()
    suites: dict[str, dict[str, None]] = {}
    goes_by: dict[str, dict[str, None]] = {}
    against: dict[str, dict[str, None]] = {}
    for cell in cells:
        for suite, record in cell.suites.items():
            for step in (step for case in record.cases.values() for step in case.steps):
                for rule in step.rules:
                    steps[rule] += 1
                    suites.setdefault(rule, {})[suite] = None
                    goes_by.setdefault(rule, {})[cell.address] = None
                    if not step.allowed:
                        against.setdefault(rule, {})[cell.address] = None
    for rule in sorted(steps):
        mine = [parting for parting in found if rule in parting.rules]
        played = [cell.address for cell in cells if any(_has_played(cell, suite) for suite in suites[rule])]
        groups = classes(played, mine)
        yield RuleRow(
            rule=rule,
            suites=tuple(suites[rule]),
            steps=steps[rule],
            goes_by=tuple(goes_by[rule]),
            groups=groups,
            partings=tuple(_first(mine, groups[0], group) for group in groups[1:]),
            against=tuple(against.get(rule, ())),
        )


def _has_played(cell: Cell, suite: str) -> bool:
    return suite in cell.suites and bool(cell.suites[suite].cases)


def _first(found: Sequence[Parting], one: Sequence[str], other: Sequence[str]) -> Parting:
    """The parting of two groups with the fewest steps before it."""
    fitting = [parting for parting in found if any(parting.parts(a, b) for a in one for b in other)]
    return min(fitting, key=lambda parting: parting.at)


def switches_between(one: str, other: str, rules: Iterable[str], earlier: Iterable[str] = ()) -> tuple[Switch, ...]:
    """The known changes of rules between two releases of one side, or, where these did not change, of the rules of the
    steps before; none for other addresses."""
    first, second = release_of(one), release_of(other)
    if first is None or second is None:
        return ()
    return changes(_SWITCHES, first, second, rules) or changes(_SWITCHES, first, second, earlier)
