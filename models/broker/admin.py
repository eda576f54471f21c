"""Topics and groups: creating and deleting them, and the effect on stored offsets (BQ-TOPIC-*, BQ-GROUP-*).

The trap is what survives. Up to 4.9.8 a deleted topic keeps the offsets that groups stored for it, forever: create
the topic again and every group stands beyond the new max. And a group's offsets are removed only when the request says
so, by a flag that was renamed between 4.x and 5.x; the wrong name is ignored.
"""

from __future__ import annotations

from functools import cache

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import READ, RETRY, WRITE, BrokerState, Stored, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-TOPIC-1",
        "Creating a topic sets its queues; creating it again replaces their number and touches neither messages nor "
        "stored offsets. Up to 4.7.0 the answer comes before the topic is there.",
        "AdminBrokerProcessor#updateAndCreateTopic @ 4.7.0, 4.7.1, 5.5.0",
    ),
    Rule(
        "BQ-TOPIC-RW",
        "A topic has a number of queues that are read, a number of queues that are written, and a permission. Creating "
        "it again replaces all three, by 0 as well; queues that it loses keep their messages.",
        "AdminBrokerProcessor#updateAndCreateTopic @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-TOPIC-3",
        "Deleting a topic removes its queues: they start again at 0. Offsets stored for it are removed from 5.0.0, "
        "and kept before. An unknown topic is no error.",
        "AdminBrokerProcessor#deleteTopic @ 4.9.7, 5.0.0, 5.5.0",
    ),
    Rule(
        "BQ-TOPIC-POP",
        "From 5.1.4 deleting a topic deletes for each group that has an offset stored for it the topic "
        "%RETRY%group_topic, where there is one, in the same way: that is where messages come again to members that "
        "pop. A deletion that fails for want of a timer wheel leaves those.",
        "AdminBrokerProcessor#deleteTopic @ 5.1.3, 5.1.4, 5.5.0; ConsumerOffsetManager#whichGroupByTopic @ 5.5.0",
        releases="5.1.4+",
    ),
    Rule(
        "BQ-STATS-QUEUES",
        "The statistics of a topic have the queues that are written, and from 5.3.0 those that are only read, too; "
        "TOPIC_NOT_EXIST without such a topic.",
        "AdminBrokerProcessor#getTopicStatsInfo @ 4.0.0, 4.9.7, 5.2.0, 5.3.0, 5.5.0",
    ),
    Rule(
        "BQ-TOPIC-TIMER",
        "Without a timer wheel (timerWheelEnable=false) the deletion of a topic answers SYSTEM_ERROR, known or not, "
        "after everything of the topic was removed: the broker fails when it looks for its delayed messages.",
        "AdminBrokerProcessor#deleteTopicInBroker @ 5.3.2, 5.3.3",
        releases="5.3.3+",
        needs="timerWheelEnable=false; true by default",
    ),
    Rule(
        "BQ-GROUP-1",
        "Creating a group, again or not, leaves stored offsets alone.",
        "AdminBrokerProcessor#updateAndCreateSubscriptionGroup @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-GROUP-ENABLE",
        "A group that is created with consumeEnable=false is disabled until it is created with true, or deleted: a "
        "group that is created by a look-up is enabled.",
        "SubscriptionGroupManager#updateSubscriptionGroupConfig, #findSubscriptionGroupConfig @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-GROUP-2",
        "Deleting a group removes its offsets only if asked to, from 4.9.0. The flag is removeOffset in 4.x and the "
        "5.0.0 previews and cleanOffset from 5.0.0; the other name is not looked at. An unknown group is no error.",
        "AdminBrokerProcessor#deleteSubscriptionGroup @ 4.8.0, 4.9.7, 5.0.0, 5.5.0",
    ),
    Rule(
        "BQ-GROUP-3",
        "In 5.5.0 deleting a group without cleanOffset leaves it in place, and creates it if there was none: the "
        "broker looks it up once it is deleted, and a look-up creates groups (autoCreateSubscriptionGroup). 5.5.1 "
        "looks first.",
        "AdminBrokerProcessor#deleteSubscriptionGroup, LiteMetadataUtil#isLiteGroupType @ 5.5.0",
        releases="5.5.0",
    ),
    Rule(
        "BQ-COM-9",
        "Offsets are removed by group or by topic for every topic, group and queue, whether or not they exist.",
        "ConsumerOffsetManager#removeOffset @ 4.9.7, 5.0.0, 5.5.0; #cleanOffsetByTopic @ 5.0.0, 5.5.0",
        releases="4.9.0+",
    ),
    Rule(
        "BQ-COM-9-RESETS",
        "Pending resets outlive what is stored: they go with a group's offsets from 5.3.2 only, and with a topic's "
        "from 5.3.4, there of the groups alone that have an offset stored for it. Otherwise a topic or group that is "
        "made again finds itself reset to an offset of the old one.",
        "ConsumerOffsetManager#removeOffset, #cleanOffsetByTopic @ 5.2.0, 5.3.1, 5.3.2, 5.3.3, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
)

