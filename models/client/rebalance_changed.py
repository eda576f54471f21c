"""A group whose members announce changed queues: the members' steps, thresholds and heartbeats (REB-MQC-*)."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.client import group_state as group
from rocketmq_conformance.models.client.broadcast import NO_FILES
from rocketmq_conformance.models.client.group_state import RebalanceState, rebalance_state, widen
from rocketmq_conformance.models.client.rebalance import RebalanceModel
from rocketmq_conformance.models.client.rebalance_changed_round import (
    RebalanceChangedMember,
    RebalanceChangedRound,
    RebalanceChangedRoundModel,
)
from rocketmq_conformance.models.client.rebalance_round import listed_members
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "REB-SUB-BEAT",
        "A heartbeat tells every broker that the client knows of all subscribed topics. Subscribing sends one at once, "
        "whether or not the topic was subscribed to; unsubscribing sends none.",
        "DefaultMQPushConsumerImpl#subscribe, #unsubscribe, MQClientInstance#sendHeartbeatToAllBroker "
        "@ 4.0.0, 4.9.8, 5.3.3",
    ),
)

_LIMITED = Reason(("REB-MQC-SHARE",), "limited")
_NO_LIMITS = Reason(("REB-SUB-1",), "no thresholds of topics")
_HEARTBEAT = reasons_by_kind(("REB-SUB-BEAT",), "in full", "lost", "no broker known")
_MAY_BE_BRIEF = reasons_by_kind(("REB-MQC-BRIEF", "REB-SUB-BEAT"), "brief", "in full", "lost")


class RebalanceChangedState(NamedTuple):
    """A group, and its members' additional states."""

    group: RebalanceState
    sides: tuple[RebalanceChangedMember, ...]


_state, _side = maker(RebalanceChangedState), maker(RebalanceChangedMember)


def initial_state(topology: Topology) -> RebalanceChangedState:
    """The initial state: new members."""
    state = group.initial_state(topology)
    return RebalanceChangedState(state, (RebalanceChangedMember(),) * len(state.members))


class RebalanceChangedModel:
    """The operations of such a group for one profile; every method is pure. Members are given by number."""

    __slots__ = ("group", "rebalancing")
    #: Wraps an operation that has nothing to do with changed queues.
    of_group = staticmethod(widen(_state))

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.group = RebalanceModel(profile, topology)
        self.rebalancing = RebalanceChangedRoundModel(self.group.rebalancing.start)

    def rebalance(
        self,
        state: RebalanceChangedState,
        member: int,
        list_fault: str,
        fault: str,
        beat_fault: str,
        fails: bool,
        given_up: str,
    ) -> Answer[RebalanceChangedState]:
        """REB-DO-1, REB-MQC-*: (owned queues, balanced or None, thresholds of a queue (messages, MiB) or None,
        announced changes). A change is (topic, did a heartbeat take its new version to the brokers?, the listener's
        arguments: (all queues, its queues), or None), sorted by topic."""
        before, sides = state
        broker, routes, listed, now, members, files = before
        who = members[member]
        assert who is not None  # no member leaves in this suite
        side = sides[member]
        model = self.rebalancing
        current = RebalanceChangedRound(who, side, broker, now, fault, beat_fault == "answer", fails)
        current.given_up = given_up
        current.files = files.get(who.client, NO_FILES)
        owned, balanced = model.turn(current, routes, listed_members(listed, list_fault))
        answer: Value = (
            owned,
            balanced,
            current.thresholds if model.divides else None,
            tuple(sorted(current.changes)) if len(current.changes) > 1 else tuple(current.changes),
        )
        after = current.after()
        if after is not who:
            members = replaced(members, member, after)
            files = group.files_after(files, current)
            before = rebalance_state((current.store.broker, routes, listed, now, members, files))
        if current.thresholds != side.thresholds or current.announced != side.announced:
            sides = replaced(sides, member, _side((side.limits, current.thresholds, side.brief, current.announced)))
        elif after is who:
            return state, answer, model.why(current)
        return _state((before, sides)), answer, model.why(current)

    def join(self, state: RebalanceChangedState, member: int, mode: str, brief: bool) -> Answer[RebalanceChangedState]:
        """REB-BEGIN-1: without thresholds of a topic."""
        after, result, why = self.group.join(state.group, member, False, mode, LAST, "AVG")
        side = RebalanceChangedMember(brief=brief and self.rebalancing.brief)
        return RebalanceChangedState(after, replaced(state.sides, member, side)), result, why

    def limit(
        self, state: RebalanceChangedState, member: int, messages: int, size: int
    ) -> Answer[RebalanceChangedState]:
        """REB-MQC-SHARE: the application sets the thresholds of a topic; queues get them with the next change."""
        if not self.rebalancing.divides:
            return state, None, _NO_LIMITS
        before, sides = state
        _, thresholds, brief, announced = sides[member]
        return (
            _state((before, replaced(sides, member, _side(((messages, size), thresholds, brief, announced))))),
            None,
            _LIMITED,
        )

    def subscribe(
        self, state: RebalanceChangedState, member: int, topic: str, beat_fault: str
    ) -> Answer[RebalanceChangedState]:
        """REB-SUB-BEAT: the heartbeat that is sent at once, in the form of ``beat``, subscribed already or not."""
        after, _, _ = self.group.subscribe(state.group, member, topic)
        return self.beat(
            state if after is state.group else RebalanceChangedState(after, state.sides), member, beat_fault
        )

    def beat(self, state: RebalanceChangedState, member: int, beat_fault: str) -> Answer[RebalanceChangedState]:
        """REB-MQC-BRIEF: the timer's heartbeat: (is it brief?, its topics), or None when none is sent."""
        who, side = state.group.members[member], state.sides[member]
        assert who is not None  # no member leaves in this suite
        if not who.seen:
            return state, None, _HEARTBEAT["no broker known"]
        if side.announced is not None and side.announced == who.topics:
            return state, (True, ()), _MAY_BE_BRIEF["brief"]
        kind = "in full" if beat_fault == "answer" else "lost"
        answer = False, tuple(sorted(who.topics))
        if not side.brief:
            return state, answer, _HEARTBEAT[kind]
        if beat_fault == "answer":
            referred = _side((side.limits, side.thresholds, True, who.topics))
            state = _state((state.group, replaced(state.sides, member, referred)))
        return state, answer, _MAY_BE_BRIEF[kind]
