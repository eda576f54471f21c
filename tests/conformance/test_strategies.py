"""Strategies for users' own tests: what they draw is what the suites have."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings

from rocketmq_conformance.hypothesis import DrawnPlan, client_ids, offsets, operations, plans, queues, values
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.domain import Drawn, Values
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.oracle import Oracle

FEW = settings(max_examples=30, database=None, derandomize=True)


@pytest.mark.parametrize("name", ["rebalance", "broker-offsets", "allocation"])
def test_a_plan_is_what_the_model_allows_and_the_releases_have(name: str) -> None:
    old, suite = Profile.of("4.0.0", "4.0.0"), SUITES[name]

    @FEW
    @given(plans(suite, profile=old, max_size=8))
    def allowed(plan: DrawnPlan) -> None:
        assert 1 <= len(plan.rows) <= 8
        assert suite.lacking(old, plan.rows) == ""
        oracle = Oracle(suite, suite.bind(old))
        assert oracle.allows(plan.rows[0][0])

    allowed()


@FEW
@given(operations("remote-store", "read", "commit"))
def test_operations_are_those_that_are_named(operation: Operation) -> None:
    assert operation.spec.name in ("read", "commit")


def test_every_value_of_a_domain_is_drawn_the_simplest_first() -> None:
    domain = Values(3, 1, 2, weights=(1, 5, 5))
    assert [find(values(domain), lambda value, wanted=one: value == wanted) for one in (3, 1, 2)] == [3, 1, 2]
    assert find(values(domain), lambda value: True) == 3
    assert find(values(Drawn(lambda choices: choices.below(9), {})), lambda value: value > 4) < 9


def test_the_domains_have_what_breaks_ports() -> None:
    found = find(queues(), lambda some: len({one.broker for one in some}) > 1)
    assert all(isinstance(one, MessageQueue) for one in found)
    assert find(queues(), lambda some: not some) == []
    assert len(find(client_ids(), lambda ids: len(set(ids)) < len(ids))) > 1
    assert find(offsets(), lambda offset: offset > 2**53) > 2**53
    assert find(offsets(), lambda offset: offset < 0) < 0


def test_a_plan_says_what_it_does() -> None:
    suite = SUITES["remote-store"]
    plan = DrawnPlan(suite, ((suite.index["read"], (0, "store", "answer")),) * 2)
    step = "read(queue=0, kind='store', fault='answer')"
    assert repr(plan) == f"remote-store: {step}; {step}"
