"""A real master and its slave that run already, judged without stopping either of them."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.engine.handshake import hello_of
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.proof import broker_slaves
from rocketmq_conformance.conformance.proof.predicted_failover import FailoverPair, RunningPair
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS
from rocketmq_conformance.suites.broker_slave import SUITE, End, Start

pytestmark = pytest.mark.broker


@pytest.mark.parametrize(("release", "reads"), [("4.9.7", ""), ("5.3.3", "true")])
def test_a_real_pair_conforms_without_being_stopped(release: str, reads: str) -> None:
    properties = {"slaveReadEnable": reads} if reads else {}
    with RunningPair(FailoverPair(release, properties)) as pair:
        master, slave = pair.addresses
        adapter = open_address(f"broker:{master}?slave={slave}")
        stage, profile = Stage(adapter, Profile()), Profile.of(broker=release).configured(properties)
        try:
            hello = hello_of(stage)
            assert (hello.broker, [str(one) for one in hello.properties]) == (
                release,
                [f"{name}={value}" for name, value in properties.items()],
            )
            plan = [one for one in broker_slaves.plan() if not isinstance(one, End | Start)]
            judged = Player(stage, Judge(SUITE, profile)).execute([SUITE.row(one) for one in plan], 1)
        finally:
            stage.close()
    assert (judged.verdict, judged.reason) == (CONFORMS, "")
