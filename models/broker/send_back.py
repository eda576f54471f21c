"""CONSUMER_SEND_MSG_BACK, and copies to a retry topic: where messages go that were not consumed (BQ-BACK-*, BQ-DEAD-*).

A client names the message by its place in the broker's log. The broker stores a copy: for the group's retry topic,
where members find it after the time of a delay level, or, when it came back too often, for the group's topic of dead
letters. A client that cannot reach the broker in this way sends a copy to the retry topic itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.delay_level import effective_level
from rocketmq_conformance.models.broker.names import created_by_look_up
from rocketmq_conformance.models.broker.state import DEAD, READ, RETRY, WRITE, BrokerState, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-BACK-DROP",
        "A message that a group without retry queues (retryQueueNums of 0 or less) sends back is answered SUCCESS and "
        "dropped. Nothing else is looked at.",
        "SendMessageProcessor#consumerSendMsgBack @ 4.0.0; SendMessageProcessor#asyncConsumerSendMsgBack @ "
        "4.9.7; AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3",
    ),
    Rule(
        "BQ-BACK-BROKER",
        "A broker that may not be written (brokerPermission without 2) refuses every send-back with NO_PERMISSION once "
        "the group is found, before it looks at anything else.",
        "SendMessageProcessor#consumerSendMsgBack @ 4.0.0; SendMessageProcessor#asyncConsumerSendMsgBack @ "
        "4.9.7; AbstractSendMessageProcessor#consumerSendMsgBack @ 5.5.0",
        needs="brokerPermission without 2; 6 by default",
    ),
    Rule(
        "BQ-BACK-TOPIC",
        "The first send-back of a group makes its retry topic, with the group's number of retry queues, to be read and "
        "written, even when the message is refused afterwards. A retry topic that is there stays as it is: queues that "
        "the group gets later are drawn, and cannot be pulled from.",
        "TopicConfigManager#createTopicInSendMessageBackMethod @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-BACK-PERM",
        "A send-back is refused with NO_PERMISSION when the retry topic may not be written, before the message is "
        "looked up, a dead letter too.",
        "SendMessageProcessor#consumerSendMsgBack @ 4.0.0; SendMessageProcessor#asyncConsumerSendMsgBack @ "
        "4.9.7; AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3",
    ),
    Rule(
        "BQ-BACK-LOOK",
        "A send-back is refused with SYSTEM_ERROR when no message begins at the place that it names. The message's "
        "topic may be gone.",
        "SendMessageProcessor#consumerSendMsgBack @ 4.0.0; SendMessageProcessor#asyncConsumerSendMsgBack @ "
        "4.9.7; AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3; "
        "DefaultMessageStore#lookMessageByOffset @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-BACK-FENCE",
        "5.0.0 refuses with SYSTEM_ERROR when the request names another topic than that in which the message lies: a "
        "Java client names the first topic, so it cannot send the same message back a second time.",
        "AbstractSendMessageProcessor#consumerSendMsgBack @ 5.0.0, 5.1.0",
        releases="5.0.0-ALPHA – 5.0.0",
    ),
    Rule(
        "BQ-BACK-LEVEL",
        "A message that is sent back waits at the level that the request names, at 3 more than the times it was "
        "consumed again for level 0, and never beyond the last level.",
        "SendMessageProcessor#consumerSendMsgBack, CommitLog#putMessage @ 4.0.0; "
        "SendMessageProcessor#asyncConsumerSendMsgBack, CommitLog#asyncPutMessage @ 4.9.7; "
        "HookUtils#transformDelayLevelMessage @ 5.3.3",
    ),
    Rule(
        "BQ-BACK-TIME",
        "It comes to the retry topic no sooner than the time of its level.",
        "ScheduleMessageService#computeDeliverTimestamp @ 4.0.0, 4.9.7, 5.3.3; "
        "ScheduleMessageService.DeliverDelayedMessageTimerTask#messageTimeup @ 4.0.0; "
        "ScheduleMessageService#messageTimeup @ 4.9.7; #messageTimeUp @ 5.3.3",
    ),
    Rule(
        "BQ-BACK-QUEUE",
        "It goes to any of the group's retry queues, drawn at random.",
        "SendMessageProcessor#consumerSendMsgBack @ 4.0.0; SendMessageProcessor#asyncConsumerSendMsgBack @ "
        "4.9.7; AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3",
    ),
    Rule(
        "BQ-BACK-COPY",
        "The copy has the message's properties and one more in its count of times; RETRY_TOPIC and ORIGIN_MESSAGE_ID "
        "name the first topic and message unless the message names others already. WAIT is false, DELAY the level, "
        "REAL_TOPIC and REAL_QID where it went when it had waited.",
        "SendMessageProcessor#consumerSendMsgBack, CommitLog#putMessage, "
        "ScheduleMessageService.DeliverDelayedMessageTimerTask#messageTimeup @ 4.0.0; "
        "SendMessageProcessor#asyncConsumerSendMsgBack, CommitLog#asyncPutMessage, "
        "ScheduleMessageService#messageTimeup @ 4.9.7; AbstractSendMessageProcessor#consumerSendMsgBack, "
        "HookUtils#transformDelayLevelMessage, ScheduleMessageService#messageTimeUp @ 5.3.3",
    ),
    Rule(
        "BQ-BACK-MOST",
        "The limit of times is the request's, else the group's retryMaxTimes. Before 4.9.1 a request of a client of "
        "3.4.9 or later without a limit fails with SYSTEM_ERROR.",
        "SendMessageProcessor#asyncConsumerSendMsgBack @ 4.9.0, 4.9.1; "
        "AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3",
    ),
    Rule(
        "BQ-DEAD-1",
        "A message that was consumed again as often as the limit says, or is sent back with a negative level, is a "
        "dead letter: it goes to queue 0 of the group's dead-letter topic, which is made with one queue.",
        "SendMessageProcessor#consumerSendMsgBack @ 4.0.0; SendMessageProcessor#asyncConsumerSendMsgBack @ "
        "4.9.7; AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3",
    ),
    Rule(
        "BQ-DEAD-READ",
        "A dead-letter topic is made to be written and not to be read up to 4.9.1; operators have to allow it.",
        "SendMessageProcessor#consumerSendMsgBack @ 4.0.0; SendMessageProcessor#asyncConsumerSendMsgBack @ "
        "4.9.1, 4.9.2; AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3",
    ),
    Rule(
        "BQ-DEAD-LEVEL",
        "A dead letter is there at once and its DELAY is 0 from 4.9.2. Before, one that had waited as a message to be "
        "consumed again waits at its last level once more.",
        "SendMessageProcessor#consumerSendMsgBack @ 4.0.0; SendMessageProcessor#asyncConsumerSendMsgBack @ "
        "4.9.1, 4.9.2; AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3",
    ),
    Rule(
        "BQ-DEAD-ID",
        "Up to 4.8.0 a dead letter that did not wait has an ORIGIN_MESSAGE_ID only if it brought one.",
        "SendMessageProcessor#asyncConsumerSendMsgBack @ 4.8.0, 4.9.0; "
        "AbstractSendMessageProcessor#consumerSendMsgBack @ 5.3.3",
        releases="up to 4.8.0",
    ),
    Rule(
        "BQ-DEAD-UNNAMED",
        "From 5.1.0 a dead letter whose request names no topic is refused with SYSTEM_ERROR: its metric needs one.",
        "AbstractSendMessageProcessor#consumerSendMsgBack @ 5.0.0, 5.1.0, 5.3.3; "
        "BrokerMetricsManager#isSystem @ 5.1.0, 5.3.3",
        releases="5.1.0+",
    ),
    Rule(
        "BQ-COPY-1",
        "A message that is sent to a retry topic, which is made with one queue if there is none, waits at its DELAY "
        "level, and is stored there with the times that it says. It is a dead letter when it says as many times as the "
        "limit, from 5.0.0 more.",
        "SendMessageProcessor#handleRetryAndDLQ @ 4.1.0, 4.9.7, 5.0.0, 5.3.3",
    ),
    Rule(
        "BQ-COPY-LOCKED",
        "From 5.1.1 a copy to the retry topic of a group that holds the lock of any queue, on this broker and not "
        "expired, is a dead letter whatever times it says: the broker takes the group to consume in order. Messages "
        "that are sent back are not.",
        "SendMessageProcessor#handleRetryAndDLQ @ 5.1.0, 5.1.1, 5.5.0; RebalanceLockManager#isLockAllExpired @ 5.1.1, "
        "5.5.0",
        releases="5.1.1+",
    ),
    Rule(
        "BQ-COPY-MOST",
        "The limit of times of a copy is the request's, else the group's. Before 4.9.3 a copy without a limit fails "
        "with SYSTEM_ERROR.",
        "SendMessageProcessor#handleRetryAndDLQ @ 4.9.2, 4.9.3, 5.3.3",
    ),
    Rule(
        "BQ-COPY-DEAD",
        "A copy that is a dead letter is there at once and its DELAY is -1 from 5.0.0. Before, it waits at its level.",
        "SendMessageProcessor#handleRetryAndDLQ, #sendMessage @ 4.9.7, 5.0.0, 5.3.3",
    ),
)

#: Properties of messages, by RocketMQ's names.
RETRY_TOPIC, ORIGIN, DELAY, REAL_TOPIC, REAL_QUEUE, WAIT = (
    "RETRY_TOPIC",
    "ORIGIN_MESSAGE_ID",
    "DELAY",
    "REAL_TOPIC",
    "REAL_QID",
    "WAIT",
)
#: Level 0 means this one, and one more for each time that the message was consumed again.
_FIRST_LEVEL = 3
#: Version of the first client that names a limit of times in its requests (V3_4_9).
NAMES_LIMIT = 121

_UNKNOWN_GROUP, _FORBIDDEN, _FAILED = Err("SUBSCRIPTION_GROUP_NOT_EXIST"), Err("NO_PERMISSION"), Err("SYSTEM_ERROR")

_NO_GROUP = Reason(("BQ-GROUP-LOOKUP",), "unknown group, none is created")
_FORBIDDEN_HERE = Reason(("BQ-BACK-BROKER",), "a broker that may not be written")
_DROPPED = Reason(("BQ-BACK-DROP",), "no retry queues")
_NOT_WRITTEN = Reason(("BQ-BACK-PERM",), "no permission to write")
_LOOK = reasons_by_kind(("BQ-BACK-LOOK",), "no such message")
_FENCED = Reason(("BQ-BACK-FENCE",), "another topic")
_NO_LIMIT = Reason(("BQ-BACK-MOST",), "no limit")
_UNNAMED = Reason(("BQ-DEAD-UNNAMED",), "no topic named")
_BACK = ("BQ-BACK-LEVEL", "BQ-BACK-TIME", "BQ-BACK-QUEUE", "BQ-BACK-COPY")
_AGAIN = reasons_by_kind(_BACK, "level by times", "level named", "beyond the last level")
_DEATH = reasons_by_kind(("BQ-DEAD-1", "BQ-BACK-COPY"), "negative level", "too often")
_COPY = reasons_by_kind(("BQ-COPY-1",), "at once", "delayed")
_COPY["dead"] = Reason(("BQ-COPY-1", "BQ-COPY-DEAD", "BQ-DEAD-1"), "too often")
_COPY["locked"] = Reason(("BQ-COPY-LOCKED", "BQ-COPY-DEAD", "BQ-DEAD-1"), "of a group that holds a lock")
_COPY_NO_LIMIT = Reason(("BQ-COPY-MOST",), "no limit")


class RetrySettings(NamedTuple):
    """A group's retryQueueNums and retryMaxTimes."""

    queues: int = 1
    most: int = 16


