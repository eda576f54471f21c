"""The tests that users run by pytest, called as pytest calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from null_refused import LikeJava, OfAnotherMake

from rocketmq_conformance.conformance.engine.handshake import introduce
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.pytest_plugin import Implementation, Planned
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import test_machines
from rocketmq_conformance.suites.declare.discovery import SUITES

SUITE = "remote-store"
OPENED = Callable[[type[OfAnotherMake]], Implementation]


@pytest.fixture
def opened() -> Iterator[OPENED]:
    """Opens implementations until the end of the test."""
    stages: list[Stage] = []

    def of(adapter: type[OfAnotherMake]) -> Implementation:
        stages.append(Stage(adapter(), Profile()))
        hello, _ = introduce(stages[-1], {})
        return Implementation(stages[-1], hello, examples=30)

    yield of
    for stage in stages:
        stage.close()


def along_a_plan(implementation: Implementation) -> None:
    read = SUITES[SUITE].index["read"]
    test_machines.test_conforms_along(Planned(SUITE, "null", [(read, (NO_QUEUE, "memory", "answer"))]), implementation)


def in_a_search(implementation: Implementation) -> None:
    test_machines.test_conforms(SUITE, implementation)


@pytest.mark.parametrize("judged", [along_a_plan, in_a_search])
def test_accidents_of_java_fail_only_of_who_follows_java(
    judged: Callable[[Implementation], None], opened: OPENED
) -> None:
    judged(opened(OfAnotherMake))
    with pytest.raises(AssertionError, match="OFF-"):
        judged(opened(LikeJava))
