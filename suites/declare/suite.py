"""Suites: operations bound to the model that answers them.

A suite names its operations and, for a profile, gives the initial state and one *handler* per operation::

    handler(state, *arguments) -> Answer(state, result, why)

A handler of an operation that ``observes`` takes ``(state, observed, *arguments)``. Handlers are pure.
In the hot loop an operation is a :data:`Row`, ``(position in the suite, arguments)``; the dataclass is made at
the borders only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.suites.declare.operation import Operation, Side

Handler = Callable[..., Answer[Any]]
#: One step of a plan: which operation of the suite, and its arguments.
Row = tuple[int, tuple[Any, ...]]


class Bound(NamedTuple):
    """A suite's model for one profile."""

    initial: Any
    handlers: tuple[Handler, ...]


@dataclass(frozen=True, eq=False)
class Suite:
    """Operations of one side that belong together, and their model."""

    name: str
    sentence: str
    side: Side
    operations: tuple[type[Operation], ...]
    #: Builds the model for a profile.
    bind: Callable[[Profile], Bound]
    #: Steps of a case when nobody says otherwise.
    steps: int = 30
    #: Cases of an ordinary run when nobody says otherwise.
    cases: int = 1000
    #: How the model's state is shown to a reader.
    show: Callable[[Any], str] = repr
    #: Rules that the suite can reach, for the coverage table.
    rules: tuple[str, ...] = ()
    #: Is the suite run when nobody names it? Slow ones (restarts) are not.
    ordinary: bool = True
    #: How things stand when a case begins, where the operations do not say it.
    beginning: str = ""
    #: Has a plan the same answers every time? Not when it depends on luck what becomes of a request.
    repeatable: bool = True
    #: Position of each operation by name.
    index: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        names = [op.form.name for op in self.operations]
        object.__setattr__(self, "index", {name: at for at, name in enumerate(names)})

    def row(self, op: Operation) -> Row:
        """An operation as the hot loop has it."""
        return self.index[op.form.name], op.args

    def operation(self, row: Row) -> Operation:
        """The dataclass of a row."""
        return self.operations[row[0]](*row[1])

    def offered(self, profile: Profile) -> Sequence[int]:
        """Positions of the operations that the profile has."""
        return [at for at, op in enumerate(self.operations) if op.form.offered(profile)]

    def lacking(self, profile: Profile, rows: Iterable[Row]) -> str:
        """The first operation of a plan that the profile does not have, by name, or ""."""
        offered = {*self.offered(profile)}
        return next((self.operations[at].form.name for at, _ in rows if at not in offered), "")
