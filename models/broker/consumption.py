"""What operators' tools ask a broker before they decide: topics by queue, who consumes them, and how old that is."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from rocketmq_conformance.models.broker import search
from rocketmq_conformance.models.broker.admin import topic_queues
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import NO_TOPIC
from rocketmq_conformance.models.broker.members import Groups
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, QueueLog
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-STATS-TOPIC",
        "The statistics of a topic have min, max and the store time of the last message of each queue; the time is 0 "
        "where nothing was written, and -1 where that message is gone.",
        "AdminBrokerProcessor#getTopicStatsInfo @ 4.0.0, 4.9.7, 5.1.4, 5.5.0; "
        "DefaultMessageStore#getMessageStoreTimeStamp @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-WHO-TOPIC",
        "A topic is consumed by the groups that have stored an offset for it, whatever it is, and by those whose "
        "members subscribe to it. Neither the topic nor the groups need exist.",
        "AdminBrokerProcessor#queryTopicConsumeByWho @ 4.0.0, 4.9.7, 5.5.0; "
        "ConsumerOffsetManager#whichGroupByTopic @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-WHO-INDEX",
        "From 5.3.3 subscribers are looked up in an index. A group that subscribed to a topic and gave it up stays in "
        "it, even when its last member has left. In 5.3.3 the index has the name of the topic in the place of the "
        "group's, and keeps it for good.",
        "ConsumerManager#registerConsumer, #clearTopicGroupTable, #queryTopicConsumeByWho @ 5.3.3, 5.4.0, 5.5.0",
        releases="5.3.3+",
    ),
    Rule(
        "BQ-WHO-GROUP",
        "The topics of a group are those that it has stored an offset for, its retry topic among them, whether or not "
        "they exist and whatever its members subscribe to.",
        "AdminBrokerProcessor#queryTopicsByConsumer, ConsumerOffsetManager#whichTopicByConsumer @ 5.0.0, 5.5.0",
        releases="5.0.0+",
    ),
    Rule(
        "BQ-SPAN",
        "The time span of a group has, for each queue of the topic that is written, the store times of the first and "
        "the last message and of the one before the group's offset, or before a pending reset: -1 where there is none; "
        "an offset of 0, a negative one or none counts as that of the first message. A group that is at max or beyond "
        "has no delay; without an offset, or with a negative one, it is counted from 1970, in an empty queue as well. "
        "Without the topic the answer is TOPIC_NOT_EXIST.",
        "AdminBrokerProcessor#queryConsumeTimeSpan @ 4.0.0, 4.9.7, 5.1.0, 5.5.0",
    ),
    Rule(
        "BQ-INDEX",
        "The index of a queue is answered as min, max and the entries from a position on, as many as are asked for, or "
        "as there are. A position before min or at max has SUCCESS, a remark and no body.",
        "AdminBrokerProcessor#queryConsumeQueue @ 4.7.0, 4.9.7, 5.0.0, 5.5.0",
        releases="4.7.0+",
    ),
    Rule(
        "BQ-INDEX-ZERO",
        "Up to 4.6.1 the body is written before it is filled in: min and max are 0, and there are no entries.",
        "AdminBrokerProcessor#queryConsumeQueue @ 4.1.0, 4.6.1",
        releases="4.1.0 – 4.6.1",
    ),
)

#: (topic, name of a group), as the index of subscribers has them. In 5.3.3 the name is the topic's.
Subscribers = frozenset[tuple[str, str]]
#: (queue, min, max, store time of the last message) of each queue of a topic.
TopicStats = tuple[tuple[int, int, int, int], ...]
#: Nothing that was written is there.
GONE = -1


class QueueSpan(NamedTuple):
    """A queue of a time span (ms since the epoch): is its delay counted from 1970?"""

    queue: int
    first: int
    last: int
    consumed: int
    since_1970: bool


_TOPIC = {kind: Reason(("BQ-STATS-TOPIC",), kind) for kind in ("unknown topic", "nothing written", "written", "gone")}
_STORED = {kind: Reason(("BQ-WHO-TOPIC",), kind) for kind in ("nobody", "stored", "subscribed", "both")}
_INDEXED = {kind: Reason(("BQ-WHO-TOPIC", "BQ-WHO-INDEX"), kind) for kind in ("its own name", "gave it up", "indexed")}
_GROUP = {kind: Reason(("BQ-WHO-GROUP",), kind) for kind in ("none", "topics")}
_SPAN = {kind: Reason(("BQ-SPAN",), kind) for kind in ("unknown topic", "no offset", "at the end", "behind")}
_INDEX = {kind: Reason(("BQ-INDEX",), kind) for kind in ("entries", "no entries", "outside")}
_ZERO = {kind: Reason(("BQ-INDEX-ZERO",), kind) for kind in ("entries", "outside")}


def stored_at(log: QueueLog, offset: int) -> int:
    """The store time of the message at an offset, -1 where there is none."""
    at = offset - log.first
    return log.times[at] if 0 <= at < len(log.times) else GONE


def topic_stats(rules: BrokerRules, state: BrokerState, topic: str) -> Answer[BrokerState]:
    """BQ-STATS-TOPIC: ``TopicStats``, or the error."""
    queues = topic_queues(rules, state, topic)[1]
    if not isinstance(queues, int):
        return state, queues, _TOPIC["unknown topic"]
    found = []
    for queue in range(queues):
        log = state.logs.get((topic, queue), ABSENT)
        found.append((queue, log.min, log.max, stored_at(log, log.max - 1) if log.max else 0))
    times = {entry[3] for entry in found}
    kind = "gone" if GONE in times else "written" if times - {0} else "nothing written"
    return state, tuple(found), _TOPIC[kind]


def subscribed(rules: BrokerRules, before: Subscribers, group: str, topics: Collection[str]) -> Subscribers:
    """BQ-WHO-INDEX: once a heartbeat has registered a group with these topics."""
    if not rules.indexes_subscribers:
        return before
    return before | {(topic, group if rules.indexes_groups else topic) for topic in topics}


def left(before: Subscribers, groups: Groups, after: Groups) -> Subscribers:
    """BQ-WHO-INDEX: once members have left; ``groups`` are the registered ones from before, and ``after`` it."""
    gone = {(topic, name) for name in groups.keys() - after.keys() for topic in groups[name].subscriptions}
    return before - gone


def consumed_by(
    rules: BrokerRules, state: BrokerState, groups: Groups, index: Subscribers, topic: str
) -> Answer[BrokerState]:
    """BQ-WHO-TOPIC, BQ-WHO-INDEX: sorted names of groups."""
    stored = {group for group, name, _ in state.stored if name == topic}
    online = {name for name, group in groups.items() if topic in group.subscriptions}
    if not rules.indexes_subscribers:
        kind = "both" if stored and online else "stored" if stored else "subscribed" if online else "nobody"
        return state, tuple(sorted(stored | online)), _STORED[kind]
    indexed = {name for one, name in index if one == topic}
    if topic in indexed:
        why = _INDEXED["its own name"]
    elif indexed - online:
        why = _INDEXED["gave it up"]
    else:
        why = _INDEXED["indexed"] if indexed else _STORED["stored" if stored else "nobody"]
    return state, tuple(sorted(stored | indexed)), why


def topics_of(state: BrokerState, group: str) -> Answer[BrokerState]:
    """BQ-WHO-GROUP: sorted names of topics."""
    found = {topic for name, topic, _ in state.stored if name == group}
    return state, tuple(sorted(found)), _GROUP["topics" if found else "none"]


def time_span(state: BrokerState, group: str, topic: str) -> Answer[BrokerState]:
    """BQ-SPAN: a ``QueueSpan`` of each queue, or the error."""
    settings = state.topics.get(topic)
    if settings is None:
        return state, NO_TOPIC, _SPAN["unknown topic"]
    found, kind = [], "at the end"
    for queue in range(settings.write_queues):
        key, log = (group, topic, queue), state.logs.get((topic, queue), ABSENT)
        offset = state.pending.get(key, state.stored.get(key, GONE))
        first = search.earliest_time(state, topic, queue)[1]
        assert isinstance(first, int)
        consumed = stored_at(log, offset - 1) if offset > 0 else first
        unknown = offset < log.max and stored_at(log, offset) == GONE
        if offset < log.max:
            kind = "no offset" if unknown else "behind"
        found.append(QueueSpan(queue, first, stored_at(log, log.max - 1), consumed, unknown))
    return state, tuple(found), _SPAN[kind]


def queue_index(
    rules: BrokerRules, state: BrokerState, topic: str, queue: int, position: int, count: int
) -> Answer[BrokerState]:
    """BQ-INDEX, BQ-INDEX-ZERO of a queue that was written: (min, max, number of entries), None without a body."""
    log = state.logs.get((topic, queue), ABSENT)
    outside = not log.first <= position < log.max
    if not rules.fills_index:
        return state, (0, 0, 0), _ZERO["outside" if outside else "entries"]
    if outside:
        return state, None, _INDEX["outside"]
    entries = max(min(count, log.max - position), 0)
    return state, (log.min, log.max, entries), _INDEX["entries" if entries else "no entries"]
