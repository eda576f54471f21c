"""Tours: plans played by the model of a suite alone, and the behaviours that they show.

A *behaviour* is an operation that met a kind of state under its rules and was answered in a class: what coverage
counts, by operation. A *use* is a value of an argument in a behaviour, where the argument has few values. A *pair* is
two kinds of state that steps met one after the other, or two operations with the kinds that they met: one that changed
the model's state, and one that came later, before another change.

Where each case has its price, less can be looked at: behaviours by one rule each, so that those of a step whose answer
five rules decide together are five, and no plan is needed for every set of rules that may meet; and of the pairs only
those of a change and a *question*, a later step that changes nothing: what became of each change is asked.

No implementation is needed. Where an expected answer depends on what is observed (the times of stored messages), a
plausible observation stands in: the plan of a tour is right, the answers of such steps are examples.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from rocketmq_conformance.conformance.engine.judge import Forecast
from rocketmq_conformance.models.outcome import outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import OperationSpec
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Values that an argument may have to be followed one by one.
FEW = 100
#: An operation, and the kind of state that it met.
Met = tuple[int, str]


class TourPlace(NamedTuple):
    """Where a tour stands between two steps."""

    state: Any
    #: The last step, and the last one that changed the state; None before the first one.
    last: Met | None
    change: Met | None
    #: Ms of the clock of the observations.
    clock: int


class Seen(NamedTuple):
    """A step that was done: what it showed, and where the tour stands then."""

    row: Row
    behaviour: Forecast
    #: The behaviour, or those of each rule alone.
    behaviours: tuple[Hashable, ...]
    uses: tuple[Hashable, ...]
    pairs: tuple[Hashable, ...]
    after: TourPlace

    def shown(self, *, pairs: bool) -> tuple[Hashable, ...]:
        """What it showed: behaviours, their uses, and if asked to the pairs that it ended."""
        return *self.behaviours, *self.uses, *(self.pairs if pairs else ())


class Tours:
    """Plays plans of one suite by the model of one profile, and looks at uses, at each rule alone, and of the pairs at
    questions alone, if asked to."""

    def __init__(
        self, suite: Suite, profile: Profile, *, uses: bool = False, each_rule: bool = False, questions: bool = False
    ) -> None:
        self._each_rule, self._questions = each_rule, questions
        bound = suite.bind(profile.judged())
        self._handlers = bound.by_position
        self._specs = [operation.spec for operation in suite.operations]
        self._offered = frozenset(suite.offered(profile))
        #: Places of the arguments of each operation that have few values.
        self._few = [_few_values(operation.spec) if uses else () for operation in suite.operations]
        #: Where every tour begins.
        self.begin = TourPlace(bound.initial, None, None, 10)

    def allows(self, position: int, place: TourPlace) -> bool:
        """May an operation that the profile has be done there?"""
        guard = self._specs[position].guard
        return guard is None or guard(place.state)

    def decides(self, seen: Iterable[Seen]) -> bool:
        """Is the outcome of one of the steps known for certain, so that a case of them decides something?"""
        return any(not self._specs[step.row[0]].may_be_indeterminate for step in seen)

    def play(self, rows: Iterable[Row], place: TourPlace | None = None) -> list[Seen]:
        """Play a plan, from ``place`` on; steps that the profile lacks or the state does not allow are left out."""
        state, last, change, clock = place or self.begin
        seen = []
        for row in rows:
            at, args = row
            spec = self._specs[at]
            if at not in self._offered or (spec.guard is not None and not spec.guard(state)):
                continue
            clock += args[0] if spec.duration else 1
            handler = self._handlers[at]
            if spec.observes:
                observed = observation(spec.name, args, clock) or handler(state, None, *args)[1]
                after, result, why = handler(state, observed, *args)
            else:
                after, result, why = handler(state, *args)
            behaviour = at, why.rules, why.kind, outcome_class(result)
            behaviours: tuple[Hashable, ...] = (behaviour,)
            if self._each_rule:
                behaviours = tuple([(at, rule, *behaviour[2:]) for rule in why.rules])
            uses = tuple([(behaviour, number, args[number]) for number in self._few[at]])
            met = at, why.kind
            changes = after is not state and after != state
            pairs: tuple[Hashable, ...] = ((last[1], met[1]), (change, met)) if last else ()
            if self._questions:
                pairs = ((change, met),) if change and not changes else ()
            if changes:
                change = met
            state, last = after, met
            seen.append(Seen(row, behaviour, behaviours, uses, pairs, TourPlace(state, last, change, clock)))
        return seen


def _few_values(spec: OperationSpec) -> tuple[int, ...]:
    columns = [domain.rows() for _, domain in spec.domains]
    return tuple(at for at, column in enumerate(columns) if column is not None and 1 < len({*column}) <= FEW)


def shown(seen: Sequence[Seen], *, pairs: bool = True) -> set[Hashable]:
    """The behaviours and uses of steps, and with ``pairs`` the pairs."""
    return {one for step in seen for one in step.shown(pairs=pairs)}


def counted(behaviours: Iterable[Forecast]) -> set[tuple[str, str, str]]:
    """Behaviours as coverage counts them: (rule, kind of state, class of the outcome)."""
    return {(rule, kind, answered) for _, rules, kind, answered in behaviours for rule in rules}


def observation(name: str, args: tuple[Any, ...], clock: int) -> Any:
    """What a broker could show of an operation whose expected answer depends on it; None where that answer will do."""
    match name:
        case "send_timed":
            return tuple((offset, clock + args[3] * offset) for offset in range(args[2]))
        case "lock":
            return args[2], clock, clock + 5
        case "lock_for_nobody":
            return (), clock, clock + 5
        case "query_pages":  # message 0 is in memory at times
            return 0, clock % 3 > 0
    return None
