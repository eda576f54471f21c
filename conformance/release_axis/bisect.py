"""The release at which the answers to a plan changed, by playing as few releases as possible::

    from rocketmq_conformance.conformance.release_axis.addresses import BROKER, addresses_of
    from rocketmq_conformance.conformance.release_axis.bisect import bisect

    for change in bisect(addresses_of(["4.7.1..5.5.0"], BROKER), plans).changes: ...

``plans`` are those of one suite (``given_plans``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocketmq_conformance.conformance.engine.limits import LONGEST_WAIT, PATIENCE, START_TIMEOUT
from rocketmq_conformance.conformance.release_axis.cache import Cache
from rocketmq_conformance.conformance.release_axis.cell import Cell, Progress, play_cell
from rocketmq_conformance.conformance.release_axis.classes import Parting, partings
from rocketmq_conformance.conformance.release_axis.matrix import switches_between
from rocketmq_conformance.conformance.release_axis.plans import Plans
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.release import Switch
from rocketmq_conformance.models.rule import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Two neighbours that answer differently; ``between`` could not be played."""

    before: str
    after: str
    between: tuple[str, ...]
    #: The first step at which they part, in words.
    step: str
    parting: Parting
    #: The rules that either of them goes by there.
    rules: tuple[Rule, ...]
    #: Known changes of these rules between the two, or of those of the steps before.
    switches: tuple[Switch, ...]


@dataclass(frozen=True, slots=True)
class Bisection:
    """What was played, and where the answers changed."""

    plans: Plans
    #: Every address, in the order of the releases.
    order: tuple[str, ...]
    #: Those that were played, or could not be, in the order of the releases.
    cells: tuple[Cell, ...]
    changes: tuple[Change, ...]

    @property
    def played(self) -> tuple[str, ...]:
        """The addresses that answered."""
        return tuple(cell.address for cell in self.cells if not _why_not(cell, self.plans))

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """(address, why it could not be played)."""
        reasons = ((cell.address, _why_not(cell, self.plans)) for cell in self.cells)
        return tuple((address, reason) for address, reason in reasons if reason)


class _Search:
    def __init__(
        self,
        order: Sequence[str],
        plans: Plans,
        cache: Cache,
        limits: tuple[float, float, float],
        progress: Progress,
    ) -> None:
        self.order = order
        self.plans = plans
        self.cache = cache
        self.start_timeout, self.patience, self.max_wait = limits
        self.progress = progress
        self.cells: dict[int, Cell] = {}

    def answers(self, at: int) -> bool:
        """Can the plan be played at an address? Plays it."""
        if at not in self.cells:
            self.cells[at] = play_cell(
                self.order[at],
                [self.plans],
                self.cache,
                start_timeout=self.start_timeout,
                patience=self.patience,
                max_wait=self.max_wait,
                progress=self.progress,
            )
        return not _why_not(self.cells[at], self.plans)

    def changes(self, first: int, last: int) -> Iterator[Change]:
        """The changes between two addresses that can be played."""
        name = self.plans.suite.name
        ends = {self.order[at]: self.cells[at].suites[name] for at in (first, last)}
        parted = sorted(partings(name, ends), key=lambda parting: parting.at)
        if not parted:
            return
        middle = (first + last) // 2
        inner = sorted(range(first + 1, last), key=lambda at: abs(at - middle))
        split = next((at for at in inner if self.answers(at)), None)
        if split is not None:
            yield from self.changes(first, split)
            yield from self.changes(split, last)
            return
        yield self._change(first, last, parted[0])

    def _change(self, first: int, last: int, parting: Parting) -> Change:
        rows = dict(self.plans.cases)[parting.case]
        before, after = self.order[first], self.order[last]
        return Change(
            before=before,
            after=after,
            between=tuple(self.order[first + 1 : last]),
            step=str(self.plans.suite.operation(rows[parting.at])),
            parting=parting,
            rules=tuple(rulebook.rule(rule) for rule in parting.rules),
            switches=switches_between(before, after, parting.rules, parting.earlier),
        )


def bisect(
    order: Sequence[str],
    plans: Plans,
    cache: Cache | None = None,
    *,
    start_timeout: float = START_TIMEOUT,
    patience: float = PATIENCE,
    max_wait: float = LONGEST_WAIT,
    progress: Progress = lambda address, text: None,
) -> Bisection:
    """Find the neighbours in ``order`` between which the answers to the plans changed.

    Both ends are played, and the middle of every stretch whose ends differ; a change that was taken back within a
    stretch with equal ends is not seen. Addresses that cannot be played are stepped over. AddressError for no address.
    """
    search = _Search(order, plans, cache or Cache(None), (start_timeout, patience, max_wait), progress)
    first = next((at for at in range(len(order)) if search.answers(at)), None)
    last = next((at for at in reversed(range(len(order))) if search.answers(at)), None)
    found = tuple(search.changes(first, last)) if first is not None and last is not None and first < last else ()
    cells = tuple(cell for _, cell in sorted(search.cells.items()))
    return Bisection(plans, tuple(order), cells, found)


def _why_not(cell: Cell, plans: Plans) -> str:
    """Why a plan was not played in a cell; "" when it was."""
    if cell.reason:
        return cell.reason
    record = cell.suites[plans.suite.name]
    if record.refused:
        return record.refused
    if any(case.steps for case in record.cases.values()):
        return ""
    return next((case.reason for case in record.cases.values() if case.reason), "no step of the plan was judged")
