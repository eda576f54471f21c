"""GET_CONSUME_STATS: how far a group is, as mqadmin's consumerProgress shows it (BQ-STATS-GROUP, BQ-STATS-PULLED)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Stored
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-STATS-GROUP",
        "The statistics of a group have every queue that is read of the topic that is asked for, or, where none is "
        "named, of each topic that the group stored an offset for: max, the group's offset, which is that of a pending "
        "reset, and 0 for none or a negative one, and the store time of the message before it, 0 where there is none. "
        "A topic is left out that does not exist, or that the members do not subscribe to though they subscribe to "
        "something; from 5.1.0 having pulled from it is as good. The group need not exist.",
        "AdminBrokerProcessor#getConsumeStats @ 4.0.0, 4.9.7, 5.1.0, 5.3.3, 5.5.0",
    ),
    Rule(
        "BQ-STATS-PULLED",
        "From 5.1.0 the statistics also have where the group's last pull of a queue that was not refused was to go on, "
        "if that is beyond the group's offset. Neither commits nor resets change it; from 5.3.2 it goes with the "
        "offsets of a group that is deleted, and from 5.3.4 with those of a topic.",
        "ConsumerOffsetManager#commitPullOffset, #queryPullOffset @ 5.1.0, 5.3.3, 5.5.0; "
        "ConsumerOffsetManager#removeOffset @ 5.3.1, 5.3.2; ConsumerOffsetManager#cleanOffsetByTopic @ 5.3.3, 5.5.0",
        releases="5.1.0+",
    ),
)

#: Where the last pull of a (group, topic, queue) was to go on. Never changed in place.
GoneOn = Mapping[tuple[str, str, int], int]
NOT_PULLED: GoneOn = MappingProxyType({})

#: (topic, queue, max, the group's offset, where its pulls go on, the store time before the offset); None where the
#: release does not say where pulls go on.
QueueStats = tuple[str, int, int, int, int | None, int]

_GROUP = {
    kind: Reason(("BQ-STATS-GROUP",), kind)
    for kind in ("unknown topic", "subscribed elsewhere", "no topics", "offsets", "pending reset", "of all topics")
}
_PULLED = {
    kind: Reason(("BQ-STATS-GROUP", "BQ-STATS-PULLED"), f"{kind}, pulled beyond")
    for kind in ("offsets", "pending reset", "of all topics")
}


def pulled(rules: BrokerRules, before: GoneOn, key: tuple[str, str, int], following: int) -> GoneOn:
    """BQ-STATS-PULLED: a pull that was not refused, by (group, topic, queue), and where it goes on."""
    return {**before, key: following} if rules.keeps_pulls else before


def without_group(rules: BrokerRules, before: GoneOn, group: str, offsets_removed: bool) -> GoneOn:
    """BQ-STATS-PULLED: after the deletion of a group, with its offsets or without."""
    if not (rules.delete_group_forgets_resets and offsets_removed):
        return before
    return {key: offset for key, offset in before.items() if key[0] != group}


def without_topic(rules: BrokerRules, before: GoneOn, topic: str, stored: Stored) -> GoneOn:
    """BQ-STATS-PULLED: after the deletion of a topic, by what was ``stored`` before."""
    if not rules.delete_topic_forgets_resets:
        return before
    # they are found by way of stored offsets, as resets are
    found = {key[:2] for key in stored}
    return {key: offset for key, offset in before.items() if key[1] != topic or key[:2] not in found}


def group_stats(
    rules: BrokerRules, state: BrokerState, gone_on: GoneOn, group: str, topic: str, elsewhere: Collection[str]
) -> Answer[BrokerState]:
    """Sorted ``QueueStats``. A blank ``topic`` stands for all; members do not subscribe to topics ``elsewhere``."""
    topics = {topic} if topic else {name for one, name, _ in state.stored if one == group}
    known = topics & state.topics.keys()
    asked = known.difference(elsewhere)
    if not asked:
        kind = "no topics" if not topic else "subscribed elsewhere" if known else "unknown topic"
        return state, (), _GROUP[kind]
    found: list[QueueStats] = []
    kind, beyond = "offsets" if topic else "of all topics", False
    for name in sorted(asked):
        for queue in range(state.topics[name].read_queues):
            key, log = (group, name, queue), state.logs.get((name, queue), ABSENT)
            if key in state.pending:
                kind = "pending reset"
            offset = max(state.pending.get(key, state.stored.get(key, 0)), 0)
            last = offset - 1 - log.first
            time = log.times[last] if 0 <= last < len(log.times) else 0
            following = max(offset, gone_on.get(key, offset)) if rules.keeps_pulls else None
            beyond = beyond or (following is not None and following > offset)
            found.append((name, queue, log.max, offset, following, time))
    return state, tuple(found), (_PULLED if beyond else _GROUP)[kind]