#: The permission of an ordinary topic.
ORDINARY = READ | WRITE
#: Names of the flag that asks for a group's offsets to be removed; "" asks for nothing.
KEEP, REMOVE_OFFSET, CLEAN_OFFSET = "", "removeOffset", "cleanOffset"

_CREATE = {kind: Reason(("BQ-TOPIC-1",), kind) for kind in ("new topic", "same again", "other queues")}
_CREATE["created again"] = Reason(("BQ-TOPIC-1", "BQ-TOPIC-3"), "new topic, offsets kept")
_SHAPE = reasons_by_kind(("BQ-TOPIC-1", "BQ-TOPIC-RW"), "fewer read", "fewer written", "other permission")
_DELETE = {kind: Reason(("BQ-TOPIC-3",), kind) for kind in ("unknown topic", "nothing stored", "offsets kept")}
_DELETE["offsets removed"] = Reason(("BQ-TOPIC-3", "BQ-COM-9"), "offsets removed")
_DELETE |= {
    f"{kind}, {end}": Reason((*why.rules, "BQ-COM-9-RESETS"), f"{kind}, {end}")
    for kind, why in tuple(_DELETE.items())
    for end in ("resets kept", "resets removed")
}
_NO_TIMER = {kind: Reason((*why.rules, "BQ-TOPIC-TIMER"), f"{kind}, no timer wheel") for kind, why in _DELETE.items()}
_FAILED, _NO_TOPIC = Err("SYSTEM_ERROR"), Err("TOPIC_NOT_EXIST")
_STATS = reasons_by_kind(("BQ-STATS-QUEUES",), "unknown topic", "those that are written", "more are read")
_GROUP = {kind: Reason(("BQ-GROUP-1",), kind) for kind in ("new group", "same again", "new group, offsets kept")}
_ENABLE = reasons_by_kind(("BQ-GROUP-1", "BQ-GROUP-ENABLE"), "disabled", "disabled again", "enabled again")
_DELETE_GROUP = {kind: Reason(("BQ-GROUP-2",), kind) for kind in ("nothing stored", "not asked", "flag not known")}
_DELETE_GROUP["offsets removed"] = Reason(("BQ-GROUP-2", "BQ-COM-9"), "offsets removed")
_DELETE_GROUP |= {
    f"{kind}, {end}": Reason((*why.rules, "BQ-COM-9-RESETS"), f"{kind}, {end}")
    for kind, why in tuple(_DELETE_GROUP.items())
    for end in ("resets kept", "resets removed")
}
_CREATED = {kind: Reason(("BQ-GROUP-3", *why.rules), f"{kind}, group is back") for kind, why in _DELETE_GROUP.items()}


def create_topic(rules: BrokerRules, state: BrokerState, topic: str, settings: Topic) -> Answer[BrokerState]:
    """BQ-TOPIC-1, BQ-TOPIC-RW: None."""
    old = state.topics.get(topic)
    if settings.perm != ORDINARY:
        why = _SHAPE["other permission"]
    elif settings.read_queues != settings.write_queues:
        why = _SHAPE["fewer read" if settings.read_queues < settings.write_queues else "fewer written"]
    elif old is None:
        kept = any(key[1] == topic for key in state.stored)
        why = _CREATE["created again" if kept else "new topic"]
    else:
        why = _CREATE["same again" if old == settings else "other queues"]
    return BrokerState({**state.topics, topic: settings}, *state[1:]), None, why


def delete_topic(rules: BrokerRules, state: BrokerState, topic: str) -> Answer[BrokerState]:
    """BQ-TOPIC-3, BQ-TOPIC-POP: None."""
    groups = sorted({key[0] for key in state.stored if key[1] == topic}) if rules.pop_retries_deleted else []
    retried = [name for name in (pop_retry_topic(group, topic) for group in groups) if name in state.topics]
    after, result, why = _delete_topic(rules, state, topic)
    if not retried:
        return after, result, why
    if result is None:
        for name in retried:
            after = _delete_topic(rules, after, name)[0]
    return after, result, _with_retries(why)


