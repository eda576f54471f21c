"""The suites that are played with two brokers: queues with the same id are queues of their own."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.client.group_state import RebalanceState, owners
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.topologies import ORDINARY, TOPIC, TWO_BROKERS

SAME_ID = TWO_BROKERS.key(TOPIC, "broker-a", 0), TWO_BROKERS.key(TOPIC, "broker-b", 0)
PLAYED = ("local-store-two-brokers", "rebalance-two-brokers", "remote-store-two-brokers")


@pytest.mark.parametrize("name", PLAYED)
def test_they_have_the_operations_of_the_ordinary_suite(name: str) -> None:
    suite = SUITES[name]
    ordinary = SUITES[suite.family]
    assert name == f"{ordinary.name}-two-brokers"
    assert suite.operations == ordinary.operations
    assert (suite.topology, ordinary.topology) == (TWO_BROKERS, ORDINARY)


def test_members_divide_the_queues_of_both_brokers_by_the_broker_first() -> None:
    suite = SUITES["rebalance-two-brokers"]
    bound = suite.bind(Profile())
    state: RebalanceState = bound.initial
    rebalance = bound.by_position[suite.index["rebalance"]]
    shares: list[list[tuple[str, int]]] = []
    for member in range(3):
        state, answer, _ = rebalance(state, member, "answer", "answer", "answer")
        assert isinstance(answer, tuple)
        assert isinstance(answer[0], tuple)
        mine = [TWO_BROKERS.queues[at] for at in answer[0]]  # type: ignore[index]
        shares.append([(queue.broker, queue.id) for queue in mine if queue.topic == TOPIC])
    assert shares == [[("broker-b", 0), ("broker-b", 1)], [("broker-a", 0), ("broker-a", 1)], [("broker-b", 2)]]
    assert {len(members) for members in owners(TWO_BROKERS, state).values()} == {1}


@pytest.mark.parametrize("via", ["call", "tcp"])
def test_a_commit_reaches_the_broker_of_its_queue_alone(via: str) -> None:
    suite = SUITES["remote-store-two-brokers"]
    stage = Stage(Port(via=via), Profile())
    try:
        stage.begin(suite, 0)
        commit, read = suite.index["commit"], suite.index["read"]
        assert stage.do(suite, (commit, (SAME_ID[1], 5, False, "answer"))) == Ok(((SAME_ID[1], 5, "awaited"),))
        found = [stage.do(suite, (read, (queue, "store", "answer"))) for queue in SAME_ID]
        assert found == [Ok(0), Ok(5)]
    finally:
        stage.close()
