"""Fixture: a few topics and groups by index, and the state of the broker when a case begins."""

from __future__ import annotations

from rocketmq_conformance.models.broker.state import BrokerState, Topic

#: Names by index. An adapter maps them to names that no other case uses.
TOPICS = ("T0", "T1", "T2")
GROUPS = ("G0", "G1", "G2")
#: Queues of topic 0 when the case begins.
QUEUES = 2


def initial_state() -> BrokerState:
    """The initial state: topic 0 and group 0 exist; topics and groups 1 and 2 do not; nothing is written or stored."""
    return BrokerState(topics={TOPICS[0]: Topic.of(QUEUES)}, groups=frozenset({GROUPS[0]}))
