"""Suites: operations, bound to the model that gives the expected answers.

A suite is bound to a profile: that gives the initial state of its model and one *handler* per operation class, and is
the one place where its operations are listed, in the order of their positions::

    BoundModel(initial_state, {Update: model.update, Read: model.read})

    handler(state, *arguments) -> Answer(state, result, why)

A handler of an operation that ``observes`` takes ``(state, observed, *arguments)``. Handlers are pure.
In the hot loop an operation is a :data:`Row`, ``(position in the suite, arguments)``; the dataclass is made at
the borders only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Rule
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.topologies import ORDINARY

Handler = Callable[..., Answer[Any]]
#: One step of a plan: which operation of the suite, and its arguments.
Row = tuple[int, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class BoundModel:
    """A suite's model for one profile."""

    #: The initial state.
    initial: Any
    #: The handler of every operation, in the order of their positions: the same operations for every profile.
    handlers: Mapping[type[Operation], Handler]
    #: The state once the client ids of members are known that an outcome names; None where no answer depends on them.
    learn: Callable[[Any, tuple[str, ...]], Any] | None = None
    #: The handlers by position, for the hot loop.
    by_position: tuple[Handler, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_position", tuple(self.handlers.values()))


@dataclass(frozen=True, eq=False, kw_only=True)
class Suite:
    """Operations of one side that belong together, and their model."""

    name: str
    sentence: str
    side: Side
    #: Builds the model for a profile.
    bind: Callable[[Profile], BoundModel]
    #: Who is where in the cases of a client suite; its models are bound to this, too.
    topology: Topology = ORDINARY
    #: Steps of a case by default.
    steps: int = 30
    #: Cases of an ordinary run by default.
    cases: int = 1000
    #: How the model's state is shown to a reader.
    show: Callable[[Any], str] = repr
    #: Ids of the rules that the suite can reach: every rule that fires in it, on any release. Which of them can fire by
    #: a profile says :mod:`reach`.
    rules: tuple[str, ...] = ()
    #: Ids of rules of single decisions that its answers show beneath these (``Reason.beneath``), on any release.
    beneath: tuple[str, ...] = ()
    #: Where it reaches some of them on fewer releases than these are for.
    limits: tuple[RuleLimit, ...] = ()
    #: Rules that are not in the kit's rule book: those of a suite in another package.
    own_rules: tuple[Rule, ...] = ()
    #: Is there anything in it for a profile? Not where the release does not know what it is about.
    has: Callable[[Profile], bool] = lambda profile: True
    #: Is the suite part of an ordinary run? Slow ones (restarts) are run only when they are named.
    ordinary: bool = True
    #: About how long a case takes by itself where what it waits for is real: restarts of a broker, timers at their
    #: standard (s).
    case_seconds: float = 0.0
    #: The initial state of a case in words, where the operations do not make it clear.
    beginning: str = ""
    #: Has a plan the same answers every time? Not when the outcome of a request depends on timing.
    repeatable: bool = True
    #: How often a plan is played until it diverges, when a shorter one is looked for or it is replayed: more than once
    #: where that takes luck.
    tries: int = 1
    #: How often a difference on a real clock must show again before it is a divergence.
    confirmations: int = 0

    @property
    def family(self) -> str:
        """The name of the suite that has the same operations on the ordinary topology."""
        return self.name.removesuffix(f"-{self.topology.name}")

    @cached_property
    def operations(self) -> tuple[type[Operation], ...]:
        """The operations by position: those that the model has handlers for."""
        return tuple(self.bind(Profile()).handlers)

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each operation by name."""
        return {op.spec.name: at for at, op in enumerate(self.operations)}

    def row(self, op: Operation) -> Row:
        """An operation as a row, the form that the hot loop uses."""
        return self.index[op.spec.name], op.args

    def operation(self, row: Row) -> Operation:
        """The dataclass of a row."""
        return self.operations[row[0]].of(row[1])

    def for_implementation(self, row: Row) -> Operation:
        """The operation of a row as an implementation gets it: without the arguments that the kit plays itself."""
        return self.operations[row[0]].for_implementation(row[1])

    @cached_property
    def clock(self) -> int | None:
        """Position of the operation that lets time pass; None when the suite has no clock."""
        return next((at for at, op in enumerate(self.operations) if op.spec.duration), None)

    def offered(self, profile: Profile) -> Sequence[int]:
        """Positions of the operations that the profile has."""
        if not self.has(profile):
            return []
        return [at for at, op in enumerate(self.operations) if op.spec.offered(profile)]

    def lacking(self, profile: Profile, rows: Iterable[Row]) -> str:
        """The first operation of a plan that the profile does not have, by name, or ""."""
        offered = {*self.offered(profile)}
        return next((self.operations[at].spec.name for at, _ in rows if at not in offered), "")
