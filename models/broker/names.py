"""Names of topics and groups: which are allowed, and which share their stored offsets (BQ-NAME-*, BQ-COM-AT).

Stored offsets are kept under one text, ``topic@group``. Where a name holds an ``@`` itself, two pairs of names can be
the same text: topic ``a`` of group ``b@c``, and topic ``a@b`` of group ``c``. A state keeps the offset under one pair
only, that of the text's first ``@``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from rocketmq_conformance.models.broker import admin
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import SYSTEM_ERROR, commit_offset
from rocketmq_conformance.models.broker.own_names import (
    BENCHMARK,
    CHECKPOINT,
    DEFAULT_TOPIC,
    HALF,
    HALF_OP,
    MAX_TIME,
    MOVED,
    ROCKS,
    SCHEDULE_TOPIC,
    SELF_TEST,
    SYSTEM_TOPIC,
    OwnNames,
)
from rocketmq_conformance.models.broker.pull import NO_PERMISSION, PullMessageRequest, pull
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import DEAD, RETRY, BrokerState, Topic
from rocketmq_conformance.models.broker.subscription import StoredEntry, TagCodes
from rocketmq_conformance.models.java_text import is_blank, utf16
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-NAME-TOPIC",
        "From 4.6.1 a topic can be created only if its name has at most 127 characters, all of them letters a to z in "
        "either case, digits, or one of % | - _ ; otherwise SYSTEM_ERROR, from 5.3.2 INVALID_PARAMETER. Before, any "
        "name will do. From 5.4.0 that of a retry or dead letter topic may have 255.",
        "AdminBrokerProcessor#updateAndCreateTopic @ 4.6.0, 4.6.1, 5.3.1, 5.3.2, 5.5.0; "
        "TopicValidator#validateTopic @ 4.6.1, 5.3.1, 5.3.2, 5.3.3, 5.4.0, 5.5.0",
        releases="4.6.1+",
    ),
    Rule(
        "BQ-NAME-DELETE",
        "From 4.7.1 to before 5.2.0 deleting a topic whose name is not allowed answers SYSTEM_ERROR; before and after "
        "it is no error.",
        "AdminBrokerProcessor#deleteTopic @ 4.7.0, 4.7.1, 5.1.4, 5.2.0",
        releases="4.7.1 – 5.1.4",
    ),
    Rule(
        "BQ-NAME-BLANK",
        "From 4.6.1 a topic whose name is blank cannot be created, and from 4.7.1 not be deleted: SYSTEM_ERROR, from "
        "5.3.2 INVALID_PARAMETER.",
        "AdminBrokerProcessor#updateAndCreateTopic @ 4.6.0, 4.6.1, 5.5.0; #deleteTopic @ 4.7.0, 4.7.1, 5.3.2, 5.5.0",
        releases="4.6.1+",
    ),
    Rule(
        "BQ-NAME-SYSTEM",
        "From 4.7.1 a topic of RocketMQ's own can be neither created nor deleted, whether or not it is there: its name "
        "is on a list of the release, which has those of broker and cluster, or begins with rmq_sys_. SYSTEM_ERROR, "
        "from 5.3.2 INVALID_PARAMETER. Before, only the topic with the cluster's name cannot be created, and TBW102 "
        "from 4.6.1.",
        "AdminBrokerProcessor#updateAndCreateTopic, #deleteTopic @ 4.7.0, 4.7.1, 5.3.2, 5.5.0; "
        "TopicValidator#isSystemTopic @ 4.7.1, 5.5.0",
        releases="4.7.1+",
    ),
    Rule(
        "BQ-NAME-SEND",
        "From 4.6.1 a message for a topic whose name is not allowed is refused before the topic is looked up: "
        "SYSTEM_ERROR, from 5.3.2 INVALID_PARAMETER. From 4.7.1 one for the topic of delay levels is refused with "
        "NO_PERMISSION, and from 4.9.4 and 5.0.0 one for those of transactions, of the self-test and of moved offsets. "
        "Up to 4.6.0, where a topic may have any name, one with more than 127 characters takes none: MESSAGE_ILLEGAL.",
        "AbstractSendMessageProcessor#msgCheck @ 4.6.0, 4.6.1, 4.7.1, 5.3.2, 5.5.0; "
        "TopicValidator#isNotAllowedSendTopic @ 4.7.1, 4.9.3, 4.9.4, 5.5.0",
    ),
    Rule(
        "BQ-NAME-LOOKUP",
        "From 5.1.1 a look-up does not create a group whose name has other characters than those of a topic, or more "
        "than 255, from 5.4.0 more than 120 or none. A pull of such a group answers SUBSCRIPTION_GROUP_NOT_EXIST "
        "unless it was created by a request.",
        "SubscriptionGroupManager#findSubscriptionGroupConfig @ 5.1.0, 5.1.1, 5.3.3, 5.4.0",
        releases="5.1.1+",
    ),
    Rule(
        "BQ-GROUP-SYSTEM",
        "A group whose name begins with CID_RMQ_SYS_ is created when it is looked up, also by a broker that creates no "
        "other (autoCreateSubscriptionGroup=false).",
        "SubscriptionGroupManager#findSubscriptionGroupConfig, MixAll#isSysConsumerGroup @ 4.0.0, 4.9.7, 5.1.4",
        needs="autoCreateSubscriptionGroup=false; true by default",
    ),
    Rule(
        "BQ-NAME-GROUP",
        "From 5.4.0 a group of such a name cannot be created by a request either: INVALID_PARAMETER.",
        "AdminBrokerProcessor#updateAndCreateSubscriptionGroup @ 5.3.3, 5.4.0",
        releases="5.4.0+",
    ),
    Rule(
        "BQ-NAME-NULL",
        "Up to 5.2.0 a commit without group is stored, and a query without group reads it.",
        "ConsumerOffsetManager#commitOffset @ 4.0.0, 4.9.7, 5.2.0",
        releases="up to 5.2.0",
    ),
    Rule(
        "BQ-COM-AT",
        "Stored offsets are kept under topic@group: (a, b@c) and (a@b, c) share theirs, and deleting a topic or a "
        "group leaves the offsets that have an @ in a name.",
        "ConsumerOffsetManager#commitOffset, #queryOffset @ 4.0.0, 4.9.7, 5.3.3; #removeOffset @ 4.9.7, "
        "5.3.3; #cleanOffsetByTopic @ 5.3.3",
    ),
)

#: Most characters (UTF-16 code units) of the name of a topic, and of a group by a look-up from 5.1.1 and from 5.4.0.
LONGEST_TOPIC, LONGEST_GROUP, LONGEST_NEW_GROUP = 127, 255, 120
#: The same of a retry or dead letter topic from 5.4.0.
LONGEST_RETRY_TOPIC = 255
#: What names of RocketMQ's own groups begin with.
SYSTEM_GROUP = "CID_RMQ_SYS_"
#: Topics that take no message of a client: that of delay levels, the others.
FORBIDDEN = (SCHEDULE_TOPIC, HALF, HALF_OP, MAX_TIME, SELF_TEST, MOVED)
#: The topics on the list of every release, and one more.
LISTED = (DEFAULT_TOPIC, BENCHMARK, "RMQ_SYS_TRACE_TOPIC", *FORBIDDEN)
#: Of a broker that no plan asks for by its name.
UNNAMED = OwnNames()
ILLEGAL = Err("MESSAGE_ILLEGAL")
#: What Java makes of a group that was not sent.
NO_NAME = "null"

_ALLOWED = re.compile(r"[%|a-zA-Z0-9_-]*")
_NOT_ALLOWED = {False: SYSTEM_ERROR, True: Err("INVALID_PARAMETER")}
_TOPIC = Reason(("BQ-NAME-TOPIC",), "name not allowed")
_DELETED = Reason(("BQ-NAME-DELETE",), "name not allowed")
_BLANK = Reason(("BQ-NAME-BLANK",), "blank")
_SYSTEM = Reason(("BQ-NAME-SYSTEM",), "a topic of RocketMQ's own")
_SENT = reasons_by_kind(("BQ-NAME-SEND",), "name not allowed", "no messages taken", "more than can be stored")
_GROUP = Reason(("BQ-NAME-GROUP",), "name not allowed")
_NO_TOPIC = Reason(("BQ-QUERY-FIELD",), "no topic")


def allowed(name: str, most: int) -> bool:
    """May something with at most ``most`` characters be called so?"""
    return len(utf16(name)) <= 2 * most and _ALLOWED.fullmatch(name) is not None


def created_by_look_up(rules: BrokerRules, group: str) -> bool:
    """BQ-GROUP-LOOKUP, BQ-GROUP-SYSTEM, BQ-NAME-LOOKUP: does the broker create this group when it looks it up?"""
    if not rules.creates_groups and not group.startswith(SYSTEM_GROUP):
        return False
    if rules.new_group_names:
        return group != "" and allowed(group, LONGEST_NEW_GROUP)
    return not rules.group_names or allowed(group, LONGEST_GROUP)


def create_topic(
    rules: BrokerRules, state: BrokerState, topic: str, settings: Topic, own: OwnNames = UNNAMED
) -> Answer[BrokerState]:
    """BQ-NAME-TOPIC, BQ-NAME-BLANK, BQ-NAME-SYSTEM, BQ-TOPIC-*: None, or the error."""
    refused = _NOT_ALLOWED[rules.invalid_parameter]
    if rules.topic_names and is_blank(topic):
        return state, refused, _BLANK
    if rules.topic_names and not _topic_allowed(rules, topic):
        return state, refused, _TOPIC
    if is_system(rules, topic, own) if rules.system_names else _is_conflict(rules, topic, own):
        return state, refused, _SYSTEM
    return admin.create_topic(rules, state, topic, settings)


def delete_topic(rules: BrokerRules, state: BrokerState, topic: str, own: OwnNames = UNNAMED) -> Answer[BrokerState]:
    """BQ-NAME-BLANK, BQ-NAME-DELETE, BQ-NAME-SYSTEM, BQ-TOPIC-3: None, or the error."""
    if rules.system_names and is_blank(topic):
        return state, _NOT_ALLOWED[rules.invalid_parameter], _BLANK
    if rules.deleted_names and not allowed(topic, LONGEST_TOPIC):
        return state, SYSTEM_ERROR, _DELETED
    if is_system(rules, topic, own):
        return state, _NOT_ALLOWED[rules.invalid_parameter], _SYSTEM
    after, result, why = admin.delete_topic(rules, _without_shared(state), topic)
    return _with_shared(after, state), result, why


def is_system(rules: BrokerRules, topic: str, own: OwnNames) -> bool:
    """BQ-NAME-SYSTEM: is it a topic that can be neither created nor deleted?"""
    if not rules.system_names:
        return False
    if topic.startswith(SYSTEM_TOPIC) or topic in LISTED or topic in own.all:
        return True
    return (rules.checkpoint_name and topic == CHECKPOINT) or (rules.rocks_names and topic in ROCKS)


def _is_conflict(rules: BrokerRules, topic: str, own: OwnNames) -> bool:
    """BQ-NAME-SYSTEM up to 4.7.0: is it one of the two that cannot be created?"""
    return topic == own.cluster or (rules.topic_names and topic == DEFAULT_TOPIC)


def _topic_allowed(rules: BrokerRules, topic: str) -> bool:
    """May a topic be called so?"""
    longer = rules.long_retry_topics and topic.startswith((RETRY, DEAD))
    return allowed(topic, LONGEST_RETRY_TOPIC if longer else LONGEST_TOPIC)


def takes_messages(rules: BrokerRules, topic: str) -> bool:
    """BQ-NAME-SEND: may messages of clients be for a topic of this name, if it is allowed?"""
    if not rules.system_names:
        return topic != DEFAULT_TOPIC
    if rules.rocks_names and topic in ROCKS:
        return False
    return topic not in (FORBIDDEN if rules.forbids_sending else FORBIDDEN[:1])


def refuses_message(rules: BrokerRules, topic: str) -> tuple[Err, Reason] | None:
    """BQ-NAME-SEND: the error of a message for a topic whose name forbids it."""
    if rules.topic_names and (is_blank(topic) or not _topic_allowed(rules, topic)):
        return _NOT_ALLOWED[rules.invalid_parameter], _SENT["name not allowed"]
    if takes_messages(rules, topic):
        return None
    return (NO_PERMISSION if rules.system_names else SYSTEM_ERROR), _SENT["no messages taken"]


def send_named(
    rules: BrokerRules, state: BrokerState, topic: str, queue: int, times: tuple[int, ...]
) -> Answer[BrokerState]:
    """BQ-NAME-SEND, BQ-SEND-1, BQ-TOPIC-2: the offsets of messages stored at ``times``, or the error."""
    refused = refuses_message(rules, topic)
    if refused is not None:
        return state, *refused
    after, result, why = send(rules, state, topic, queue, times)
    if not isinstance(result, Err) and is_too_long(topic):
        return state, ILLEGAL, _SENT["more than can be stored"]
    return after, result, why


def is_too_long(topic: str) -> bool:
    """BQ-NAME-SEND: is the name of a topic longer than that of a message can be?"""
    return len(utf16(topic)) > 2 * LONGEST_TOPIC and not topic.startswith((RETRY, DEAD))


def create_group(rules: BrokerRules, state: BrokerState, group: str, enabled: bool = True) -> Answer[BrokerState]:
    """BQ-NAME-GROUP, BQ-GROUP-*: None, or the error."""
    if rules.new_group_names and (group == "" or not allowed(group, LONGEST_NEW_GROUP)):
        return state, _NOT_ALLOWED[True], _GROUP
    return admin.create_group(rules, state, group, enabled)


def delete_group(rules: BrokerRules, state: BrokerState, group: str, flag: str) -> Answer[BrokerState]:
    """BQ-GROUP-2, BQ-GROUP-3: None."""
    creates = created_by_look_up(rules, group)
    after, result, why = admin.delete_group(rules, _without_shared(state), group, flag, creates)
    if rules.delete_group_creates and rules.creates_groups and not creates and group not in after.groups:
        why = _with(why, "BQ-NAME-LOOKUP", "name not allowed")
    return _with_shared(after, state), result, why


def commit_named(
    rules: BrokerRules, state: BrokerState, group: str | None, topic: str, queue: int | None, offset: int | None
) -> Answer[BrokerState]:
    """BQ-UPDATE-*, BQ-COM-AT, BQ-NAME-NULL: None, or the error. None for a group is a field that is not sent."""
    if group is not None and "@" not in topic and "@" not in group:
        return commit_offset(rules, state, group, topic, queue, offset)
    name = NO_NAME if group is None else group
    if queue is None or ("@" not in topic and "@" not in name):
        after, result, why = commit_offset(rules, state, name, topic, queue, offset)
    else:
        kept = _kept(name, topic, queue)
        after, result, why = commit_offset(
            rules, _seen_by(state, kept, (name, topic, queue)), name, topic, queue, offset
        )
        stored = dict(after.stored)
        if (name, topic, queue) in stored:
            stored[kept] = stored.pop((name, topic, queue))
        after, why = after._replace(stored=stored), _with(why, "BQ-COM-AT", "an @ in a name")
    if group is None and result is None:
        why = _with(why, "BQ-NAME-NULL", "no group")
    return after, result, why


def query_named(
    rules: BrokerRules,
    state: BrokerState,
    group: str | None,
    topic: str | None,
    queue: int | None,
    set_zero: bool | None = None,
) -> Answer[BrokerState]:
    """BQ-QUERY-*, BQ-COM-AT, BQ-NAME-NULL: the offset, or the error. None is a field that is not sent."""
    if topic is None:
        return state, SYSTEM_ERROR, _NO_TOPIC
    if group is not None and "@" not in topic and "@" not in group:
        return query_offset(rules, state, group, topic, queue, set_zero)
    name = NO_NAME if group is None else group
    if queue is None or ("@" not in topic and "@" not in name):
        _, result, why = query_offset(rules, state, name, topic, queue, set_zero)
    else:
        seen = _seen_by(state, _kept(name, topic, queue), (name, topic, queue))
        _, result, why = query_offset(rules, seen, name, topic, queue, set_zero)
        why = _with(why, "BQ-COM-AT", "an @ in a name")
    if group is None and (name, topic, queue) in state.stored:
        why = _with(why, "BQ-NAME-NULL", "no group")
    return state, result, why


def pull_named(
    rules: BrokerRules,
    state: BrokerState,
    request: PullMessageRequest,
    codes: TagCodes | Err,
    entries: Sequence[StoredEntry],
) -> Answer[BrokerState]:
    """BQ-PULL-*, BQ-COM-AT: what a pull finds (``PullResult``), or the error."""
    after, result, why = pull(rules, state, request, codes, entries)
    named = (request.group, request.topic, request.queue)
    if request.commit is None or "@" not in request.topic or named not in after.stored:
        return after, result, why
    stored = dict(after.stored)
    stored[_kept(*named)] = stored.pop(named)
    return after._replace(stored=stored), result, _with(why, "BQ-COM-AT", "an @ in a name")


@cache
def _with(why: Reason, rule: str, kind: str) -> Reason:
    """The same reason with one more; one object for each."""
    return Reason((*why.rules, rule), f"{why.kind}, {kind}")


def _kept(group: str, topic: str, queue: int) -> tuple[str, str, int]:
    """The key under which a state keeps the offset of these names."""
    first, _, rest = f"{topic}@{group}".partition("@")
    return rest, first, queue


def _seen_by(state: BrokerState, kept: tuple[str, str, int], named: tuple[str, str, int]) -> BrokerState:
    """The state with a shared offset under the names of one request."""
    if kept == named or kept not in state.stored:
        return state
    stored = dict(state.stored)
    stored[named] = stored.pop(kept)
    return state._replace(stored=stored)


def _without_shared(state: BrokerState) -> BrokerState:
    """The state without the stored offsets that have an @ in a name."""
    if not any("@" in group for group, _, _ in state.stored):
        return state
    return state._replace(stored={key: offset for key, offset in state.stored.items() if "@" not in key[0]})


def _with_shared(after: BrokerState, before: BrokerState) -> BrokerState:
    """The state with the stored offsets that have an @ in a name, as they were before."""
    shared = {key: offset for key, offset in before.stored.items() if "@" in key[0]}
    return after._replace(stored={**after.stored, **shared}) if shared else after