class KeptMessage(NamedTuple):
    """A stored message: its topic, how often it was consumed again, its properties, and its id."""

    topic: str
    times: int = 0
    properties: Mapping[str, str] = MappingProxyType({})
    id: str = ""


class BackRequest(NamedTuple):
    """A request to send a message back; ``most`` and ``origin`` (originTopic) may be missing."""

    group: str
    level: int
    most: int | None = None
    origin: str | None = None


class Filing(NamedTuple):
    """What happens to the copy: it is stored in a topic, in one of the first ``queues`` queues, after ``level``."""

    topic: str
    queues: int
    level: int
    times: int
    properties: Mapping[str, str]

    def stored(self, queue: int) -> KeptMessage:
        """BQ-BACK-COPY: the copy as it is stored in the end."""
        real = {REAL_TOPIC: self.topic, REAL_QUEUE: str(queue)} if self.level else {}
        return KeptMessage(self.topic, self.times, {**self.properties, **real})


#: The state after a request, what happens to the copy (None: it is dropped) or the error, and the reason.
Decided = tuple[BrokerState, Filing | Err | None, Reason]


def send_back(
    rules: BrokerRules,
    state: BrokerState,
    settings: RetrySettings,
    found: KeptMessage | None,
    asked: BackRequest,
    levels: int,
    *,
    names_limit: bool = True,
) -> Decided:
    """The ``Filing`` of a message, None for one that is dropped, or the error.

    ``found`` is the message at the place that the request names; ``levels`` is the number of delay levels;
    ``names_limit``: the client is of 3.4.9 or later.
    """
    if asked.group not in state.groups:
        if not created_by_look_up(rules, asked.group):
            return state, _UNKNOWN_GROUP, _NO_GROUP
        after, result, why = send_back(
            rules, with_group(state, asked.group), settings, found, asked, levels, names_limit=names_limit
        )
        return after, result, _also(why, "BQ-GROUP-LOOKUP", "group created")
    if not rules.writeable:
        return state, _FORBIDDEN, _FORBIDDEN_HERE
    if settings.queues <= 0:
        return state, None, _DROPPED
    topic = RETRY + asked.group
    made = topic not in state.topics
    state = with_topic(state, topic, Topic.of(settings.queues))
    after, result, why = _filed(rules, state, settings, found, asked, levels, names_limit)
    if made:
        why = _also(why, "BQ-BACK-TOPIC", "retry topic made")
    return after, result, why


