"""Jobs wait for what a broker does late by the clock of their case, and no longer than they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from simulated_clock import SimulatedClock

from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import broker_pop_start, jobs
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.models.outcome import Err


def played(job: Any, clock: SimulatedClock, answer: Callable[[Any], Command]) -> Any:
    """The result of a job whose requests are answered so."""
    wish = next(job)
    while True:
        if isinstance(wish, float):
            clock.sleep(wish)
            answers = []
        else:
            answers = [answer(asked) for asked in wish]
        try:
            wish = job.send(answers)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize(("late", "waits"), [(0.0, 0), (0.1, 51), (60.0, 2501)])
def test_a_topic_is_waited_for_by_the_clock_of_the_case(late: float, waits: int) -> None:
    clock = SimulatedClock()
    job = jobs.create_topic(CaseNames("case", "reader", late_topics=True, clock=clock), 0, 4)
    exists, asked = clock.seconds + late, list[Any]()

    def answer(request: Any) -> Command:
        asked.append(request)
        there = len(asked) == 1 or clock.seconds >= exists
        return Command(Response.SUCCESS if there else Response.TOPIC_NOT_EXIST)

    assert isinstance(played(job, clock, answer), Err) is (late > jobs.APPLY_LIMIT)
    assert len(clock.waits) == pytest.approx(waits, rel=0.02)


def test_a_pop_that_passes_messages_over_is_waited_for_and_one_of_a_locked_queue_is_sent_again() -> None:
    clock = SimulatedClock()
    job = broker_pop_start.popped(CaseNames("case", "reader", clock=clock), "G", "T", 0, 2, 0, "A")
    stored, rest, sent = iter("0003"), iter("20"), list[Request]()

    def answer(request: Any) -> Command:
        sent.append(request.code)
        match request.code:
            case Request.POP_MESSAGE:
                return Command(Response.POLLING_TIMEOUT, ext={"restNum": next(rest)})
            case Request.QUERY_CONSUMER_OFFSET:
                return Command(Response.SUCCESS, ext={"offset": next(stored)})
            case _:
                return Command(Response.SUCCESS, ext={"offset": "3"})

    assert played(job, clock, answer) == Err("POLLING_TIMEOUT")
    assert sent.count(Request.POP_MESSAGE) == 2
    assert sent.count(Request.QUERY_CONSUMER_OFFSET) == 4
