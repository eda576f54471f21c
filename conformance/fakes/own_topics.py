"""The topics that a broker makes of its own when it starts, by release (TopicConfigManager; what 30 real ones list)."""

from __future__ import annotations

from rocketmq_conformance.models.broker.own_names import (
    BENCHMARK,
    DEFAULT_TOPIC,
    GROUPS,
    HALF,
    HALF_OP,
    MOVED,
    ROCKS,
    SCHEDULE_TOPIC,
    SELF_TEST,
    SYSTEM_TOPIC,
    TIMER_TOPIC,
    TRANSACTION_GROUP,
    OwnNames,
)
from rocketmq_conformance.models.broker.state import INHERIT, READ, WRITE, Topic
from rocketmq_conformance.models.release import Release

#: How many queues topics have at most that are created when a message is sent to them.
DEFAULT_QUEUES = 8
#: Queues of the topics of a cluster, and of its revived messages; and one for each delay level.
_CLUSTER_QUEUES, _REVIVE_QUEUES, _LEVELS = 16, 8, 18
_REPLIES, _SCHEDULED, _POPPED, _TIMED, _ROCKSDB = map(Release.parse, ("4.6.0", "4.7.1", "5.0.0", "5.3.1", "5.4.0"))


def own_topics(release: Release, broker: str, cluster: str, *, creates: bool) -> dict[str, Topic]:
    """The topics of a broker of this name in a cluster, with the default settings, but that it ``creates`` topics which
    messages are sent to, or not."""
    one, all_of_it = Topic.of(1), READ | WRITE | INHERIT
    found = {SELF_TEST: one, MOVED: one, BENCHMARK: Topic.of(1024)}
    found[broker] = Topic(1, 1, all_of_it)
    found[cluster] = Topic(_CLUSTER_QUEUES, _CLUSTER_QUEUES, all_of_it)
    if creates:
        found[DEFAULT_TOPIC] = Topic(DEFAULT_QUEUES, DEFAULT_QUEUES, all_of_it)
    if release >= _REPLIES:
        found[OwnNames(broker, cluster).replies] = one
    if release >= _SCHEDULED:
        found[SCHEDULE_TOPIC] = Topic.of(_LEVELS)
    if release >= _POPPED:
        found[f"{SYSTEM_TOPIC}REVIVE_LOG_{cluster}"] = Topic.of(_REVIVE_QUEUES)
        found[f"{SYSTEM_TOPIC}SYNC_BROKER_MEMBER_{broker}"] = Topic(1, 1, INHERIT)
        found |= dict.fromkeys((HALF, HALF_OP), one)
    if release >= _TIMED:
        found[TIMER_TOPIC] = one
    if release >= _ROCKSDB:
        found |= dict.fromkeys(ROCKS, one)
    return found


def own_groups(release: Release) -> tuple[str, ...]:
    """The groups that a broker has from its start (SubscriptionGroupManager; what real ones list)."""
    return (*GROUPS, TRANSACTION_GROUP) if release >= _POPPED else GROUPS
