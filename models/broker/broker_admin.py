"""The broker of suite broker-admin: offsets are reset and cloned while members join, pull and leave.

The rules are in the modules beside this one; here indexes become names, and every group has at most one member.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, cast

from rocketmq_conformance.models.broker import aged_store, clone, group_stats, members
from rocketmq_conformance.models.broker.admin import removes_offsets
from rocketmq_conformance.models.broker.broker_offsets import BrokerOffsetsModel
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.correction import correction_offsets
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.members import NO_GROUPS, Consumer, Groups
from rocketmq_conformance.models.broker.pull import (
    MAX_MESSAGES,
    PullMessageRequest,
    PullResult,
    pull,
    response_code,
    subscribes,
)
from rocketmq_conformance.models.broker.reset import OffsetPairs, ResetRequest, form, reset
from rocketmq_conformance.models.broker.search import instant
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.broker.subscription import RegisteredSubscription, StoredEntry, TagCodes, carried_codes
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

#: The connection of the one member that a group may have, and its client id.
CONNECTION, CLIENT = 0, "member"
#: What a filter sees of a message that passes every filter and limit.
_SMALL_ENTRY = StoredEntry(0)


RULES = (
    Rule(
        "BQ-GROUP-LOOKUP",
        "A broker that may (autoCreateSubscriptionGroup, the default) creates an unknown group when it looks the group "
        "up: for a heartbeat, for a pull, and even for a member that unregisters.",
        "SubscriptionGroupManager#findSubscriptionGroupConfig @ 4.7.1, 4.9.7, 5.5.0",
    ),
)


class BrokerAdminState(NamedTuple):
    """A broker, its registered members, the (group, topic) pairs that were pulled from (BQ-CLONE-ONLINE), and where
    pulls go on."""

    broker: BrokerState = initial_state()
    members: Groups = NO_GROUPS
    pulled: frozenset[tuple[str, str]] = frozenset()
    gone_on: group_stats.GoneOn = group_stats.NOT_PULLED


class BrokerAdminModel:
    """The rules of suite broker-admin; every method is pure. Topics and groups are indexes of the fixtures."""

    __slots__ = ("broker", "rules")

    def __init__(self, profile: Profile) -> None:
        self.broker = BrokerOffsetsModel(profile)
        self.rules: BrokerRules = self.broker.rules

    def create_topic(self, state: BrokerAdminState, topic: int, queues: int) -> Answer[BrokerAdminState]:
        """BQ-TOPIC-1."""
        return of_broker(state, self.broker.create_topic(state.broker, topic, queues))

    def delete_topic(self, state: BrokerAdminState, topic: int) -> Answer[BrokerAdminState]:
        """BQ-TOPIC-3."""
        gone_on = group_stats.without_topic(self.rules, state.gone_on, TOPICS[topic], state.broker.stored)
        return of_broker(state._replace(gone_on=gone_on), self.broker.delete_topic(state.broker, topic))

    def create_group(self, state: BrokerAdminState, group: int) -> Answer[BrokerAdminState]:
        """BQ-GROUP-1."""
        return of_broker(state, self.broker.create_group(state.broker, group))

    def delete_group(self, state: BrokerAdminState, group: int, flag: str) -> Answer[BrokerAdminState]:
        """BQ-GROUP-2."""
        removed = removes_offsets(self.rules, flag)
        gone_on = group_stats.without_group(self.rules, state.gone_on, GROUPS[group], removed)
        return of_broker(state._replace(gone_on=gone_on), self.broker.delete_group(state.broker, group, flag))

    def send_timed(
        self, state: BrokerAdminState, observed: Result, topic: int, queue: int, count: int, apart: bool
    ) -> Answer[BrokerAdminState]:
        """BQ-SEND-1."""
        return of_broker(state, self.broker.send_timed(state.broker, observed, topic, queue, count, apart))

    def commit(
        self, state: BrokerAdminState, group: int, topic: int, queue: int | None, offset: int | None
    ) -> Answer[BrokerAdminState]:
        """BQ-UPDATE-*."""
        return of_broker(state, self.broker.commit(state.broker, group, topic, queue, offset))

    def query(
        self, state: BrokerAdminState, group: int, topic: int, queue: int | None, set_zero: bool | None
    ) -> Answer[BrokerAdminState]:
        """BQ-QUERY-*."""
        return of_broker(state, self.broker.query(state.broker, group, topic, queue, set_zero))

    def max(self, state: BrokerAdminState, topic: int, queue: int) -> Answer[BrokerAdminState]:
        """BQ-STORE-MAX."""
        return of_broker(state, self.broker.max(state.broker, topic, queue))

    def join(self, state: BrokerAdminState, group: int, topics: tuple[int, ...]) -> Answer[BrokerAdminState]:
        """BQ-HB-1: None."""
        subscribed = {TOPICS[topic]: RegisteredSubscription(None, 0) for topic in topics}
        consumer = Consumer(GROUPS[group], subscribed)
        broker = self._with_group(state.broker, GROUPS[group])
        known = GROUPS[group] in broker.groups
        groups, _, why = members.heartbeat(self.rules, state.members, CONNECTION, CLIENT, consumer, known)
        if broker is not state.broker:
            why = _creating(why)
        return state._replace(broker=broker, members=groups), None, why

    def leave(self, state: BrokerAdminState, group: int) -> Answer[BrokerAdminState]:
        """BQ-HB-6: None."""
        groups, _, why = members.unregister(self.rules, state.members, CONNECTION, GROUPS[group])
        broker = self._with_group(state.broker, GROUPS[group])
        if broker is not state.broker:
            why = _creating(why)
        return state._replace(broker=broker, members=groups), None, why

    def pull(
        self,
        state: BrokerAdminState,
        group: int,
        topic: int,
        queue: int,
        offset: int,
        commit: int | None,
        most: int = MAX_MESSAGES,
    ) -> Answer[BrokerAdminState]:
        """BQ-PULL-*: (response code's name, next offset, offsets of the messages found), or the error.

        The request carries its subscription, to everything.
        """
        # a broker that may not be read does not look the group up
        broker = self._with_group(state.broker, GROUPS[group]) if self.rules.readable else state.broker
        created = broker is not state.broker
        log = broker.logs.get((TOPICS[topic], queue), ABSENT)
        asked = PullMessageRequest(GROUPS[group], TOPICS[topic], queue, offset, most, commit)
        after, result, why = pull(self.rules, broker, asked, None, [_SMALL_ENTRY] * len(log.times))
        if created:
            why = _creating(why)
        state = self._pulled(state, broker, asked, None)._replace(broker=after)
        if isinstance(result, Err):
            return state, result, why
        status, following, _, _, found = cast(PullResult, result)
        gone_on = group_stats.pulled(self.rules, state.gone_on, (asked.group, asked.topic, queue), following)
        return state._replace(gone_on=gone_on), (response_code(status, offset), following, found), why

    def pull_by(
        self, state: BrokerAdminState, group: int, topic: int, expression: str, kind: str
    ) -> Answer[BrokerAdminState]:
        """BQ-PULL-SUB: the response code's name of a pull of queue 0 that carries this expression."""
        broker = self._with_group(state.broker, GROUPS[group]) if self.rules.readable else state.broker
        asked = PullMessageRequest(GROUPS[group], TOPICS[topic], 0, 0)
        codes = carried_codes(self.rules, expression, kind)
        log = broker.logs.get((TOPICS[topic], 0), ABSENT)
        after, result, why = pull(self.rules, broker, asked, codes, [_SMALL_ENTRY] * len(log.times))
        if broker is not state.broker:
            why = _creating(why)
        state = self._pulled(state, broker, asked, codes)._replace(broker=after)
        if isinstance(result, Err):
            return state, result, why
        status, following, *_ = cast(PullResult, result)
        gone_on = group_stats.pulled(self.rules, state.gone_on, (asked.group, asked.topic, 0), following)
        return state._replace(gone_on=gone_on), response_code(status, 0), why

    def _pulled(
        self, state: BrokerAdminState, broker: BrokerState, asked: PullMessageRequest, codes: TagCodes | Err
    ) -> BrokerAdminState:
        """BQ-PULL-12: the state once a pull has carried a subscription."""
        if not subscribes(self.rules, broker, asked, codes):
            return state
        return state._replace(pulled=state.pulled | {(asked.group, asked.topic)})

    def reset_by_time(
        self, state: BrokerAdminState, group: int, topic: int, message: int, delta: int, force: bool
    ) -> Answer[BrokerAdminState]:
        """BQ-RESET-*: all queues, to the time ``delta`` ms from a message of queue 0."""
        log = state.broker.logs.get((TOPICS[topic], 0), ABSENT)
        timestamp = instant(log, message, delta, aged_store.EPOCH)
        return self.reset(state, ResetRequest(GROUPS[group], TOPICS[topic], timestamp, force))

    def reset_to_max(
        self, state: BrokerAdminState, group: int, topic: int, timestamp: int, force: bool
    ) -> Answer[BrokerAdminState]:
        """BQ-RESET-*: all queues, by a negative time."""
        return self.reset(state, ResetRequest(GROUPS[group], TOPICS[topic], timestamp, force))

    def reset_queue(
        self, state: BrokerAdminState, group: int, topic: int, queue: int, offset: int | None
    ) -> Answer[BrokerAdminState]:
        """BQ-RESET-2, BQ-RESET-QUEUE: one queue, to an offset, or to max without one."""
        return self.reset(state, ResetRequest(GROUPS[group], TOPICS[topic], -1, True, queue, offset))

    def reset(self, state: BrokerAdminState, request: ResetRequest) -> Answer[BrokerAdminState]:
        return of_broker(state, reset(self.rules, state.broker, request, request.group in state.members))

    def reset_from(self, state: BrokerAdminState, group: int, topic: int, language: str) -> Answer[BrokerAdminState]:
        """BQ-RESET-CPP: all queues to max with force; the pairs, those of the members, and the form of these."""
        after, result, why = self.reset(state, ResetRequest(GROUPS[group], TOPICS[topic], -1, True))
        if isinstance(result, Err):
            return after, result, why
        pairs, notified = cast("tuple[OffsetPairs, OffsetPairs | None]", result)
        written = form(language, notified)
        return after, (pairs, notified, written), why if written is None else _written(why, written)

    def clone(
        self, state: BrokerAdminState, source: int, destination: int, topic: int | None, offline: bool
    ) -> Answer[BrokerAdminState]:
        """BQ-CLONE-*: None. A topic of None is a field that is not sent."""
        name = "" if topic is None else TOPICS[topic]
        passed_over = not offline and self._subscribes_elsewhere(state, GROUPS[source], name)
        answer = clone.clone_offsets(state.broker, GROUPS[source], GROUPS[destination], name, passed_over)
        return of_broker(state, answer)

    def correction(
        self, state: BrokerAdminState, topic: int, left_out: tuple[int, ...], compared: int
    ) -> Answer[BrokerAdminState]:
        """BQ-CORRECT-*, BQ-COM-10: sorted (queue, offset) pairs."""
        groups = frozenset(GROUPS[group] for group in left_out)
        answer = correction_offsets(self.rules, state.broker, TOPICS[topic], groups, GROUPS[compared])
        return of_broker(state, answer)

    def stats(self, state: BrokerAdminState, group: int, topic: int | None) -> Answer[BrokerAdminState]:
        """BQ-STATS-GROUP, BQ-STATS-PULLED: ``QueueStats``, with the indexes of topics. A topic of None is a field that
        is not sent."""
        name = GROUPS[group]
        elsewhere = [one for one in TOPICS if self._subscribes_elsewhere(state, name, one)]
        asked = "" if topic is None else TOPICS[topic]
        answer = group_stats.group_stats(self.rules, state.broker, state.gone_on, name, asked, elsewhere)
        found = cast("tuple[group_stats.QueueStats, ...]", answer[1])
        return state, tuple((TOPICS.index(one[0]), *one[1:]) for one in found), answer[2]

    def _with_group(self, broker: BrokerState, group: str) -> BrokerState:
        """BQ-GROUP-LOOKUP."""
        if group in broker.groups or not self.rules.creates_groups:
            return broker
        return broker._replace(groups=broker.groups | {group})

    def _subscribes_elsewhere(self, state: BrokerAdminState, group: str, topic: str) -> bool:
        """BQ-CLONE-ONLINE: do members of the group subscribe to other topics only?"""
        registered = state.members.get(group)
        return registered is not None and members.subscribes_elsewhere(
            self.rules, registered, topic, (group, topic) in state.pulled
        )


def of_broker(state: BrokerAdminState, answer: Answer[BrokerState]) -> Answer[BrokerAdminState]:
    """The answer to an operation that concerns the broker's offsets, topics and groups only."""
    after, result, why = answer
    return state._replace(broker=after), result, why


@cache
def _written(why: Reason, written: str) -> Reason:
    """The same reason where members are notified in this form; one object for each."""
    return Reason((*why.rules, "BQ-RESET-CPP"), f"{why.kind}, as a {written}")


@cache
def _creating(why: Reason) -> Reason:
    """The same reason where the group is created as well; one object for each."""
    return Reason((*why.rules, "BQ-GROUP-LOOKUP"), f"{why.kind}, group created")