def _filed(
    rules: BrokerRules,
    state: BrokerState,
    settings: RetrySettings,
    found: KeptMessage | None,
    asked: BackRequest,
    levels: int,
    names_limit: bool,
) -> Decided:
    """The same for a group that has its retry topic."""
    topic = RETRY + asked.group
    if not state.topics[topic].perm & WRITE:
        return state, _FORBIDDEN, _NOT_WRITTEN
    if found is None:
        return state, _FAILED, _LOOK["no such message"]
    if rules.back_fenced and asked.origin not in {None, found.topic}:
        return state, _FAILED, _FENCED
    most = settings.most
    if names_limit:
        if asked.most is None and not rules.back_limit_optional:
            return state, _FAILED, _NO_LIMIT
        most = settings.most if asked.most is None else asked.most
    properties = {RETRY_TOPIC: found.topic, **found.properties, WAIT: "false"}
    named = {**properties, ORIGIN: found.properties.get(ORIGIN) or found.id}
    if found.times >= most or asked.level < 0:
        if rules.dead_letter_named and asked.origin is None:
            return state, _FAILED, _UNNAMED
        why = _DEATH["negative level" if asked.level < 0 else "too often"]
        state, filing, why = _dead(rules, state, asked.group, found, properties, named, why, levels)
    else:
        wanted = asked.level or _FIRST_LEVEL + found.times
        level = effective_level(wanted, levels)
        kind = "beyond the last level" if level < wanted else "level named" if asked.level else "level by times"
        why = _AGAIN[kind]
        filing = Filing(topic, settings.queues, level, found.times + 1, {**named, DELAY: str(level)})
    if not names_limit or asked.most is None:
        why = _also(why, "BQ-BACK-MOST", "limit of the group")
    if found.topic not in state.topics:
        why = _also(why, "BQ-BACK-LOOK", "topic gone")
    return state, filing, why


