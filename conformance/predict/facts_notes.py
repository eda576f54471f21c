"""What limits every prediction of a group, whatever is predicted."""

from __future__ import annotations

from collections import Counter

from rocketmq_conformance.conformance.predict.facts import GroupFacts
from rocketmq_conformance.models.release import Release, newer_than_known


def facts_notes(facts: GroupFacts) -> list[str]:
    """What limits every prediction of a group, in sentences."""
    notes = []
    if pops := [topic for topic in facts.topics if topic in facts.pops]:
        notes.append(
            f"Brokers give {', '.join(pops)} to this group in POP mode: consumers that leave the allocation to "
            "them (clientRebalance=false) pop, which is predicted with --kind pop."
        )
    if facts.members_unread:
        notes.append(f"Brokers do not show the group's members ({facts.members_unread}): options say what they are.")
    for broker in facts.brokers:
        if broker.slave:
            notes.append(
                f"The master of {broker.name} is gone: these are offsets of a slave, which may lag behind, and what is "
                "committed to it may be lost when the master is back."
            )
        newer = newer_than_known(f"Broker {broker.name}", Release.parse(broker.release), "predicted as")
        notes += [f"{sentence}." for sentence in newer]
        if broker.unread:
            notes.append(f"Broker {broker.name} does not show its configuration ({broker.unread}): taken as default.")
        if broker.hides_offsets:
            notes.append(f"Broker {broker.name} does not show stored offsets: where it answers 0, that may be one.")
        if broker.doubts:
            notes.append(
                f"Broker {broker.name} has {', '.join(broker.doubts)}, off the default: the model does not know what "
                "that changes."
            )
    clients = Counter(member.client for member in facts.members)
    if twice := sorted(client for client, count in clients.items() if count > 1):
        notes.append(
            f"Members share a client id ({', '.join(twice)}): each of them consumes the same queues, and some queues "
            "may have no owner; `predict allocation` says which."
        )
    return notes
