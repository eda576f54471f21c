"""INVOKE_BROKER_TO_RESET_OFFSET: moving a group to another place of a topic (BQ-RESET-*).

There are two ways, and a broker goes one of them. The old one only *asks*: the broker works out the offsets and sends
them to the members of the group, who are to commit them; its own table stays as it is. It needs members, and a stored
offset for every queue. The new one *does* it (``useServerSideResetOffset``): the offsets count at once, for groups
without members too, and each stays *pending* until the next pull from its queue. While it is pending, the group's own
commits are discarded.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.search import search
from rocketmq_conformance.models.broker.slave import NOT_RESET
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Stored
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-RESET-1",
        "A reset by way of the members (up to 5.1.4, later without useServerSideResetOffset) takes every queue of the "
        "topic to max for time -1, else to where a search for the time leads; without force never forwards. It fails "
        "with SYSTEM_ERROR for an unknown topic (from 5.3.2 TOPIC_NOT_EXIST) and when a queue has no stored offset, "
        "then with CONSUMER_NOT_ONLINE without members. Members are notified; what the broker stores does not change.",
        "Broker2Client#resetOffset @ 4.7.1, 4.9.7, 5.1.4, 5.3.3",
    ),
    Rule(
        "BQ-RESET-QUEUE",
        "A reset by way of the members does not look at the fields queueId and offset: it moves the whole topic.",
        "AdminBrokerProcessor#resetOffset @ 4.9.7, 5.1.4",
        needs="useServerSideResetOffset off, the default up to 5.1.4",
    ),
    Rule(
        "BQ-RESET-CPP",
        "Members get the offsets of a reset as a list of queues when the request for it comes from a client in C++, "
        "else as a table whose keys are queues; their own language does not matter. The answer has a table either way.",
        "AdminBrokerProcessor#resetOffset, Broker2Client#resetOffset, ResetOffsetBodyForC @ 4.0.0, 4.9.7, 5.1.4, 5.5.0",
        needs="useServerSideResetOffset off, the default up to 5.1.4",
    ),
    Rule(
        "BQ-RESET-2",
        "A reset by the broker (from 5.2.0) moves one queue, whether or not the topic has it, or all of them when "
        "queueId is negative: to max for any negative time, else to where a search for the time leads, forwards too "
        "and without force. It fails with TOPIC_NOT_EXIST and SUBSCRIPTION_GROUP_NOT_EXIST, in that order.",
        "AdminBrokerProcessor#resetOffsetInner @ 5.1.0, 5.2.0, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
    Rule(
        "BQ-RESET-QUEUES",
        "A reset of the whole topic goes by the queues that are read if the broker makes it, and fails with "
        "SYSTEM_ERROR without any; by the queues that are written if it goes by way of the members.",
        "AdminBrokerProcessor#resetOffset, Broker2Client#resetOffset @ 4.9.7, 5.1.4, 5.3.3; "
        "AdminBrokerProcessor#resetOffsetInner @ 5.1.4, 5.3.3",
    ),
    Rule(
        "BQ-RESET-RANGE",
        "A reset of one queue to an offset fails with SYSTEM_ERROR below min and beyond max + 1: max + 1 itself, where "
        "no message can be, is accepted. Offset -1 is no offset: the time counts.",
        "AdminBrokerProcessor#resetOffsetInner @ 5.1.0, 5.2.0, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
    Rule(
        "BQ-RESET-3",
        "A pending reset is what queries answer, for whatever is stored, until a pull of the queue takes it away or "
        "the broker is restarted.",
        "ConsumerOffsetManager#queryOffset, #queryThenEraseResetOffset @ 5.1.0, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
    Rule(
        "BQ-COM-5",
        "A reset is stored besides; up to 5.3.1 only when the group has stored an offset of the topic before, so that "
        "a group without any has none again once a pull took the pending one.",
        "ConsumerOffsetManager#assignResetOffset @ 5.1.0, 5.3.1, 5.3.2, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
)


class ResetRequest(NamedTuple):
    """One request: ``timestamp`` in ms since the epoch; ``queue`` and ``offset`` are those of BQ-RESET-2."""

    group: str
    topic: str
    timestamp: int
    force: bool = True
    queue: int = -1
    offset: int | None = None


#: The answer to a reset: sorted (queue, offset) pairs, and those sent to the members, None when there are none.
OffsetPairs = tuple[tuple[int, int], ...]

CPP, LIST, TABLE = "CPP", "list", "table"
NO_TOPIC = Err("TOPIC_NOT_EXIST")
NO_GROUP = Err("SUBSCRIPTION_GROUP_NOT_EXIST")
OFFLINE = Err("CONSUMER_NOT_ONLINE")
SYSTEM_ERROR = Err("SYSTEM_ERROR")

_ASKED = reasons_by_kind(("BQ-RESET-1",), "unknown topic", "a queue without offset", "nobody there")
_ASKED |= reasons_by_kind(("BQ-RESET-1",), "forwards, forced", "forwards, not forced", "not forwards")
_WHOLE = {kind: Reason(("BQ-RESET-QUEUE", *why.rules), f"one queue asked, {kind}") for kind, why in _ASKED.items()}
_APART = {kind: Reason(("BQ-RESET-QUEUES", *why.rules), f"written queues, {kind}") for kind, why in _ASKED.items()}
_REFUSED = reasons_by_kind(("BQ-RESET-2",), "unknown topic", "unknown group")
_REFUSED["no queue is read"] = Reason(("BQ-RESET-QUEUES",), "no queue is read")
_OUT = reasons_by_kind(("BQ-RESET-RANGE",), "below min", "beyond max + 1")
_DONE = {
    (how, stores): Reason((rule, "BQ-COM-5"), f"{how}, {'stored' if stores else 'not stored'}")
    for rule, kinds in (
        ("BQ-RESET-RANGE", ("to an offset", "to max + 1")),
        (
            "BQ-RESET-2",
            ("one queue by time", "a queue that the topic lacks", "all queues by time", "all queues to max"),
        ),
        ("BQ-RESET-QUEUES", ("all read queues",)),
    )
    for how in kinds
    for stores in (True, False)
}


def reset(rules: BrokerRules, state: BrokerState, request: ResetRequest, online: bool) -> Answer[BrokerState]:
    """``(pairs, pairs sent to the members)``, or the error. ``online``: is any member of the group connected?"""
    if rules.server_reset:
        if rules.slave:
            return state, *NOT_RESET
        return _by_broker(rules, state, request)
    return state, *_by_members(rules, state, request, online)


def form(language: str, notified: OffsetPairs | None) -> str | None:
    """BQ-RESET-CPP: how members get their offsets of a reset that a client in this language asked for; None if they
    get none."""
    return None if notified is None else LIST if language == CPP else TABLE


def _by_members(
    rules: BrokerRules, state: BrokerState, request: ResetRequest, online: bool
) -> tuple[Err | tuple[OffsetPairs, OffsetPairs], Reason]:
    """BQ-RESET-1."""
    reasons = _ASKED if request.queue < 0 else _WHOLE
    group, topic, timestamp, force = request[:4]
    settings = state.topics.get(topic)
    if settings is None:
        return NO_TOPIC if rules.reset_names_topic else SYSTEM_ERROR, reasons["unknown topic"]
    if request.queue < 0 and settings.read_queues != settings.write_queues:
        reasons = _APART
    pairs: list[tuple[int, int]] = []
    kind = "not forwards"
    for queue in range(settings.write_queues):
        stored = state.stored.get((group, topic, queue), -1)
        if stored == -1:
            return SYSTEM_ERROR, reasons["a queue without offset"]
        target = _offset_at(rules, state, topic, queue, timestamp, timestamp == -1)
        if target > stored:
            kind = "forwards, forced" if force else "forwards, not forced"
        pairs.append((queue, target if force or target < stored else stored))
    if not online:
        return OFFLINE, reasons["nobody there"]
    return (tuple(pairs), tuple(pairs)), reasons[kind]


def _by_broker(rules: BrokerRules, state: BrokerState, request: ResetRequest) -> Answer[BrokerState]:
    """BQ-RESET-2."""
    group, topic, timestamp, _, queue, offset = request
    settings = state.topics.get(topic)
    if settings is None:
        return state, NO_TOPIC, _REFUSED["unknown topic"]
    if group not in state.groups:
        return state, NO_GROUP, _REFUSED["unknown group"]
    to_max = timestamp < 0
    queues = settings.read_queues
    if queue < 0:
        if not queues:
            return state, SYSTEM_ERROR, _REFUSED["no queue is read"]
        pairs = tuple((each, _offset_at(rules, state, topic, each, timestamp, to_max)) for each in range(queues))
        how = (
            "all read queues"
            if queues != settings.write_queues
            else "all queues to max"
            if to_max
            else "all queues by time"
        )
    elif offset is None or offset == -1:
        pairs = ((queue, _offset_at(rules, state, topic, queue, timestamp, to_max)),)
        lacking = queue >= queues and queue >= settings.write_queues
        how = "a queue that the topic lacks" if lacking else "one queue by time"
    else:
        log = state.logs.get((topic, queue), ABSENT)
        if offset < log.min:
            return state, SYSTEM_ERROR, _OUT["below min"]
        if offset > log.max + 1:
            return state, SYSTEM_ERROR, _OUT["beyond max + 1"]
        pairs, how = ((queue, offset),), "to max + 1" if offset > log.max else "to an offset"
    stores = rules.reset_stores or any(key[:2] == (group, topic) for key in state.stored)
    moved: Stored = {(group, topic, each): to for each, to in pairs}
    stored: Stored = {**state.stored, **moved} if stores else state.stored
    pending = {**state.pending, **moved}
    after = BrokerState(state.topics, state.groups, state.logs, stored, pending, state.disabled)
    return after, (pairs, None), _DONE[how, stores]


def _offset_at(rules: BrokerRules, state: BrokerState, topic: str, queue: int, timestamp: int, to_max: bool) -> int:
    """The offset that a time leads to in one queue, never below 0."""
    if to_max:
        return state.logs.get((topic, queue), ABSENT).max
    found = search(rules, state, topic, queue, timestamp)[1]
    assert isinstance(found, int)  # a search answers an offset
    return max(found, 0)


def without_pending(state: BrokerState, key: tuple[str, str, int]) -> BrokerState:
    """BQ-RESET-3: the reset of a (group, topic, queue) is pending no longer."""
    pending = {other: offset for other, offset in state.pending.items() if other != key}
    return BrokerState(state.topics, state.groups, state.logs, state.stored, pending, state.disabled)
