"""HEART_BEAT, UNREGISTER_CLIENT, GET_CONSUMER_LIST_BY_GROUP: the members of a group (BQ-HB-*, BQ-LIST-*).

A broker identifies consumers by connection. One connection is one member, under any client id, so two connections with
the same id are two members with equal names, and each of them takes itself for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.compiled_filters import CompiledFilter
from rocketmq_conformance.models.broker.pull import NO_PERMISSION
from rocketmq_conformance.models.broker.subscription import (
    UNSUBSCRIBED,
    RegisteredSubscription,
    TagCodes,
    registered_codes,
)
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-HB-1",
        "A heartbeat registers its connection in every consumer group that it names. A group that does not exist and "
        "may not be created is registered all the same up to 5.1.0, and skipped without a word from 5.1.1.",
        "ClientManageProcessor#heartBeat @ 5.1.0, 5.1.4, 5.5.0",
    ),
    Rule(
        "BQ-HB-3",
        "When a connection or a topic is new to a group, or leaves it, every connection of the group is notified, the "
        "new one too, before the heartbeat is answered. Groups that broadcast are not notified from 5.3.1.",
        "ConsumerManager#registerConsumer, #unregisterConsumer @ 4.9.7, 5.3.2, 5.5.0",
    ),
    Rule(
        "BQ-HB-QUIET",
        "A group with notifyConsumerIdsChangedEnable=false is notified neither of heartbeats nor of members that "
        "unregister; of connections that close it is.",
        "ClientManageProcessor#heartBeat, ConsumerManager#doChannelCloseEvent @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-HB-4",
        "Another client id on the same connection replaces the first, and no one is notified. Of two subscriptions to "
        "one topic the one with the greater version stays; topics that a heartbeat leaves out are forgotten.",
        "ConsumerGroupInfo#updateChannel, #updateSubscription @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-HB-5",
        "A connection that closes leaves its groups at once, and the others are notified.",
        "ConsumerManager#doChannelCloseEvent @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-HB-6",
        "Unregistering removes the connection, whichever client id the request names, tells the others even when it "
        "was no member, and never fails.",
        "ConsumerManager#unregisterConsumer, ClientManageProcessor#unregisterClient @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-LIST-1",
        "The list of a group has one client id per connection, equal ones repeated; without any the answer is "
        "SYSTEM_ERROR.",
        "ConsumerManageProcessor#getConsumerListByGroup @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-CONNECTIONS",
        "The connections of a group are listed with their client ids and the subscriptions that the group holds; its "
        "consume type, message model and start position are those of its last heartbeat. Without a member the answer "
        "is CONSUMER_NOT_ONLINE.",
        "AdminBrokerProcessor#getConsumerConnectionList @ 4.0.0, 4.9.7, 5.3.3",
    ),
)

#: Consume type and start position of an ordinary push consumer.
PASSIVELY, LAST = "CONSUME_PASSIVELY", "CONSUME_FROM_LAST_OFFSET"


class Consumer(NamedTuple):
    """One consumer in a heartbeat: its group, its subscriptions by topic, whether it broadcasts, how it consumes."""

    group: str
    subscriptions: Mapping[str, RegisteredSubscription] = MappingProxyType({})
    broadcasting: bool = False
    consume_type: str = PASSIVELY
    start: str = LAST


class GroupSettings(NamedTuple):
    """Settings of a group: may it broadcast, and is it notified of changes?

    (consumeBroadcastEnable, notifyConsumerIdsChangedEnable)
    """

    broadcasts: bool = True
    notifies: bool = True


class RegisteredGroup(NamedTuple):
    """One registered group: client ids by connection, and the contents of its last heartbeat."""

    members: Mapping[int, str] = MappingProxyType({})
    subscriptions: Mapping[str, RegisteredSubscription] = MappingProxyType({})
    broadcasting: bool = False
    consume_type: str = PASSIVELY
    start: str = LAST


#: Registered groups by name. Never changed in place.
Groups = Mapping[str, RegisteredGroup]

NO_GROUPS: Groups = MappingProxyType({})
ORDINARY_GROUP = GroupSettings()
NO_MEMBERS = Err("SYSTEM_ERROR")
NOT_ONLINE = Err("CONSUMER_NOT_ONLINE")

_HEARTBEAT = {kind: Reason(("BQ-HB-1", "BQ-HB-3"), kind) for kind in ("first member", "new member", "topics changed")}
_HEARTBEAT["same again"] = Reason(("BQ-HB-1", "BQ-HB-4"), "same again")
_HEARTBEAT["other id"] = Reason(("BQ-HB-4",), "other id")
_SKIPPED = Reason(("BQ-HB-1",), "unknown group skipped")
_NOT_NOTIFIED = Reason(("BQ-HB-3",), "broadcasting, not notified")
_QUIET = Reason(("BQ-HB-QUIET",), "group that is not notified")
_LEAVE = {
    kind: Reason(("BQ-HB-6", "BQ-HB-3"), kind) for kind in ("member", "last member", "no member", "unknown group")
}
_LEAVE["quiet"] = Reason(("BQ-HB-6", "BQ-HB-QUIET"), "group that is not notified")
_CLOSED = {kind: Reason(("BQ-HB-5", "BQ-HB-3"), kind) for kind in ("member", "no member")}
_LIST = {kind: Reason(("BQ-LIST-1",), kind) for kind in ("nobody", "members", "equal ids")}
_CONNECTIONS = {kind: Reason(("BQ-CONNECTIONS",), kind) for kind in ("not online", "subscribed", "no subscriptions")}


def heartbeat(
    rules: BrokerRules,
    groups: Groups,
    connection: int,
    client: str,
    consumer: Consumer,
    known: bool = True,
    notifies: bool = True,
) -> Answer[Groups]:
    """The connections that are notified of a change. ``known``: the group exists, or the broker may create it;
    ``notifies``: its members are notified at all."""
    if not known and rules.unknown_group_skipped:
        return groups, (), _SKIPPED
    old = groups.get(consumer.group, RegisteredGroup())
    subscriptions = {topic: _newer(old.subscriptions.get(topic), new) for topic, new in consumer.subscriptions.items()}
    group = RegisteredGroup(
        {**old.members, connection: client},
        subscriptions,
        consumer.broadcasting,
        consumer.consume_type,
        consumer.start,
    )
    after = {**groups, consumer.group: group}
    joined = connection not in old.members
    if not joined and old.subscriptions.keys() == subscriptions.keys():
        return after, (), _HEARTBEAT["same again" if old.members[connection] == client else "other id"]
    if consumer.broadcasting and rules.broadcast_unnotified:
        return after, (), _NOT_NOTIFIED
    if not notifies:
        return after, (), _QUIET
    why = _HEARTBEAT["topics changed" if not joined else "new member" if old.members else "first member"]
    return after, tuple(group.members), why


def _newer(old: RegisteredSubscription | None, new: RegisteredSubscription) -> RegisteredSubscription:
    return new if old is None or new.version > old.version else old


def unregister(rules: BrokerRules, groups: Groups, connection: int, name: str, notifies: bool = True) -> Answer[Groups]:
    """BQ-HB-6: the connections that are notified. ``notifies``: the group's members are notified at all."""
    group = groups.get(name)
    if group is None:
        return groups, (), _LEAVE["unknown group"]
    kind = "no member" if connection not in group.members else "last member" if len(group.members) == 1 else "member"
    after, notified = _without(rules, groups, connection, name)
    return (after, notified, _LEAVE[kind]) if notifies or not notified else (after, (), _LEAVE["quiet"])