def _dead(
    rules: BrokerRules,
    state: BrokerState,
    group: str,
    found: KeptMessage,
    properties: Mapping[str, str],
    named: Mapping[str, str],
    why: Reason,
    levels: int,
) -> tuple[BrokerState, Filing, Reason]:
    """BQ-DEAD-*: a dead letter, its properties without and with the id of the first message."""
    state, why = _with_dead_topic(rules, state, group, why)
    times = found.times + 1
    if rules.dead_letters_open:
        filing = Filing(DEAD + group, 1, 0, times, {**named, DELAY: "0"})
        return state, filing, _also(why, "BQ-DEAD-LEVEL", "at once") if DELAY in found.properties else why
    level = effective_level(int(found.properties.get(DELAY, "0")), levels)
    if level:
        filing = Filing(DEAD + group, 1, level, times, {**named, DELAY: str(level)})
        return state, filing, _also(why, "BQ-DEAD-LEVEL", "waits again")
    if rules.dead_letter_id:
        return state, Filing(DEAD + group, 1, 0, times, named), why
    return state, Filing(DEAD + group, 1, 0, times, properties), _also(why, "BQ-DEAD-ID", "no id added")


def _with_dead_topic(rules: BrokerRules, state: BrokerState, group: str, why: Reason) -> tuple[BrokerState, Reason]:
    """BQ-DEAD-1, BQ-DEAD-READ: the dead-letter topic of a group, made if there is none."""
    if DEAD + group in state.topics:
        return state, why
    perm = READ | WRITE if rules.dead_letters_open else WRITE
    return with_topic(state, DEAD + group, Topic(1, 1, perm)), _also(why, "BQ-DEAD-READ", "topic made")


