"""The locks of whole orderly consumers at their broker: who has them, and what becomes of those left behind."""

from __future__ import annotations

from rocketmq_conformance.models.client.whole import ORDERLY
from rocketmq_conformance.models.client.whole_group_state import WholeGroup, locks_of
from rocketmq_conformance.models.client.whole_moves import STRANGER


def crashed(group: WholeGroup, name: str) -> WholeGroup:
    """The group after a member ended without a word: it commits nothing more, and its locks stay until they expire."""
    left = dict(group.members)
    member = left.pop(name, None)
    if member is None:
        return group
    kept = dict.fromkeys(locks_of(member), name) if group.kind == ORDERLY else {}
    return group._replace(members=left, kept={**group.kept, **kept})


def locks_taken(group: WholeGroup) -> WholeGroup:
    """The group after its broker lost all locks, and a client outside the group took those of the topic."""
    topic = group.topology.topic
    kept = dict.fromkeys(group.topology.topic_queues[topic][: group.broker.topics[topic].read_queues], STRANGER)
    members = {name: member._replace(unlocked=frozenset(member.pulls)) for name, member in group.members.items()}
    return group._replace(members=members, kept=kept)


def lock_holders(group: WholeGroup) -> tuple[str, ...]:
    """The holder of each queue's lock: the name of a member, STRANGER, or "" for none."""
    topic, places = group.topology.topic, group.topology.places
    found = dict.fromkeys(range(group.broker.topics[topic].read_queues), STRANGER if group.seized else "")
    found |= {places[queue][1]: holder for queue, holder in group.kept.items()}
    if group.kind == ORDERLY:
        found |= {places[queue][1]: name for name, member in group.members.items() for queue in locks_of(member)}
    return tuple(found.values())
