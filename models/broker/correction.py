"""QUERY_CORRECTION_OFFSET: the smallest offsets that groups stored for a topic (BQ-CORRECT-*).

The trap is in the groups that the question leaves out: the broker takes them out of the table that it keeps, so a
question deletes their offsets, for every topic.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, Stored
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-CORRECT-1",
        "A question for correction offsets answers the smallest offset that any group stored for each queue of the "
        "topic; offsets below the queue's min do not count. Neither topic nor groups need to exist, and a topic "
        "without stored offsets has no queues in the answer.",
        "ConsumerOffsetManager#queryMinOffsetInAllGroup @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-COM-10",
        "The groups that a question for correction offsets leaves out (filterGroups) lose all that they stored, for "
        "every topic and not only for the one in question, even if the question then fails. Of a group that has an @ "
        "in its name the part before it counts.",
        "ConsumerOffsetManager#queryMinOffsetInAllGroup @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-CORRECT-COMPARE",
        "From 5.1.0 the answer is compared with what one group stored (compareGroup): a queue for which that group "
        "stored less answers 2^63 - 1, and a queue for which it alone stored something, below min, fails the whole "
        "question with SYSTEM_ERROR. Before, group and topic change places in the look-up, and nothing is compared.",
        "AdminBrokerProcessor#queryCorrectionOffset @ 4.9.7, 5.0.0, 5.1.0, 5.3.3",
    ),
)

#: The offset of a queue for which the compared group stored less than the others.
UNREACHABLE = (1 << 63) - 1

_KINDS = ("nothing stored", "smallest")
_PLAIN = reasons_by_kind(("BQ-CORRECT-1",), *_KINDS)
_DELETED = {kind: Reason(("BQ-CORRECT-1", "BQ-COM-10"), f"{kind}, groups deleted") for kind in _KINDS}
_COMPARED_KINDS = ("not compared", "not below the answer", "below the answer", "only below min")
_COMPARED = reasons_by_kind(("BQ-CORRECT-1", "BQ-CORRECT-COMPARE"), *_COMPARED_KINDS)
_BOTH = {
    kind: Reason(("BQ-CORRECT-1", "BQ-COM-10", "BQ-CORRECT-COMPARE"), f"{kind}, groups deleted")
    for kind in _COMPARED_KINDS
}


def correction_offsets(
    rules: BrokerRules, state: BrokerState, topic: str, left_out: frozenset[str], compared: str
) -> Answer[BrokerState]:
    """Sorted (queue, offset) pairs, or SYSTEM_ERROR. ``left_out`` are the groups of the field filterGroups, and
    ``compared`` is the one of compareGroup."""
    kept: Stored = {key: offset for key, offset in state.stored.items() if key[0].partition("@")[0] not in left_out}
    deleted = len(kept) < len(state.stored)
    after = state._replace(stored=kept) if deleted else state
    smallest: dict[int, int] = {}
    for (_, name, queue), offset in kept.items():
        if name == topic and offset >= state.logs.get((topic, queue), ABSENT).min:
            smallest[queue] = min(offset, smallest.get(queue, offset))
    of_group = {queue: offset for (group, name, queue), offset in kept.items() if (group, name) == (compared, topic)}
    reasons = _BOTH if deleted else _COMPARED
    if not of_group:
        kind = "smallest" if smallest else "nothing stored"
        return after, tuple(sorted(smallest.items())), (_DELETED if deleted else _PLAIN)[kind]
    if not rules.compares_corrections:
        return after, tuple(sorted(smallest.items())), reasons["not compared"]
    if not of_group.keys() <= smallest.keys():
        return after, Err("SYSTEM_ERROR"), reasons["only below min"]
    beyond = {queue: UNREACHABLE for queue, offset in of_group.items() if smallest[queue] > offset}
    why = reasons["below the answer" if beyond else "not below the answer"]
    return after, tuple(sorted({**smallest, **beyond}.items())), why
