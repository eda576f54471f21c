"""A group of whole push consumers of a broker that has a slave, as their traffic at both nodes shows them.

What arrives is at both nodes. Pulls go to the node that answers suggest, commits and reads of offsets to the master
(PULL-NODE-1, NODE-OFFSETS). While the master is away the route names the slave alone, and everything goes there: that
consumers go on is promised by docs/en/Deployment.md of 4.9.8 and 5.x.

The slave has the offsets that it took from its master last, and those that were committed to it; the master, once it is
back, those that it had. A member that ran all the time commits there what it holds. One that begins then begins by
what the master has: what was committed to the slave alone comes again.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.client.initial_broker import TIMES
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.client.whole_group_state import WholeGroup, with_beneath, with_clients
from rocketmq_conformance.models.client.whole_locks import crashed
from rocketmq_conformance.models.client.whole_moves import Join, Leave
from rocketmq_conformance.models.client.whole_push import NO_OWNER, Setting, initial_group
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule

RULES = (
    Rule(
        "WHOLE-SLV-GONE",
        "While the master is away its slave serves the group: members pull there, and those that join begin by the "
        "offsets that the slave has.",
        "PullAPIWrapper#pullKernelImpl, RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-SLV-STORE",
        "While the master is away offsets are committed to the slave. Those that a member holds are committed to the "
        "master once it is back.",
        "RemoteBrokerOffsetStore#updateConsumeOffsetToBroker, #persistAll @ 4.0.0, 4.9.8, 5.3.3",
        level=Level.SHOULD,
    ),
    Rule(
        "WHOLE-SLV-PULL",
        "Pulls wait at the node that the last answer suggested; commits go to the master all the same, which has the "
        "pulls again when it is suggested, or when it comes back.",
        "PullAPIWrapper#updatePullFromWhichNode, #recalculatePullFromWhichNode @ 4.0.0, 4.9.8, 5.3.3",
        level=Level.SHOULD,
    ),
)

MASTER, SLAVE = 0, 1
#: How many queues the topic has at most.
MOST = 2

_GONE = {
    kind: Reason(("WHOLE-SLV-GONE", "WHOLE-SLV-STORE"), kind)
    for kind in ("goes away", "pulls at the slave", "given by the slave", "begins at the slave", "nobody, master away")
}
_SHARED = {
    False: Reason(("WHOLE-SHARE", "WHOLE-SLV-PULL"), "queues change hands"),
    True: Reason(("WHOLE-SLV-GONE", "WHOLE-SHARE", "WHOLE-SLV-STORE"), "queues change hands, master away"),
}
_BACK = Reason(("WHOLE-SLV-PULL", "WHOLE-SLV-STORE"), "comes back")
_SUGGESTED = {
    node: Reason(("WHOLE-SLV-PULL", "WHOLE-COMMIT"), f"{name} is suggested")
    for node, name in ((MASTER, "the master"), (SLAVE, "the slave"))
}
_GIVEN = {
    MASTER: Reason(("WHOLE-FIRST", "WHOLE-COMMIT"), "given by the master"),
    SLAVE: Reason(("WHOLE-SLV-PULL", "WHOLE-FIRST", "WHOLE-COMMIT"), "given by the slave that is suggested"),
}
_BEGINS = Reason(("WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SLV-PULL"), "begins at the master")
_QUIET = Reason(("WHOLE-COMMIT",), "nothing is new")
_CHOSEN = Reason(("WHOLE-SHARE",), "before anyone joins")


class WholeSlavesState(NamedTuple):
    """The group with the offsets of the node in use, those of the other one, and what is known of the nodes."""

    group: WholeGroup
    setting: Setting
    #: What is stored at the slave, or at the master while that is away.
    other: Mapping[tuple[str, str, int], int] = MappingProxyType({})
    away: bool = False
    suggested: int = MASTER
    begun: bool = False


def place_number(node: int, queue: int) -> int:
    """The number of a node's queue."""
    return MOST * node + queue


