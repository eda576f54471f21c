"""Steps of a case: each is asked for and judged, by the time that it took where that is measured."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites.declare.measured_time import Span, Times
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.oracle import Judgement, Oracle
from rocketmq_conformance.suites.declare.suite import Row, Suite

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Other = TypeVar("Other")
Given = TypeVar("Given")
T = TypeVar("T")


def drive(asking: Generator[Asked, Answer, T], do: Callable[[Asked], Answer]) -> T:
    """What comes of something that asks, when ``do`` answers."""
    answer: Any = None
    while True:
        try:
            asked = asking.send(answer)
        except StopIteration as end:
            came: T = end.value
            return came
        answer = do(asked)


def each_of(everything: Iterable[Asked]) -> Generator[Asked, Answer, list[Answer]]:
    """Asks for one after the other, whatever the answers; what was answered."""
    answers: list[Answer] = []
    for one in everything:
        answers.append((yield one))
    return answers


def relay(
    asking: Generator[Asked, Answer, T], ask: Callable[[Asked], Generator[Other, Given, Answer]]
) -> Generator[Other, Given, T]:
    """What comes of something that asks, when ``ask`` asks for what its answers are made of."""
    answer: Any = None
    while True:
        try:
            asked = asking.send(answer)
        except StopIteration as end:
            came: T = end.value
            return came
        answer = yield from ask(asked)


def by_operations(suite: Suite, asking: Generator[Row, Outcome, T]) -> Generator[Operation, Outcome, T]:
    """Asks for the operations of rows, with the arguments of the implementation."""

    def ask(row: Row) -> Generator[Operation, Outcome, Outcome]:
        return (yield suite.for_implementation(row))

    return relay(asking, ask)


def expect_step(oracle: Oracle, row: Row, times: Times | None) -> bool:
    """Before a step that the oracle allows: does its answer depend on measured time?"""
    ready = oracle.ready(row) if times else None
    if times and ready:
        times.expect(ready)
    return ready is not None


def judged_step(
    oracle: Oracle, row: Row, outcome: Outcome, times: Times | None, timed: bool
) -> tuple[Judgement, Span | None]:
    """Judge a step that was done, as it was expected before; with its span where it is ``timed``."""
    span = times.span() if times and timed else None
    return oracle.judge(row, outcome, span), span
