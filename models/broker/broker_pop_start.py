"""The broker of suite broker-pop-start: groups pop from queues that they also pull from, commit to and are reset in.

Messages are in topic 0, each with a tag or without. Nothing that is handed out comes back while a case lasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, cast

from rocketmq_conformance.models.broker import admin
from rocketmq_conformance.models.broker.broker_admin import BrokerAdminModel, BrokerAdminState
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS
from rocketmq_conformance.models.broker.pop import NO_GROUP, PopRequest, Taken, pop, refused_pop
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import RETRY, BrokerState, Topic
from rocketmq_conformance.models.broker.subscription import StoredEntry, TagCodes, tag_codes
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: The store time of every message (ms since the epoch); it is not observed.
_STORED_AT = 1_000_000_000_000
#: A topic that only its name makes a retry topic: no group has it.
RETRY_TOPIC = f"{RETRY}R"


class BrokerPopStartState(NamedTuple):
    """A broker, and the tags of the messages in the queues of topic 0; messages have few bytes."""

    admin: BrokerAdminState = BrokerAdminState()
    tags: Mapping[int, tuple[str, ...]] = MappingProxyType({})

    @property
    def broker(self) -> BrokerState:
        """Topics, groups, messages and stored offsets."""
        return self.admin.broker


class BrokerPopStartModel:
    """The rules of suite broker-pop-start; every method is pure. Topics and groups are indexes of the fixtures."""

    __slots__ = ("admin", "rules")

    def __init__(self, profile: Profile) -> None:
        self.admin = BrokerAdminModel(profile)
        self.rules: BrokerRules = self.admin.rules

    def shape_topic(
        self, state: BrokerPopStartState, topic: int, queues: int, perm: int
    ) -> Answer[BrokerPopStartState]:
        """BQ-TOPIC-1: None."""
        settings = Topic(queues, queues, perm)
        return _of_broker(state, admin.create_topic(self.rules, state.broker, TOPICS[topic], settings))

    def delete_topic(self, state: BrokerPopStartState, topic: int) -> Answer[BrokerPopStartState]:
        """BQ-TOPIC-3: None."""
        after, result, why = self.admin.delete_topic(state.admin, topic)
        tags = {} if topic == 0 and TOPICS[0] not in after.broker.topics else state.tags
        return BrokerPopStartState(after, tags), result, why

    def set_group(self, state: BrokerPopStartState, group: int, enabled: bool) -> Answer[BrokerPopStartState]:
        """BQ-GROUP-ENABLE: None."""
        return _of_broker(state, admin.create_group(self.rules, state.broker, GROUPS[group], enabled))

    def delete_group(self, state: BrokerPopStartState, group: int, flag: str) -> Answer[BrokerPopStartState]:
        """BQ-GROUP-2: None."""
        return _of_admin(state, self.admin.delete_group(state.admin, group, flag))

    def send(self, state: BrokerPopStartState, queue: int, tags: tuple[str, ...]) -> Answer[BrokerPopStartState]:
        """BQ-SEND-1: the offsets of messages with these tags, or the error."""
        broker, result, why = send(self.rules, state.broker, TOPICS[0], queue, (_STORED_AT,) * len(tags))
        known = state.tags.get(queue, ()) + (() if isinstance(result, Err) else tags)
        state = state._replace(tags={**state.tags, queue: known})
        return _of_broker(state, (broker, result, why))

    def commit(
        self, state: BrokerPopStartState, group: int, topic: int, queue: int | None, offset: int | None
    ) -> Answer[BrokerPopStartState]:
        """BQ-UPDATE-*: None, or the error."""
        return _of_admin(state, self.admin.commit(state.admin, group, topic, queue, offset))

    def query(
        self, state: BrokerPopStartState, group: int, topic: int, queue: int | None, set_zero: bool | None
    ) -> Answer[BrokerPopStartState]:
        """BQ-QUERY-*: the offset, or the error."""
        return _of_admin(state, self.admin.query(state.admin, group, topic, queue, set_zero))

    def pull(
        self, state: BrokerPopStartState, group: int, topic: int, queue: int, offset: int, commit: int | None
    ) -> Answer[BrokerPopStartState]:
        """BQ-PULL-*: (response code's name, next offset, offsets of the messages found), or the error."""
        return _of_admin(state, self.admin.pull(state.admin, group, topic, queue, offset, commit))

    def reset_queue(
        self, state: BrokerPopStartState, group: int, topic: int, queue: int, offset: int | None
    ) -> Answer[BrokerPopStartState]:
        """BQ-RESET-2, BQ-RESET-QUEUE: one queue."""
        return _of_admin(state, self.admin.reset_queue(state.admin, group, topic, queue, offset))

    def reset_to_max(
        self, state: BrokerPopStartState, group: int, topic: int, timestamp: int, force: bool
    ) -> Answer[BrokerPopStartState]:
        """BQ-RESET-*: all queues, by a negative time."""
        return _of_admin(state, self.admin.reset_to_max(state.admin, group, topic, timestamp, force))

    def pop(
        self, state: BrokerPopStartState, group: int, topic: int, queue: int, most: int, mode: int, expression: str
    ) -> Answer[BrokerPopStartState]:
        """POP-START-*: (the offset that it begins at, offsets of the messages), or the error."""
        asked = PopRequest(GROUPS[group], TOPICS[topic], queue, most, mode)
        state, result, why = self._pop(state, asked, cast(TagCodes, tag_codes(expression)))
        if isinstance(result, Err):
            return state, result, why
        ((_, _, start, offsets),) = cast("tuple[Taken, ...]", result)
        return state, (start, offsets), why

    def pop_all(self, state: BrokerPopStartState, group: int, topic: int, mode: int) -> Answer[BrokerPopStartState]:
        """POP-START-14: (queue, offsets of the messages) pairs of all queues, or the error."""
        state, result, why = self._pop(state, PopRequest(GROUPS[group], TOPICS[topic], -1, mode=mode), None)
        if isinstance(result, Err):
            return state, result, why
        return state, tuple((each.queue, each.offsets) for each in cast("tuple[Taken, ...]", result)), why

    def pop_retry(self, state: BrokerPopStartState, count: int, mode: int) -> Answer[BrokerPopStartState]:
        """POP-START-7: the same of a new retry topic with ``count`` messages, and the offset that is stored then."""
        broker = state.broker._replace(
            topics={RETRY_TOPIC: Topic.of(1)}, groups=frozenset({GROUPS[0]}), pending={}, disabled=frozenset()
        )
        if count:
            broker = send(self.rules, broker, RETRY_TOPIC, 0, (_STORED_AT,) * count)[0]
        asked = PopRequest(GROUPS[0], RETRY_TOPIC, 0, 1, mode)
        broker, result, why = pop(self.rules, broker, asked, None, lambda topic, queue: [StoredEntry(0)] * count)
        stored = broker.stored.get((GROUPS[0], RETRY_TOPIC, 0))
        if isinstance(result, Err):
            return state, (result.code, (), stored), why
        ((_, _, start, offsets),) = cast("tuple[Taken, ...]", result)
        return state, (start, offsets, stored), why

    def _pop(self, state: BrokerPopStartState, asked: PopRequest, codes: TagCodes) -> Answer[BrokerPopStartState]:
        known, created = state.broker, False
        refused = refused_pop(self.rules, known, asked)
        if refused is not None and refused[0] is NO_GROUP and self.rules.creates_groups:
            known, created = known._replace(groups=known.groups | {asked.group}), True
        after, result, why = pop(self.rules, known, asked, codes, lambda topic, queue: _entries(state, queue))
        return _of_broker(state, (after, result, _creating(why) if created else why))


def _entries(state: BrokerPopStartState, queue: int) -> Sequence[StoredEntry]:
    return [StoredEntry(0, tag or None) for tag in state.tags.get(queue, ())]


def _of_admin(state: BrokerPopStartState, answer: Answer[BrokerAdminState]) -> Answer[BrokerPopStartState]:
    return state._replace(admin=answer[0]), answer[1], answer[2]


def _of_broker(state: BrokerPopStartState, answer: Answer[BrokerState]) -> Answer[BrokerPopStartState]:
    return state._replace(admin=state.admin._replace(broker=answer[0])), answer[1], answer[2]


@cache
def _creating(why: Reason) -> Reason:
    """The same reason where the group is created as well; one object for each."""
    return Reason((*why.rules, "BQ-GROUP-LOOKUP"), f"{why.kind}, group created")