class WholeSlavesModel:
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ("_group", "_start", "_topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self._topology = topology
        self._start = StartModel(profile, topology)
        self._group = WholeGroupModel(self._start)

    def initial(self) -> WholeSlavesState:
        """Before anything happened."""
        return self._begun(Setting(MOST))

    def prepare(self, state: WholeSlavesState, queues: int, stored: int) -> Answer[WholeSlavesState]:
        """Choose how the case begins; nothing happens once a member has joined."""
        return (state if state.begun else self._begun(Setting(queues, stored=stored))), None, _CHOSEN

    def learn(self, state: WholeSlavesState, clients: tuple[str, ...]) -> WholeSlavesState:
        """The state once these client ids of members were seen."""
        return state._replace(group=with_clients(state.group, clients))

    def join(self, state: WholeSlavesState, member: int) -> Answer[WholeSlavesState]:
        """A member starts, unless it runs."""
        name = self._topology.members[member]
        if name in state.group.members:
            return self.look(state)
        joined = self._group.move(state.group, Join(name))
        in_order = joined._replace(members=dict(sorted(joined.members.items())))
        begins = _GONE["begins at the slave"] if state.away else _BEGINS
        return self._look(state._replace(group=in_order, begun=True), begins)

    def leave(self, state: WholeSlavesState, member: int) -> Answer[WholeSlavesState]:
        """A member is shut down, if it runs."""
        name = self._topology.members[member]
        if name not in state.group.members:
            return self.look(state)
        return self._look(state._replace(group=self._group.move(state.group, Leave(name))))

    def crash(self, state: WholeSlavesState, member: int) -> Answer[WholeSlavesState]:
        """A member's process is killed, if it runs."""
        return self._look(state._replace(group=crashed(state.group, self._topology.members[member])))

    def send(self, state: WholeSlavesState, queue: int) -> Answer[WholeSlavesState]:
        """A message arrives in a queue of the topic, or in every one."""
        broker = state.group.broker
        for number in range(state.setting.queues):
            if queue in (number, EVERY):
                broker = send(self._start.store.broker, broker, self._topology.topic, number, TIMES[-1:])[0]
        return self._look(state._replace(group=state.group._replace(broker=broker)))

    def suggest(self, state: WholeSlavesState, node: int) -> Answer[WholeSlavesState]:
        """Answers to pulls suggest a node from now on."""
        changes = node != state.suggested and not state.away
        return self._look(state._replace(suggested=node), _SUGGESTED[node] if changes else None)

    def synchronise(self, state: WholeSlavesState) -> Answer[WholeSlavesState]:
        """The slave takes its master's offsets, unless that is away."""
        if not state.away:
            state = state._replace(other={**state.other, **state.group.broker.stored})
        return self._look(state)

    def go_away(self, state: WholeSlavesState) -> Answer[WholeSlavesState]:
        """The master goes away."""
        return self._look(state if state.away else self._exchanged(state, True), _GONE["goes away"])

    def come_back(self, state: WholeSlavesState) -> Answer[WholeSlavesState]:
        """The master is there again with the offsets that it had."""
        if not state.away:
            return self.look(state)
        return self._look(self._exchanged(state, False), _BACK)

    def look(self, state: WholeSlavesState) -> Answer[WholeSlavesState]:
        """Time passes, a round of rebalance at least."""
        return self._look(state)

    def _begun(self, setting: Setting) -> WholeSlavesState:
        group = initial_group(self._start.store.broker, self._topology, setting)
        return WholeSlavesState(group, setting, group.broker.stored)

    def _exchanged(self, state: WholeSlavesState, away: bool) -> WholeSlavesState:
        """The other node's offsets are those in use from now on."""
        broker = state.group.broker
        group = state.group._replace(broker=broker._replace(stored=state.other))
        return state._replace(group=group, other=broker.stored, away=away)

    def _look(self, state: WholeSlavesState, because: Reason | None = None) -> Answer[WholeSlavesState]:
        """What is seen: the owner of each queue at each node, the messages that pulls brought, and what is stored at
        each node."""
        group, (shown, _) = self._group.look(state.group)
        places: list[Value] = [(NO_OWNER, NOTHING)] * (2 * MOST)
        names, queues = self._topology.members, self._topology.topic_queues[self._topology.topic]
        node = SLAVE if state.away else state.suggested
        for name, owned, _ in shown:
            for number in owned:
                places[place_number(node, number)] = names.index(name), group.members[name].pulls[queues[number]]
        given = tuple(
            (names.index(name), number, first, count) for name, _, found in shown for number, first, count in found
        )
        nodes = (state.other, group.broker.stored) if state.away else (group.broker.stored, state.other)
        keys = [self._topology.stored_keys[queues[number]] for number in range(MOST)]
        stored = tuple(at.get(key, NOTHING) for at in nodes for key in keys)
        fired = frozenset(rule for why in group.reasons for rule in why.rules)
        state = state._replace(group=group._replace(reasons=(), starts={}))
        if "WHOLE-SHARE" in fired and group.members:
            why = _SHARED[state.away]
        else:
            why = because if because is not None and group.members else _reason(state, bool(given))
        return state, (tuple(places), given, stored), with_beneath(why, group)


def _reason(state: WholeSlavesState, given: bool) -> Reason:
    """The reason of an answer to a step that changes no node."""
    if state.away:
        served = "given by the slave" if given else "pulls at the slave"
        return _GONE[served if state.group.members else "nobody, master away"]
    return _GIVEN[state.suggested] if given else _QUIET