def topic_queues(rules: BrokerRules, state: BrokerState, topic: str) -> Answer[BrokerState]:
    """BQ-STATS-QUEUES: how many queues the statistics of a topic have, or the error."""
    settings = state.topics.get(topic)
    if settings is None:
        return state, _NO_TOPIC, _STATS["unknown topic"]
    more = settings.read_queues > settings.write_queues
    queues = max(settings.read_queues, settings.write_queues) if rules.stats_count_read else settings.write_queues
    return state, queues, _STATS["more are read" if more else "those that are written"]


def pop_retry_topic(group: str, topic: str) -> str:
    """BQ-TOPIC-POP: where messages of a topic come again to members of a group that pop."""
    return f"{RETRY}{group}_{topic}"


@cache
def _with_retries(why: Reason) -> Reason:
    """The same reason where topics of messages that come again go, too; one object for each."""
    return Reason((*why.rules, "BQ-TOPIC-POP"), f"{why.kind}, and that of members that pop")


def _delete_topic(rules: BrokerRules, state: BrokerState, topic: str) -> Answer[BrokerState]:
    kept: Stored = {key: offset for key, offset in state.stored.items() if key[1] != topic}
    if len(kept) == len(state.stored):
        kind = "nothing stored" if topic in state.topics else "unknown topic"
    elif rules.delete_forgets:
        kind = "offsets removed"
    else:
        kept, kind = state.stored, "offsets kept"
    pending, kind = _resets(state, 1, topic, rules.delete_topic_forgets_resets, kind)
    topics = {name: settings for name, settings in state.topics.items() if name != topic}
    logs = {key: log for key, log in state.logs.items() if key[0] != topic}
    after = BrokerState(topics, state.groups, logs, kept, pending, state.disabled)
    return (after, _FAILED, _NO_TIMER[kind]) if rules.delete_topic_fails else (after, None, _DELETE[kind])


def create_group(rules: BrokerRules, state: BrokerState, group: str, enabled: bool = True) -> Answer[BrokerState]:
    """BQ-GROUP-1, BQ-GROUP-ENABLE: None. ``enabled`` is consumeEnable: may its members pull?"""
    if not enabled:
        why = _ENABLE["disabled again" if group in state.disabled else "disabled"]
        return state._replace(groups=state.groups | {group}, disabled=state.disabled | {group}), None, why
    if group in state.disabled:
        return state._replace(disabled=state.disabled - {group}), None, _ENABLE["enabled again"]
    if group in state.groups:
        return state, None, _GROUP["same again"]
    kept = any(key[0] == group for key in state.stored)
    why = _GROUP["new group, offsets kept" if kept else "new group"]
    return BrokerState(state.topics, state.groups | {group}, *state[2:]), None, why


def delete_group(
    rules: BrokerRules, state: BrokerState, group: str, flag: str, creates: bool | None = None
) -> Answer[BrokerState]:
    """BQ-GROUP-2: None. ``flag`` is the name of the request's field that is set to true; ``creates`` is whether the
    broker creates the group when it looks it up, unless that is the same for all."""
    kept: Stored = {key: offset for key, offset in state.stored.items() if key[0] != group}
    known = removes_offsets(rules, flag)
    if len(kept) == len(state.stored):
        kind = "nothing stored"
    elif known:
        kind = "offsets removed"
    else:
        kept, kind = state.stored, "flag not known" if flag else "not asked"
    pending, kind = _resets(state, 0, group, rules.delete_group_forgets_resets and known, kind)
    if rules.delete_group_creates and not known and (rules.creates_groups if creates is None else creates):
        groups, why = state.groups | {group}, _CREATED[kind]
    else:
        groups, why = state.groups - {group}, _DELETE_GROUP[kind]
    return BrokerState(state.topics, groups, state.logs, kept, pending, state.disabled - {group}), None, why


def removes_offsets(rules: BrokerRules, flag: str) -> bool:
    """BQ-GROUP-2: does the deletion of a group with this flag remove its offsets?"""
    return rules.delete_group_clears and flag == (CLEAN_OFFSET if rules.clean_offset else REMOVE_OFFSET)


def _resets(state: BrokerState, part: int, name: str, removed: bool, kind: str) -> tuple[Stored, str]:
    """BQ-COM-9-RESETS: the resets pending after the deletion, and the kind of state in which it happens.

    ``part`` of a key is the ``name`` that is deleted.
    """
    if not any(key[part] == name for key in state.pending):
        return state.pending, kind
    if not removed:
        return state.pending, f"{kind}, resets kept"
    # the resets of a topic are found by way of stored offsets, which correction offsets may have deleted (BQ-COM-10)
    stored = {key[:2] for key in state.stored} if part else {key[:2] for key in state.pending}
    left = {key: offset for key, offset in state.pending.items() if key[part] != name or key[:2] not in stored}
    return left, f"{kind}, resets {'removed' if len(left) < len(state.pending) else 'kept'}"
