"""The parts of the Java client: one for every suite of clients, found by its name, with a call for every operation."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.conformance.api import judge
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.targets import discovery, java_client
from rocketmq_conformance.conformance.targets.discovery import part_of
from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient
from rocketmq_conformance.conformance.targets.maven import jars_alone
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DivergenceFound, SuiteEnded
from rocketmq_conformance.suites import allocation, rebalance
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY

pytestmark = pytest.mark.java

RELEASES = ("4.9.8", "5.5.0")


class Renamed:
    """A suite of clients under a name that the target has no module for."""

    side = Side.CLIENT
    name = family = "unheard-of"
    operations = rebalance.SUITE.operations


@pytest.mark.parametrize("release", RELEASES)
def test_a_part_plays_every_operation_that_its_release_has_and_none_of_another_suite(release: str) -> None:
    from rocketmq_conformance.conformance.targets.java_client.release import java_release

    wrong = []
    for name, suite in SUITES.items():
        if suite.side in (Side.PURE, Side.CLIENT):
            offered = {suite.operations[at] for at in suite.offered(Profile.of(client=release))}
            wanted = {operation for operation in offered if operation.spec.side is not Side.WORLD}
            more = () if suite.topology is ORDINARY else (suite.topology,)
            part = part_of(java_client.__name__, suite.family)(java_release(release), "call", *more)
            played = set(part.calls())
            part.close()
            if not wanted <= played <= set(suite.operations):
                wrong.append(name)
    assert wrong == []


def test_a_suite_that_the_target_does_not_know_is_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    suite: Suite = Renamed()  # type: ignore[assignment]
    known: dict[str, Any] = {**SUITES, suite.name: suite}
    monkeypatch.setattr(discovery, "SUITES", known)
    client = JavaClient("5.5.0")
    try:
        hello = client.hello()
    finally:
        client.close()
    assert "no module unheard_of.py" in hello.refuses(suite)
    assert hello.refuses(rebalance.SUITE) == ""


def test_queues_of_5_5_1_are_compared_as_numbers() -> None:
    """Maven has the classes of queues of this release, and no client."""
    jar = jars_alone(("rocketmq-common",), "5.5.1")["rocketmq-common"]
    wraps = {"5.5.0": False, "5.5.1": True}
    for like, conforms in wraps.items():
        client = JavaClient("5.5.0", before=(jar,))
        options = Options(address="java-client:5.5.0", seed=1, cases=40, brief=True)
        events = list(judge(client, [allocation.SUITE], options, releases={"client": like}))
        (suite,) = (one for one in events if isinstance(one, SuiteEnded))
        assert (suite.verdict == CONFORMS) is conforms, like
        assert {one.rules[0]["id"] for one in events if isinstance(one, DivergenceFound)} <= {"MQ-ORD-1", "REB-CLU-2"}