def close_connection(rules: BrokerRules, groups: Groups, connection: int) -> Answer[Groups]:
    """BQ-HB-5: (group, connection) pairs of those that are notified."""
    notified: list[tuple[str, int]] = []
    why = _CLOSED["no member"]
    for name in [name for name, group in groups.items() if connection in group.members]:
        groups, left = _without(rules, groups, connection, name)
        notified += [(name, other) for other in left]
        why = _CLOSED["member"]
    return groups, tuple(notified), why


def _without(rules: BrokerRules, groups: Groups, connection: int, name: str) -> tuple[Groups, tuple[int, ...]]:
    """The groups without a member, and the connections that are notified; a group without members is removed."""
    group = groups[name]
    members = {other: client for other, client in group.members.items() if other != connection}
    if not members:
        return {other: entry for other, entry in groups.items() if other != name}, ()
    unnotified = group.broadcasting and rules.broadcast_unnotified
    return {**groups, name: group._replace(members=members)}, () if unnotified else tuple(members)


def subscribes_elsewhere(rules: BrokerRules, group: RegisteredGroup, topic: str, pulled: bool) -> bool:
    """BQ-CLONE-ONLINE: do the members subscribe to other topics only? ``pulled``: has the group pulled from it?"""
    if not group.subscriptions or topic in group.subscriptions:
        return False
    return not (pulled and rules.pulls_count)


def consumer_list(groups: Groups, name: str) -> Answer[Groups]:
    """BQ-LIST-1: client ids, or the error when no member is registered."""
    group = groups.get(name)
    if group is None:
        return groups, NO_MEMBERS, _LIST["nobody"]
    ids = tuple(group.members.values())
    return groups, ids, _LIST["members" if len(set(ids)) == len(ids) else "equal ids"]


#: What a group consumes: sorted client ids, consume type, message model, start position, and sorted (topic, expression,
#: version, language, tags) of its subscriptions.
Connections = tuple[tuple[str, ...], str, str, str, tuple[tuple[str, str, int, str, tuple[str, ...]], ...]]


def connections(rules: BrokerRules, groups: Groups, name: str) -> Answer[Groups]:
    """BQ-CONNECTIONS: ``Connections``, or the error when no member is registered."""
    group = groups.get(name)
    if group is None:
        return groups, NOT_ONLINE, _CONNECTIONS["not online"]
    subscribed = tuple(
        (topic, held.text, held.version, held.kind if rules.typed_expressions else "TAG", tuple(sorted(held.tags)))
        for topic, held in sorted(group.subscriptions.items())
    )
    model = "BROADCASTING" if group.broadcasting else "CLUSTERING"
    found: Connections = (tuple(sorted(group.members.values())), group.consume_type, model, group.start, subscribed)
    return groups, found, _CONNECTIONS["subscribed" if subscribed else "no subscriptions"]


def pulled_codes(
    rules: BrokerRules,
    group: RegisteredGroup | None,
    settings: GroupSettings,
    topic: str,
    version: int,
    kept: CompiledFilter | None = None,
) -> TagCodes | Err:
    """BQ-PULL-SUB, BQ-PULL-BROADCAST, BQ-PULL-FILTER for a pull without a subscription, which refers to the registered
    one by its ``version``; ``kept`` is what was compiled of it."""
    if group is None:
        return UNSUBSCRIBED
    if group.broadcasting and not settings.broadcasts:
        return NO_PERMISSION
    return registered_codes(rules, group.subscriptions.get(topic), version, kept)
