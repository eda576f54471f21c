"""Which node of a broker each request goes to (NODE-*): the master is number 0, its slaves have others.

What is known of a broker is the route that was learned last. Some requests go to the master alone, some to a slave
while the master is not known, and some ask for the topic's route first.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule

RULES = (
    Rule(
        "NODE-OFFSETS",
        "An offset is read and committed at the master while it is known, else at a slave. Up to 4.9.2 it is the first "
        "node of a hash map: a slave whose number is a multiple of 16 where the route names it before the master.",
        "RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker, #updateConsumeOffsetToBroker @ 4.0.0, 4.9.2, 4.9.3, "
        "5.3.3",
        quirk="a slave of the same bucket comes first",
    ),
    Rule(
        "NODE-ROUTE",
        "The topic's route is asked for before a request when no node is known that may be asked. From 4.9.3 and "
        "5.0.0-ALPHA on a read of an offset asks for it while the master is not known, though a slave is, and in 4.9.3 "
        "to 4.9.8 so does a commit.",
        "RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker, #updateConsumeOffsetToBroker @ 4.0.0, 4.9.2, 4.9.3, "
        "5.0.0, 5.3.3; MQClientInstance#findConsumerIdList @ 4.0.0, 5.3.3",
        level=Level.SHOULD,
    ),
    Rule(
        "NODE-BOUNDS",
        "The lowest offset, the highest one, the offset of a time and the time of the first message are asked of the "
        "master alone; without it the call fails (MQClientException).",
        "MQAdminImpl#minOffset, #maxOffset, #searchOffset, #earliestMsgStoreTime @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "NODE-LOCK",
        "A queue is locked at the master alone, and no route is asked for: without the master nothing is sent, and the "
        "queue is not locked.",
        "RebalanceImpl#lock @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "NODE-MEMBERS",
        "The members of a group are asked of the master of a broker in the topic's route, else of a slave.",
        "MQClientInstance#findConsumerIdList, #findBrokerAddrByTopic @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "NODE-ALL",
        "A client with a consumer sends its heartbeats to every known node, slaves among them, and unregisters at all.",
        "MQClientInstance#sendHeartbeatToAllBroker, #unregisterClient @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "NODE-LEARN",
        "The nodes of a route that was learned replace those that were known; a name server without a route of the "
        "topic leaves them.",
        "MQClientInstance#updateTopicRouteInfoFromNameServer @ 4.0.0, 4.9.8, 5.3.3",
    ),
)

MASTER = 0
#: A new hash map of Java has so many buckets, and goes through them in order.
_BUCKETS = 16

Nodes = tuple[int, ...]


class NodesState(NamedTuple):
    """The nodes that the client knows, in the order in which the route named them."""

    known: Nodes = ()


_KINDS = ("master", "slave", "no node")
_WHY = {
    (rule, kind, asks): Reason((rule, "NODE-ROUTE"), f"{kind}, route asked for" if asks else kind)
    for rule in ("NODE-OFFSETS", "NODE-BOUNDS", "NODE-LOCK", "NODE-MEMBERS")
    for kind in _KINDS
    for asks in (False, True)
}
_BUCKET = {
    asks: Reason(
        ("NODE-OFFSETS", "NODE-ROUTE"), f"slave before master{', route asked for' if asks else ''}", quirk=True
    )
    for asks in (False, True)
}
_ALL = {some: Reason(("NODE-ALL",), "some nodes" if some else "no node") for some in (False, True)}
_LEARNED = {some: Reason(("NODE-LEARN",), "route" if some else "no route") for some in (False, True)}


def _learned(known: Nodes, route: Nodes) -> Nodes:
    """NODE-LEARN: the nodes that are known once the route was asked for."""
    return route or known


def _master_or_any(known: Nodes) -> int | None:
    """The master, else any other node."""
    return MASTER if MASTER in known else known[0] if known else None


class NodesModel:
    """The rules for one profile; every method is pure. ``route`` is what the name server has, () for no route."""

    __slots__ = ("_rules",)

    def __init__(self, profile: Profile) -> None:
        self._rules = ClientRules.of(profile)

    def learn(self, state: NodesState, route: Nodes) -> Answer[NodesState]:
        """NODE-LEARN."""
        return NodesState(_learned(state.known, route)), None, _LEARNED[bool(route)]

    def read(self, state: NodesState, route: Nodes) -> Answer[NodesState]:
        """NODE-OFFSETS: a read from the store."""
        lacks = MASTER not in state.known if self._rules.reads_at_master else not state.known
        return self._offsets(state, route, lacks)

    def commit(self, state: NodesState, route: Nodes) -> Answer[NodesState]:
        """NODE-OFFSETS: a commit."""
        lacks = MASTER not in state.known if self._rules.commits_at_master else not state.known
        return self._offsets(state, route, lacks)

    def _offsets(self, state: NodesState, route: Nodes, asks: bool) -> Answer[NodesState]:
        known = _learned(state.known, route) if asks else state.known
        node = _master_or_any(known)
        if known and not self._rules.offsets_at_master:
            first = min(known, key=lambda number: number % _BUCKETS)
            if first != node:
                return NodesState(known), (asks, first), _BUCKET[asks]
        return self._asked("NODE-OFFSETS", known, asks, node)

    def bounds(self, state: NodesState, which: str, route: Nodes) -> Answer[NodesState]:
        """NODE-BOUNDS, whichever is asked for."""
        asks = MASTER not in state.known
        known = _learned(state.known, route) if asks else state.known
        return self._asked("NODE-BOUNDS", known, asks, MASTER if MASTER in known else None)

    def lock(self, state: NodesState, route: Nodes) -> Answer[NodesState]:
        """NODE-LOCK, whatever the route."""
        return self._asked("NODE-LOCK", state.known, False, MASTER if MASTER in state.known else None)

    def members(self, state: NodesState, route: Nodes) -> Answer[NodesState]:
        """NODE-MEMBERS."""
        asks = not state.known
        known = _learned(state.known, route) if asks else state.known
        return self._asked("NODE-MEMBERS", known, asks, _master_or_any(known))

    def all(self, state: NodesState) -> Answer[NodesState]:
        """NODE-ALL: the numbers of the nodes in order."""
        return state, tuple(sorted(state.known)), _ALL[bool(state.known)]

    def _asked(self, rule: str, known: Nodes, asks: bool, node: int | None) -> Answer[NodesState]:
        kind = "no node" if node is None else "slave" if node else "master"
        answer: tuple[Value, ...] = (asks, node)
        return NodesState(known), answer, _WHY[rule, kind, asks]
