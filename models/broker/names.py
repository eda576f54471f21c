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
from rocketmq_conformance.models.broker.pull import PullMessageRequest, StoredEntry, TagCodes, pull
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.java_text import utf16
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-NAME-TOPIC",
        "From 4.6.1 a topic can be created only if its name has at most 127 characters, all of them letters a to z in "
        "either case, digits, or one of % | - _ ; otherwise SYSTEM_ERROR, from 5.3.2 INVALID_PARAMETER. Before, any "
        "name will do.",
        "AdminBrokerProcessor#updateAndCreateTopic @ 4.6.0, 4.6.1, 5.3.1, 5.3.2, 5.5.0; "
        "TopicValidator#validateTopic @ 4.6.1, 5.3.1, 5.3.2, 5.5.0",
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
        "BQ-NAME-LOOKUP",
        "From 5.1.1 a look-up does not create a group whose name has other characters than those of a topic, or more "
        "than 255, from 5.4.0 more than 120 or none. A pull of such a group answers SUBSCRIPTION_GROUP_NOT_EXIST "
        "unless it was created by a request.",
        "SubscriptionGroupManager#findSubscriptionGroupConfig @ 5.1.0, 5.1.1, 5.3.3, 5.4.0",
        releases="5.1.1+",
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
#: What Java makes of a group that was not sent.
NO_NAME = "null"

_ALLOWED = re.compile(r"[%|a-zA-Z0-9_-]*")
_NOT_ALLOWED = {False: SYSTEM_ERROR, True: Err("INVALID_PARAMETER")}
_TOPIC = Reason(("BQ-NAME-TOPIC",), "name not allowed")
_DELETED = Reason(("BQ-NAME-DELETE",), "name not allowed")
_GROUP = Reason(("BQ-NAME-GROUP",), "name not allowed")
_NO_TOPIC = Reason(("BQ-QUERY-FIELD",), "no topic")


def allowed(name: str, most: int) -> bool:
    """May something with at most ``most`` characters be called so?"""
    return len(utf16(name)) <= 2 * most and _ALLOWED.fullmatch(name) is not None


def created_by_look_up(rules: BrokerRules, group: str) -> bool:
    """BQ-NAME-LOOKUP: does a broker that creates groups create this one when it looks it up?"""
    if rules.new_group_names:
        return group != "" and allowed(group, LONGEST_NEW_GROUP)
    return not rules.group_names or allowed(group, LONGEST_GROUP)


def create_topic(rules: BrokerRules, state: BrokerState, topic: str, settings: Topic) -> Answer[BrokerState]:
    """BQ-NAME-TOPIC, BQ-TOPIC-*: None, or the error."""
    if rules.topic_names and not allowed(topic, LONGEST_TOPIC):
        return state, _NOT_ALLOWED[rules.invalid_parameter], _TOPIC
    return admin.create_topic(rules, state, topic, settings)


def delete_topic(rules: BrokerRules, state: BrokerState, topic: str) -> Answer[BrokerState]:
    """BQ-NAME-DELETE, BQ-TOPIC-3: None, or the error."""
    if rules.deleted_names and not allowed(topic, LONGEST_TOPIC):
        return state, SYSTEM_ERROR, _DELETED
    after, result, why = admin.delete_topic(rules, _without_shared(state), topic)
    return _with_shared(after, state), result, why


def create_group(rules: BrokerRules, state: BrokerState, group: str, enabled: bool = True) -> Answer[BrokerState]:
    """BQ-NAME-GROUP, BQ-GROUP-*: None, or the error."""
    if rules.new_group_names and not created_by_look_up(rules, group):
        return state, _NOT_ALLOWED[True], _GROUP
    return admin.create_group(rules, state, group, enabled)


def delete_group(rules: BrokerRules, state: BrokerState, group: str, flag: str) -> Answer[BrokerState]:
    """BQ-GROUP-2, BQ-GROUP-3: None."""
    after, result, why = admin.delete_group(rules, _without_shared(state), group, flag)
    if group in after.groups and not created_by_look_up(rules, group):
        after, why = after._replace(groups=after.groups - {group}), _with(why, "BQ-NAME-LOOKUP", "name not allowed")
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