def send_copy(
    rules: BrokerRules,
    state: BrokerState,
    settings: RetrySettings,
    group: str,
    copy: KeptMessage,
    most: int | None,
    levels: int,
    *,
    names_limit: bool = True,
    locked: bool = False,
) -> tuple[BrokerState, Filing | Err, Reason]:
    """BQ-COPY-*: the ``Filing`` of a message that is sent to the retry topic of a group, or the error.

    A retry topic that is missing is made with one queue, and then the group. The copy is for queue 0. ``locked``: does
    the group hold a lock?
    """
    made, created = RETRY + group not in state.topics, group not in state.groups
    state = with_topic(state, RETRY + group, Topic.of(1))
    if created and not created_by_look_up(rules, group):
        return state, _UNKNOWN_GROUP, _also(_NO_GROUP, "BQ-BACK-TOPIC", "retry topic made") if made else _NO_GROUP
    state = with_group(state, group)
    if names_limit:
        if most is None and not rules.copy_limit_optional:
            return state, _FAILED, _COPY_NO_LIMIT
        limit = settings.most if most is None else most
    else:
        limit = settings.most
    locked = locked and rules.locked_copies_die
    dead = locked or (copy.times > limit if rules.copies_beyond else copy.times >= limit)
    level = effective_level(int(copy.properties.get(DELAY, "0")), levels)
    topic, properties = RETRY + group, copy.properties
    why = _COPY["locked" if locked else "dead" if dead else "delayed" if level else "at once"]
    if dead:
        state, why = _with_dead_topic(rules, state, group, why)
        topic = DEAD + group
        if rules.copies_beyond:
            level, properties = 0, {**properties, DELAY: "-1"}
    if level:
        properties = {**properties, DELAY: str(level)}
    if not names_limit or most is None:
        why = _also(why, "BQ-COPY-MOST", "limit of the group")
    if made:
        why = _also(why, "BQ-BACK-TOPIC", "retry topic made")
    if created:
        why = _also(why, "BQ-GROUP-LOOKUP", "group created")
    return state, Filing(topic, 1, level, copy.times, properties), why


def with_group(state: BrokerState, group: str) -> BrokerState:
    """BQ-GROUP-LOOKUP: the state with a group."""
    return state if group in state.groups else state._replace(groups=state.groups | {group})


def with_topic(state: BrokerState, topic: str, settings: Topic) -> BrokerState:
    """The state with a topic, which stays as it is when it is there."""
    return state if topic in state.topics else state._replace(topics={**state.topics, topic: settings})


@cache
def _also(why: Reason, rule: str, kind: str) -> Reason:
    """The same reason, and one more; one object for each."""
    return Reason((*why.rules, rule), f"{why.kind}, {kind}")
