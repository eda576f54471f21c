"""A group whose queues the broker assigns (message request mode): the members' steps, and the broker's assignments.

The broker gives every member of the group the same assignment here: a real one's answer to each of them is covered by
BQ-ASSIGN-*, and a member's handling of an assignment does not depend on the other members'.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rocketmq_conformance.models.client import group_state as group
from rocketmq_conformance.models.client.broadcast import NO_FILES
from rocketmq_conformance.models.client.group_state import (
    RebalanceState,
    rebalance_state,
    widen,
)
from rocketmq_conformance.models.client.rebalance import RebalanceModel
from rocketmq_conformance.models.client.rebalance_broker_round import (
    RebalanceBrokerMember,
    RebalanceBrokerRound,
    RebalanceBrokerRoundModel,
    TopicAssignment,
    assignments_of,
    initial_assignments,
)
from rocketmq_conformance.models.client.rebalance_round import NO_MEMBER, NO_ROUTE, listed_members
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "POP-PRE-DROP",
        "A request to pop ends when its queue was dropped; otherwise the time of the last pop is set first, and "
        "without a subscription the pop is put off.",
        "DefaultMQPushConsumerImpl#popMessage @ 5.0.0-PREVIEW, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
)

_POP = reasons_by_kind(("POP-PRE-DROP",), "popped", "dropped", "no subscription", "no member")
_ASSIGN = Reason(("REB-BRK-1",), "the assignment changes")
#: The same of clients that ask no broker and pop from no queue.
_NO_POP = Reason(("REB-DO-1",), "nothing is popped")
_UNASKED = Reason(("REB-DO-1",), "nobody asks for the assignment")


class RebalanceBrokerState(NamedTuple):
    """A group, the broker's assignments, and the members' additions for them."""

    group: RebalanceState
    assignments: Mapping[str, TopicAssignment]
    #: Of each member.
    sides: tuple[RebalanceBrokerMember, ...]


_state = maker(RebalanceBrokerState)


def more_routes(topology: Topology) -> dict[str, int]:
    """Routes of the topics of these groups only, by readable queues: the last one has none yet."""
    names = [topic for topic in topology.topic_queues if topic not in topology.routes]
    last = topology.pop_retry_topic(topology.next_topic)
    return {topic: NO_ROUTE if topic == last else len(topology.topic_queues[topic]) for topic in names}


def initial_state(topology: Topology) -> RebalanceBrokerState:
    """The initial state: new members."""
    state = group.initial_state(topology)
    return RebalanceBrokerState(
        state._replace(routes={**state.routes, **more_routes(topology)}),
        initial_assignments(topology),
        (RebalanceBrokerMember(),) * len(state.members),
    )


class RebalanceBrokerModel:
    """The operations of such a group for one profile; every method is pure."""

    __slots__ = ("assign_queues", "assigned", "group", "pops", "rebalancing")
    #: An operation that has nothing to do with assignments.
    of_group = staticmethod(widen(_state))

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.assign_queues = assignments_of(topology)
        self.group = RebalanceModel(profile, topology)
        self.rebalancing = RebalanceBrokerRoundModel(self.group.rebalancing.start)
        assigns = self.rebalancing.assigned
        #: The reasons of pops, by kind, and of assignments that change.
        self.pops = _POP if assigns else dict.fromkeys(_POP, _NO_POP)
        self.assigned = _ASSIGN if assigns else _UNASKED

    def rebalance(
        self, state: RebalanceBrokerState, member: int, list_fault: str, assign_fault: str, fault: str, bound_fault: str
    ) -> Answer[RebalanceBrokerState]:
        """REB-DO-1: (pulled queues, popped (topic, queue id), pull requests (queue, offset), pop requests (topic,
        queue id, where they begin), balanced or None, commits (queue, offset) and then requests for assignments
        (topic, how many)), or None for no member."""
        before, assignments, sides = state
        broker, routes, listed, now, members, files = before
        who = members[member]
        if who is None:
            return state, None, NO_MEMBER
        side = sides[member]
        current = RebalanceBrokerRound(who, side, broker, now, fault, bound_fault, assign_fault, assignments)
        current.files = files.get(who.client, NO_FILES)
        balanced = self.rebalancing.turn(current, routes, listed_members(listed, list_fault))
        reached: tuple[Value, ...] = (*sorted(current.commits), *sorted(current.asked.items()))
        answer: Value = (
            tuple(sorted(current.table)) if current.table else (),
            tuple(sorted(current.pops)) if current.pops else (),
            tuple(sorted(current.dispatched)) if current.dispatched else (),
            tuple(sorted(current.pop_requests)) if current.pop_requests else (),
            balanced,
            reached,
        )
        after, why = current.after(), self.rebalancing.why(current)
        if after is not who:
            members = replaced(members, member, after)
            files = group.files_after(files, current)
            before = rebalance_state((current.store.broker, routes, listed, now, members, files))
        if current.pops is not side.pops or current.marks is not side.marks:
            sides = replaced(sides, member, RebalanceBrokerMember(current.pops, current.marks))
        elif after is who:
            return state, answer, why
        return _state((before, assignments, sides)), answer, why

    def join(
        self, state: RebalanceBrokerState, member: int, twin: bool, mode: str, where: str, strategy: str
    ) -> Answer[RebalanceBrokerState]:
        """REB-BEGIN-1."""
        after, result, why = self.group.join(state.group, member, twin, mode, where, strategy)
        return (
            RebalanceBrokerState(after, state.assignments, replaced(state.sides, member, RebalanceBrokerMember())),
            result,
            why,
        )

    def leave(self, state: RebalanceBrokerState, member: int) -> Answer[RebalanceBrokerState]:
        """REB-END-1: the commits that reach the broker; popped queues cause no request."""
        after, result, why = self.group.leave(state.group, member)
        if after is state.group:
            return state, result, why
        return (
            RebalanceBrokerState(after, state.assignments, replaced(state.sides, member, RebalanceBrokerMember())),
            result,
            why,
        )

    def pop(self, state: RebalanceBrokerState, member: int, topic: str, queue: int) -> Answer[RebalanceBrokerState]:
        """POP-PRE-DROP: does the member ask for messages of the queue?"""
        who, side = state.group.members[member], state.sides[member]
        if who is None:
            return state, None, self.pops["no member"]
        if (topic, queue) not in side.pops:
            return state, False, self.pops["dropped"]
        after = state
        if side.pops[topic, queue] != state.group.now:
            popped = RebalanceBrokerMember({**side.pops, (topic, queue): state.group.now}, side.marks)
            after = RebalanceBrokerState(state.group, state.assignments, replaced(state.sides, member, popped))
        if topic not in who.topics:
            return after, False, self.pops["no subscription"]
        return after, True, self.pops["popped"]

    def assign(
        self, state: RebalanceBrokerState, topic: str, pull: tuple[int, ...], pop: tuple[int, ...], oddity: str
    ) -> Answer[RebalanceBrokerState]:
        """The broker assigns these queues of a topic from now on."""
        given = self.assign_queues(topic, pull, pop, oddity)
        before, assignments, sides = state
        return _state((before, {**assignments, topic: given}, sides)), None, self.assigned
