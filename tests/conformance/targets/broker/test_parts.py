"""The parts of the broker target: one for every suite of brokers, found by its name, with a job for every operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.targets import broker, discovery
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.discovery import part_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_offsets
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite


class Renamed:
    """A suite of brokers under a name that the target has no module for."""

    side = Side.BROKER
    name = family = "broker-unheard-of"
    operations = broker_offsets.SUITE.operations


@pytest.fixture
def address() -> Iterator[str]:
    with FakeBroker(Profile()) as embedded:
        yield embedded.address


def test_a_part_plays_every_operation_of_its_suite_and_no_other() -> None:
    wrong = []
    for name, suite in SUITES.items():
        if suite.side is Side.BROKER:
            part = part_of(broker.__name__, name)
            played = {*part.jobs, *part.controls} if part else set()
            if played != set(suite.operations):
                wrong.append(name)
    assert wrong == []


def test_an_operation_is_played_in_the_same_way_in_every_suite() -> None:
    parts = [part_of(broker.__name__, name) for name, suite in SUITES.items() if suite.side is Side.BROKER]
    ways: dict[type, set[Any]] = {}
    for part in parts:
        for operation, way in (*part.jobs.items(), *part.controls.items()):
            ways.setdefault(operation, set()).add(way)
    assert [operation for operation, found in ways.items() if len(found) > 1] == []


def test_a_suite_that_the_target_does_not_know_is_unsupported(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    suite: Suite = Renamed()  # type: ignore[assignment]
    monkeypatch.setattr(discovery, "SUITES", {**SUITES, suite.name: suite})
    host, _, port = address.rpartition(":")
    adapter = BrokerAdapter(RunningBroker(host, int(port)))
    try:
        hello = adapter.hello()
    finally:
        adapter.close()
    assert "no module broker_unheard_of.py" in hello.refuses(suite)
    assert hello.refuses(broker_offsets.SUITE) == ""
