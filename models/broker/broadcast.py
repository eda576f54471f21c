"""The offsets that a broker keeps for groups that broadcast, from what their members pull (BQ-BROADCAST-*).

Members of such a group store their offsets themselves; the broker's are for those that go on over a proxy. It keeps
them by client, and stores the smallest of each queue from time to time: under a name of its own, where every question
about stored offsets finds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.members import PASSIVELY, RegisteredGroup
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "BQ-BROADCAST-1",
        "From 5.1.0 a broker keeps what members of a group pull from, when the group's last heartbeat broadcasts and "
        "consumes passively: of each client and queue the greatest offset that was asked for, or that "
        "PULL_OFFSET_MOVED sent it to. Pulls that are refused do not count, nor do those over a connection that is no "
        "member's, but for a proxy's. A client counts until five minutes after its last pull, and until two once it "
        "has left.",
        "PullMessageProcessor#updateBroadcastPulledOffset, #isBroadcast @ 5.1.0, 5.3.3, 5.5.0; "
        "BroadcastOffsetManager#updateOffset @ 5.1.0, 5.5.0",
        releases="5.1.0+",
        needs="enableBroadcastOffsetStore, the default",
    ),
    Rule(
        "BQ-BROADCAST-2",
        "Every 5 s the smallest offset that its clients pulled from is stored for each queue under the group's name "
        "and @broadcast: a query by that name answers it, and correction offsets count it.",
        "BroadcastOffsetManager#scanOffsetData @ 5.1.0, 5.5.0; ConsumerOffsetManager#queryOffset @ 5.1.0, 5.5.0",
        releases="5.1.0+",
        needs="enableBroadcastOffsetStore, the default",
    ),
)

#: What follows a group's name in that of its offsets.
SUFFIX = "@broadcast"

#: The offset that each client pulled from, by group, topic and queue. Never changed in place.
Pulled = Mapping[tuple[str, str, int], Mapping[str, int]]
NOTHING_PULLED: Pulled = MappingProxyType({})


def pulled(
    rules: BrokerRules,
    state: BrokerState,
    before: Pulled,
    group: RegisteredGroup | None,
    connection: int,
    key: tuple[str, str, int],
    offset: int,
) -> tuple[BrokerState, Pulled]:
    """The broker after a pull over a connection, by (group, topic, queue), from an offset or sent to it; and what was
    pulled. What it stores it has stored at once, as if it looked at that moment."""
    if group is None or not rules.keeps_broadcast or not (group.broadcasting and group.consume_type == PASSIVELY):
        return state, before
    client = group.members.get(connection)
    if client is None:
        return state, before
    clients = before.get(key, {})
    clients = {**clients, client: max(offset, clients.get(client, offset))}
    name, topic, queue = key
    stored = {**state.stored, (name + SUFFIX, topic, queue): min(clients.values())}
    return state._replace(stored=stored), {**before, key: clients}
