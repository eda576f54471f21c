"""The world around a case whose steps an implementation does all at once: it moves on when a later step is reached."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.engine.environment import played_by
from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.models.outcome import (
    Err,
    Outcome,
    Result,
    Unsupported,
    Value,
    having_sent,
    outcome_of,
    result_of,
)
from rocketmq_conformance.suites.declare.operation import Operation, OperationSpec, Side
from rocketmq_conformance.suites.declare.suite import Row, Suite


class WholeCase:
    """The world of one case, from its beginning on."""

    def __init__(self, world: ClientCase, suite: Suite, rows: Sequence[Row]) -> None:
        self._world = world
        self._suite = suite
        self._rows = rows
        self._moves = moves_world(suite)
        #: Places in ``rows`` of the operations that the implementation does.
        self._places = [at for at, (op, _) in enumerate(rows) if suite.operations[op].spec.side is not Side.WORLD]
        #: The operations that the implementation does.
        self.operations = [self._operation(rows[at]) for at in self._places]
        #: The operation that is being done; -1 before the first one.
        self._at = -1
        #: The commits that each operation sent.
        self._commits: list[tuple[Value, ...]] = []
        self._answered = 0

    def reach(self, position: int) -> None:
        """The implementation is at this one of ``operations``; AdapterError when it was at a later one before."""
        if position < self._at:
            raise AdapterError(
                f"A request was said to be of step {position} after one of step {self._at}: steps are done in order."
            )
        if not self._moves:
            self._at = position
        while self._at < position:
            self._finish()
            self._at += 1
            self._begin()

    def end(self) -> None:
        """The implementation has done all that it does."""
        self.reach(len(self.operations))

    def with_effect(self, outcome: Outcome) -> Outcome:
        """The outcome of the next operation, with the commits that it sent where these count."""
        if not self._moves:
            return outcome
        at = self._answered
        self._answered += 1
        return with_commits(self.operations[at].spec, outcome, self._commits[at])

    def _operation(self, row: Row) -> Operation:
        operation = self._suite.operations[row[0]]
        lasts = self._moves and operation.spec.duration
        return self._suite.operation(row) if lasts else operation.for_implementation(row[1])

    def _begin(self) -> None:
        """Play what comes before an operation, and arm its faults."""
        before = self._places[self._at - 1] + 1 if self._at else 0
        place = self._places[self._at] if self._at < len(self._places) else len(self._rows)
        for position, args in self._rows[before:place]:
            played_by(self._world, self._suite.operations[position])(*args)
        script = self._world.broker.script
        script.calm()
        if self._at < len(self._places):
            position, args = self._rows[place]
            for at, requests in self._suite.operations[position].spec.faults:
                script.arm(requests, args[at])

    def _finish(self) -> None:
        """Take what an operation did; the clock of the world goes on by its duration."""
        if self._at < 0:
            return
        position, args = self._rows[self._places[self._at]]
        spec = self._suite.operations[position].spec
        if spec.duration:
            self._world.pass_time(args[0])
        self._commits.append(self._world.take_commits() if spec.effect or spec.commits else ())


@lru_cache(maxsize=64)
def moves_world(suite: Suite) -> bool:
    """Do operations of a suite change the world around the implementation, or count by what they change there?"""
    return any(
        spec.side is Side.WORLD or spec.faults or spec.duration or spec.effect or spec.commits
        for spec in (operation.spec for operation in suite.operations)
    )


def with_commits(spec: OperationSpec, outcome: Outcome, commits: tuple[Value, ...]) -> Outcome:
    """An outcome with the commits that reached the fake broker, where they are part of the answer or all of it."""
    if isinstance(outcome, Unsupported) or not (spec.effect or spec.commits):
        return outcome
    return outcome_of(judged_with(result_of(outcome), commits, alone=spec.effect))


def judged_with(result: Result, commits: tuple[Value, ...], *, alone: bool) -> Result:
    """What is judged of an operation that sent these commits: they ``alone``, or its own answer and then they."""
    if isinstance(result, Err):
        return having_sent(result, commits)
    if alone:
        return commits
    if isinstance(result, tuple):
        return (*result, commits)
    return (result, commits) if commits else result
