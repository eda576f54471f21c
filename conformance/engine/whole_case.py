"""The world around a case whose steps an implementation does all at once: it moves on when a later step is reached."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.engine.environment import played_by
from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.models.outcome import (
    Answer,
    Err,
    Result,
    Unsupported,
    Value,
    having_sent,
)
from rocketmq_conformance.suites.declare.operation import OperationSpec, Side
from rocketmq_conformance.suites.declare.suite import Row, Suite


class WholeCase:
    """The world of one case, from its beginning on."""

    def __init__(self, world: ClientCase, suite: Suite, rows: Sequence[Row]) -> None:
        self._world = world
        self._suite = suite
        self._plan = rows
        self._of_world = of_world = operations_of_world(suite)
        self._leaves = leaves_something(suite)
        #: Places in the plan of what the implementation does.
        self._places = [place for place, (at, _) in enumerate(rows) if at not in of_world]
        #: What the implementation does.
        self.rows = [rows[at] for at in self._places]
        #: The operation that is being done; -1 before the first one.
        self._at = -1
        #: The commits that each operation sent.
        self._commits: list[tuple[Value, ...]] = []

    def reach(self, position: int) -> None:
        """The implementation is at this one of ``rows``; AdapterError when it was at a later one before."""
        if position < self._at:
            raise AdapterError(
                f"A request was said to be of step {position} after one of step {self._at}: steps are done in order."
            )
        while self._at < position:
            self._finish()
            self._go_on(self._at + 1 if self._leaves else position)
        self._arm()

    def end(self) -> None:
        """The implementation has done all that it does."""
        if self._leaves:
            self.reach(len(self.rows))

    def with_effects(self, answers: Sequence[Answer]) -> Sequence[Answer]:
        """What the first operations answered, each with the commits that it sent where these count."""
        if not self._leaves:
            return answers
        return [
            with_commits(spec, answer, commits)
            for answer, commits, spec in zip(answers, self._commits, map(self._spec, range(len(answers))), strict=False)
        ]

    def _spec(self, at: int) -> OperationSpec:
        return self._suite.operations[self.rows[at][0]].spec

    def _go_on(self, position: int) -> None:
        """Play what the world does until this operation."""
        before = self._places[self._at] + 1 if self._at >= 0 else 0
        place = self._places[position] if position < len(self._places) else len(self._plan)
        self._at = position
        for at, args in self._plan[before:place]:
            if at in self._of_world:
                played_by(self._world, self._suite.operations[at])(*args)

    def _arm(self) -> None:
        """Arm the faults of the operation."""
        script = self._world.broker.script
        script.calm()
        if 0 <= self._at < len(self.rows):
            for at, requests in self._spec(self._at).faults:
                script.arm(requests, self.rows[self._at][1][at])

    def _finish(self) -> None:
        """Take what an operation did; the clock of the world goes on by its duration."""
        if self._at < 0 or not self._leaves:
            return
        spec = self._spec(self._at)
        if spec.duration:
            self._world.pass_time(self.rows[self._at][1][0])
        self._commits.append(self._world.take_commits() if spec.effect or spec.commits else ())


@lru_cache(maxsize=64)
def operations_of_world(suite: Suite) -> frozenset[int]:
    """Positions of the operations that the world around the implementation does."""
    return frozenset(at for at, operation in enumerate(suite.operations) if operation.spec.side is Side.WORLD)


@lru_cache(maxsize=64)
def leaves_something(suite: Suite) -> bool:
    """Does what an operation did count after it: the time that it took, or the commits that reached a broker?"""
    return any(
        spec.duration or spec.effect or spec.commits for spec in (operation.spec for operation in suite.operations)
    )


def with_commits(spec: OperationSpec, answer: Answer, commits: tuple[Value, ...]) -> Answer:
    """An answer with the commits that reached the fake broker, where they are part of it or all of it."""
    if isinstance(answer, Unsupported) or not (spec.effect or spec.commits):
        return answer
    return judged_with(answer, commits, alone=spec.effect)


def judged_with(result: Result, commits: tuple[Value, ...], *, alone: bool) -> Result:
    """What is judged of an operation that sent these commits: they ``alone``, or its own answer and then they."""
    if isinstance(result, Err):
        return having_sent(result, commits)
    if alone:
        return commits
    if isinstance(result, tuple):
        return (*result, commits)
    return (result, commits) if commits else result
