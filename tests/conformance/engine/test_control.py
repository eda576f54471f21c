"""The control: whichever case carries the planted wrong answer, it is noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine.control import control
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.sampler import sampler

PROFILE = Profile()
#: As many cases as there are ways for the last steps to be.
CASES = 20
#: The same for suites that wait, and so play few cases by themselves.
SLOW_CASES = 4


@pytest.fixture(scope="module")
def stages() -> Iterator[dict[bool, tuple[Stage, Hello]]]:
    """Stage and greeting of a broker, and of a client."""
    both = {True: Stage(BrokerAdapter(FakeLocation(PROFILE)), PROFILE), False: Stage(Port(), PROFILE)}
    yield {of_broker: (stage, stage.adapter.hello()) for of_broker, stage in both.items()}
    for stage in both.values():
        stage.close()


@pytest.mark.parametrize("name", sorted(SUITES))
def test_a_planted_answer_is_noticed_in_whatever_case(name: str, stages: dict[bool, tuple[Stage, Hello]]) -> None:
    suite = SUITES[name]
    stage, hello = stages[suite.side is Side.BROKER]
    refused = hello.refuses(suite)
    if refused:
        pytest.skip(refused)
    judge, draw = Judge(suite, PROFILE.judged()), sampler(suite, PROFILE)
    cases = range(CASES if suite.cases >= 1000 else SLOW_CASES)
    assert [case for case in cases if not control(stage, judge, draw.case(7, case, suite.steps))] == []
