"""Offsets of groups that broadcast, as a broker keeps them."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.broadcast import NOTHING_PULLED, Pulled, pulled
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.members import RegisteredGroup
from rocketmq_conformance.models.broker.state import BrokerState, Stored
from rocketmq_conformance.models.profile import Profile

NEW = BrokerRules.of(Profile.of(broker="5.1.0"))
OLD = BrokerRules.of(Profile.of(broker="5.0.0"))
OFF = BrokerRules.of(Profile().configured({"enableBroadcastOffsetStore": "false"}))
GROUP = RegisteredGroup({1: "A", 2: "B", 3: "A"}, broadcasting=True)
KEY = "G", "T", 0


def after(
    *pulls: tuple[int, int], rules: BrokerRules = NEW, group: RegisteredGroup | None = GROUP
) -> tuple[Stored, Pulled]:
    """What is stored, and kept, after these (connection, offset) pulls."""
    state, kept = BrokerState(), NOTHING_PULLED
    for connection, offset in pulls:
        state, kept = pulled(rules, state, kept, group, connection, KEY, offset)
    return state.stored, kept


def test_the_smallest_offset_of_the_clients_is_stored_under_a_name_of_its_own() -> None:
    stored, kept = after((1, 7), (2, 3))
    assert stored == {("G@broadcast", "T", 0): 3}
    assert kept == {KEY: {"A": 7, "B": 3}}


def test_a_client_does_not_go_back_over_whichever_connection() -> None:
    assert after((1, 7), (3, 4), (2, 9)) == ({("G@broadcast", "T", 0): 7}, {KEY: {"A": 7, "B": 9}})


@pytest.mark.parametrize(
    ("rules", "group", "connection"),
    [
        (OLD, GROUP, 1),
        (OFF, GROUP, 1),
        (NEW, None, 1),
        (NEW, GROUP._replace(broadcasting=False), 1),
        (NEW, GROUP._replace(consume_type="CONSUME_ACTIVELY"), 1),
        (NEW, GROUP, 9),
    ],
    ids=["5.0.0", "switched off", "no members", "in a cluster", "actively", "no member's connection"],
)
def test_other_pulls_do_not_count(rules: BrokerRules, group: RegisteredGroup | None, connection: int) -> None:
    assert after((connection, 7), rules=rules, group=group) == ({}, {})
