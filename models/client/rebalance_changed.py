"""A group whose members announce changed queues: the members' steps, thresholds and heartbeats (REB-MQC-*)."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.client import rebalance as group
from rocketmq_conformance.models.client.fixtures import CLIENTS
from rocketmq_conformance.models.client.rebalance import GroupModel, GroupState, group_state, within
from rocketmq_conformance.models.client.rebalance_changed_round import ChangedRebalanceModel, ChangedRound, Side
from rocketmq_conformance.models.client.rebalance_round import answered
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Rule, Why, whys

RULES = (
    Rule(
        "REB-SUB-BEAT",
        "A heartbeat tells every broker that the client knows of all subscribed topics. Subscribing sends one at once, "
        "whether or not the topic was subscribed to; unsubscribing sends none.",
        "DefaultMQPushConsumerImpl#subscribe, #unsubscribe, MQClientInstance#sendHeartbeatToAllBroker "
        "@ 4.0.0, 4.9.8, 5.3.3",
    ),
)

_LIMITED = Why(("REB-MQC-SHARE",), "limited")
_NO_LIMITS = Why(("REB-SUB-1",), "no thresholds of topics")
_BEAT = whys(("REB-SUB-BEAT",), "in full", "lost", "no broker known")
_MAY_BE_BRIEF = whys(("REB-MQC-BRIEF", "REB-SUB-BEAT"), "brief", "in full", "lost")


class ChangedState(NamedTuple):
    """A group, and its members' additional states."""

    group: GroupState
    sides: tuple[Side, ...] = (Side(),) * len(CLIENTS)


_state, _side = maker(ChangedState), maker(Side)


def beginning() -> ChangedState:
    """The initial state: three new members."""
    return ChangedState(group.beginning())


class ChangedGroupModel:
    """The operations of such a group for one profile; every method is pure. Members are given by number."""

    __slots__ = ("group", "rebalancing")
    #: Wraps an operation that has nothing to do with changed queues.
    of_group = staticmethod(within(_state))

    def __init__(self, profile: Profile) -> None:
        self.group = GroupModel(profile)
        self.rebalancing = ChangedRebalanceModel(self.group.rebalancing.start)

    def rebalance(
        self,
        state: ChangedState,
        member: int,
        list_fault: str,
        fault: str,
        beat_fault: str,
        fails: bool,
        given_up: str,
    ) -> Answer[ChangedState]:
        """REB-DO-1, REB-MQC-*: (owned queues, balanced or None, thresholds of a queue (messages, MiB) or None,
        announced changes). A change is (topic, did a heartbeat take its new version to the brokers?, the listener's
        arguments: (all queues, its queues), or None), sorted by topic."""
        before, sides = state
        broker, routes, listed, now, members = before
        who = members[member]
        assert who is not None  # no member leaves in this suite
        side = sides[member]
        model = self.rebalancing
        current = ChangedRound(who, side, broker, now, fault, beat_fault == "answer", fails)
        current.given_up = given_up
        owned, balanced = model.turn(current, routes, answered(listed, list_fault))
        answer: Value = (
            owned,
            balanced,
            current.thresholds if model.divides else None,
            tuple(sorted(current.changes)) if len(current.changes) > 1 else tuple(current.changes),
        )
        after = current.after()
        if after is not who:
            members = replaced(members, member, after)
            before = group_state((current.store.broker, routes, listed, now, members))
        if current.thresholds != side.thresholds or current.told != side.told:
            sides = replaced(sides, member, _side((side.limits, current.thresholds, side.brief, current.told)))
        elif after is who:
            return state, answer, model.why(current)
        return _state((before, sides)), answer, model.why(current)

    def join(self, state: ChangedState, member: int, mode: str, brief: bool) -> Answer[ChangedState]:
        """REB-BEGIN-1: without thresholds of a topic."""
        after, result, why = self.group.join(state.group, member, False, mode, LAST, "AVG")
        side = Side(brief=brief and self.rebalancing.brief)
        return ChangedState(after, replaced(state.sides, member, side)), result, why

    def limit(self, state: ChangedState, member: int, messages: int, size: int) -> Answer[ChangedState]:
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

    def subscribe(self, state: ChangedState, member: int, topic: str, beat_fault: str) -> Answer[ChangedState]:
        """REB-SUB-BEAT: the heartbeat that is sent at once, in the form of ``beat``, subscribed already or not."""
        after, _, _ = self.group.subscribe(state.group, member, topic)
        return self.beat(state if after is state.group else ChangedState(after, state.sides), member, beat_fault)

    def beat(self, state: ChangedState, member: int, beat_fault: str) -> Answer[ChangedState]:
        """REB-MQC-BRIEF: the timer's heartbeat: (is it brief?, its topics), or None when none is sent."""
        who, side = state.group.members[member], state.sides[member]
        assert who is not None  # no member leaves in this suite
        if not who.seen:
            return state, None, _BEAT["no broker known"]
        if side.told is not None and side.told == who.topics:
            return state, (True, ()), _MAY_BE_BRIEF["brief"]
        kind = "in full" if beat_fault == "answer" else "lost"
        answer = False, tuple(sorted(who.topics))
        if not side.brief:
            return state, answer, _BEAT[kind]
        if beat_fault == "answer":
            referred = _side((side.limits, side.thresholds, True, who.topics))
            state = _state((state.group, replaced(state.sides, member, referred)))
        return state, answer, _MAY_BE_BRIEF[kind]
