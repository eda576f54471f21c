"""Jobs wait for what a broker does late by the clock of their case, and no longer than they say."""

from __future__ import annotations

import pytest
from simulated_clock import SimulatedClock

from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import jobs
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.models.outcome import Err, Result


@pytest.mark.parametrize(("late", "waits"), [(0.0, 0), (0.1, 51), (60.0, 2501)])
def test_a_topic_is_waited_for_by_the_clock_of_the_case(late: float, waits: int) -> None:
    clock = SimulatedClock()
    job = jobs.create_topic(CaseNames("case", "reader", late_topics=True, clock=clock), 0, 4)
    exists = clock.seconds + late
    wish, asked = next(job), 0
    result: Result = None
    try:
        while True:
            if isinstance(wish, float):
                clock.sleep(wish)
                wish = job.send([])
            else:
                code = Response.TOPIC_NOT_EXIST if asked and clock.seconds < exists else Response.SUCCESS
                wish = job.send([Command(code)])
                asked += 1
    except StopIteration as end:
        result = end.value
    assert isinstance(result, Err) is (late > jobs.APPLY_LIMIT)
    assert len(clock.waits) == pytest.approx(waits, rel=0.02)
