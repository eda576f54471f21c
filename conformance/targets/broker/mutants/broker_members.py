"""Broker mutants that the suite ``broker-members`` kills: members, notifications, subscriptions, and pulls by these."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.compiled_filters import Filters
from rocketmq_conformance.models.broker.configuration import PROPERTY_FILTER
from rocketmq_conformance.models.broker.members import (
    NO_GROUPS,
    ORDINARY_GROUP,
    Connections,
    Consumer,
    GroupSettings,
    RegisteredGroup,
)
from rocketmq_conformance.models.broker.subscription import (
    NO_DATA,
    NO_FILTER,
    OLD_DATA,
    OUTDATED,
    SQL92,
    UNSUBSCRIBED,
    PropertyFilter,
    RegisteredSubscription,
    TagCodes,
    tag_codes,
)
from rocketmq_conformance.models.outcome import Err

_Notified = tuple[int, ...]

MUTANTS: list[BrokerMutant] = []
_consumers = declared(MUTANTS, "consumers", "broker-members")
_storage = declared(MUTANTS, "storage", "broker-members")
_answering = declared(MUTANTS, "consumers", "broker-members", **{PROPERTY_FILTER: "true"})


class _Registering(Consumers):
    """Registers a member, and then does something else with its group."""

    def register(self, number: int, client: str, consumer: Consumer, known: bool) -> _Notified:
        old = self.groups.get(consumer.group, RegisteredGroup())
        notified = super().register(number, client, consumer, known)
        new = self.groups.get(consumer.group)
        if new is None:
            return notified
        self.groups = {**self.groups, consumer.group: self.registered(old, new, consumer, number)}
        return self.notified(notified, old, self.groups[consumer.group], consumer, number)

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        """The group as it is kept."""
        return new

    def notified(
        self, notified: _Notified, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> _Notified:
        """The connections that are notified."""
        return notified


# --- members -------------------------------------------------------------------------------------------------


@_consumers("D26", "Equal client ids are listed once.")
class MembersIdsOnce(Consumers):
    """Equal client ids are listed once."""

    def listed_ids(self, group: str) -> tuple[str, ...] | Err:
        found = super().listed_ids(group)
        return found if isinstance(found, Err) else tuple(dict.fromkeys(found))


@_consumers("D26", "A group without members has an empty list.")
class MembersEmptyList(Consumers):
    """A group without members has an empty list."""

    def listed_ids(self, group: str) -> tuple[str, ...] | Err:
        found = super().listed_ids(group)
        return () if isinstance(found, Err) else found


@_consumers("D26", "Of two connections with one client id only one is a member.")
class MembersById(_Registering):
    """A connection with the client id of another one takes its place."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        client = new.members[number]
        return new._replace(members={one: id_ for one, id_ in new.members.items() if one == number or id_ != client})


@_consumers("D26", "A connection keeps its first client id.")
class MembersFirstId(_Registering):
    """A connection keeps the client id that it came with."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        return new._replace(members={**new.members, **old.members})


@_consumers("D133", "A closed connection stays a member.")
class MembersClosedStay(Consumers):
    """A closed connection stays a member."""

    def leave(self, number: int) -> tuple[tuple[str, int], ...]:
        return ()


@_consumers("D133", "Members are not notified of closed connections.")
class MembersClosedUnnoticed(Consumers):
    """Members are not notified of a connection that closes."""

    def leave(self, number: int) -> tuple[tuple[str, int], ...]:
        super().leave(number)
        return ()


@_consumers("D133", "A closed connection leaves one of its groups.")
class MembersClosedOnce(Consumers):
    """A closed connection leaves one group only."""

    def leave(self, number: int) -> tuple[tuple[str, int], ...]:
        joined = [name for name, group in self.groups.items() if number in group.members]
        kept = {name: self.groups[name] for name in joined[1:]}
        notified = super().leave(number)
        self.groups = {**self.groups, **kept}
        return tuple(pair for pair in notified if pair[0] not in kept)


@_consumers("D133", "A member that unregisters stays one.")
class MembersUnregisteredStay(Consumers):
    def unregister(self, number: int, group: str) -> _Notified:
        kept = self.groups
        notified = super().unregister(number, group)
        self.groups = kept
        return notified


@_consumers("D133", "One member that unregisters ends the group.")
class MembersUnregisterAll(Consumers):
    """One member that unregisters ends the group."""

    def unregister(self, number: int, group: str) -> _Notified:
        super().unregister(number, group)
        self.groups = {name: entry for name, entry in self.groups.items() if name != group}
        return ()


@_consumers("D133", "Strangers unregister without notice.")
class MembersStrangersQuiet(Consumers):
    """Members are not notified when a connection unregisters that was none of them."""

    def unregister(self, number: int, group: str) -> _Notified:
        registered = self.groups.get(group)
        stranger = registered is None or number not in registered.members
        notified = super().unregister(number, group)
        return () if stranger else notified


# --- notifications -------------------------------------------------------------------------------------------


@_consumers("D133", "A new member is not notified of itself.")
class MembersNewcomerUnnotified(_Registering):
    """A new member is not notified of itself."""

    def notified(
        self, notified: _Notified, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> _Notified:
        return tuple(one for one in notified if one != number)


@_consumers("D133", "Only the new member is notified of itself.")
class MembersNewcomerAlone(_Registering):
    """The members are not notified of a new one, which is."""

    def notified(
        self, notified: _Notified, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> _Notified:
        return tuple(one for one in notified if one == number)


@_consumers("D130", "Members are not notified of changed topics.")
class MembersTopicsUnnoticed(_Registering):
    """Members are not notified when the topics of the group change."""

    def notified(
        self, notified: _Notified, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> _Notified:
        return () if number in old.members else notified


@_consumers("D133", "Members are notified of another client id.")
class MembersIdsNoticed(_Registering):
    """Members are notified when a connection changes its client id."""

    def notified(
        self, notified: _Notified, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> _Notified:
        if number in old.members and old.members[number] != new.members[number]:
            return tuple(new.members)
        return notified


@_consumers("D130", "Members are notified of newer subscriptions.")
class MembersVersionsNoticed(_Registering):
    """Members are notified of a newer subscription to a known topic."""

    def notified(
        self, notified: _Notified, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> _Notified:
        return tuple(new.members) if old.subscriptions != new.subscriptions else notified


@_consumers("D133", "Groups that broadcast are notified.")
class MembersBroadcastNotified(_Registering):
    """Groups that broadcast are notified, too."""

    def notified(
        self, notified: _Notified, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> _Notified:
        joined = number not in old.members
        return tuple(new.members) if consumer.broadcasting and joined else notified


@_storage("D133", "Every group is notified of heartbeats.")
class MembersQuietNotified(Storage):
    """Every group is notified of heartbeats."""

    def set_group(self, group: str, settings: GroupSettings) -> None:
        super().set_group(group, settings._replace(notifies=True))


@_consumers("D133", "A quiet group is never notified.")
class MembersQuietAlways(Consumers):
    """A group that is not notified of heartbeats is not notified of closed connections either."""

    def leave(self, number: int) -> tuple[tuple[str, int], ...]:
        return tuple(pair for pair in super().leave(number) if self._storage.settings_of(pair[0]).notifies)


# --- subscriptions -------------------------------------------------------------------------------------------


@_consumers("D130", "The last subscription counts, whatever its version.")
class SubscriptionLast(_Registering):
    """The subscription of the last heartbeat counts, whatever its version."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        return new._replace(subscriptions=dict(consumer.subscriptions))


@_consumers("D130", "An equal version replaces a subscription.")
class SubscriptionEqual(_Registering):
    """A subscription of an equal version replaces the one that is held."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        subscriptions = dict(new.subscriptions)
        for topic, sent in consumer.subscriptions.items():
            if sent.version == subscriptions[topic].version:
                subscriptions[topic] = sent
        return new._replace(subscriptions=subscriptions)


@_consumers("D96", "A subscription is never replaced.")
class SubscriptionFirst(_Registering):
    """A subscription that is held is never replaced."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        kept = {topic: held for topic, held in old.subscriptions.items() if topic in new.subscriptions}
        return new._replace(subscriptions={**new.subscriptions, **kept})


@_consumers("D130", "Topics stay until the last member leaves.")
class SubscriptionTopicsStay(_Registering):
    """Topics that a heartbeat leaves out are still subscribed."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        return new._replace(subscriptions={**old.subscriptions, **new.subscriptions})


@_consumers("D130", "A negative version counts as 0.")
class SubscriptionNegative(_Registering):
    """A negative version counts as 0."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        held = {topic: each._replace(version=max(each.version, 0)) for topic, each in new.subscriptions.items()}
        return new._replace(subscriptions=held)


@_consumers("D130", "Subscriptions outlive the last member.")
class SubscriptionOutlives(Consumers):
    """The subscriptions of a group outlive its last member."""

    def register(self, number: int, client: str, consumer: Consumer, known: bool) -> _Notified:
        if consumer.group not in self.groups and consumer.group in self._outlived:
            self.groups = {**self.groups, consumer.group: self._outlived[consumer.group]}
        notified = super().register(number, client, consumer, known)
        if consumer.group in self.groups:
            self._outlived[consumer.group] = self.groups[consumer.group]._replace(members={})
        return notified

    @property
    def _outlived(self) -> dict[str, RegisteredGroup]:
        return vars(self).setdefault("outlived", dict(NO_GROUPS))  # type: ignore[no-any-return]


@_consumers("D130", "A group consumes as its first member did.")
class SubscriptionFirstKind(_Registering):
    """How a group consumes is what its first member said."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        return new._replace(consume_type=old.consume_type, start=old.start) if old.members else new


@_consumers("D130", "A group broadcasts if its first member did.")
class SubscriptionFirstModel(_Registering):
    """Whether a group broadcasts is what its first member said."""

    def registered(
        self, old: RegisteredGroup, new: RegisteredGroup, consumer: Consumer, number: int
    ) -> RegisteredGroup:
        return new._replace(broadcasting=old.broadcasting) if old.members else new


@_consumers("D133", "A group without members has a list of connections.")
class ConnectionsOffline(Consumers):
    """A group without members has connections: none."""

    def connections(self, group: str) -> Connections | Err:
        found = super().connections(group)
        return (
            ((), "CONSUME_PASSIVELY", "CLUSTERING", "CONSUME_FROM_LAST_OFFSET", ()) if isinstance(found, Err) else found
        )


@_consumers("D130", "The tags of subscriptions are not shown.")
class ConnectionsTags(Consumers):
    def connections(self, group: str) -> Connections | Err:
        found = super().connections(group)
        if isinstance(found, Err):
            return found
        return *found[:4], tuple((*each[:4], ()) for each in found[4])


# --- pulls ---------------------------------------------------------------------------------------------------


@_consumers("D130", "A pull without a subscription is for everything.")
class RegisteredAll(Consumers):
    """A pull without any subscription is for everything."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        found = super().codes(group, topic, version)
        return None if found == UNSUBSCRIBED else found


@_consumers("D130", "A pull may know a newer subscription.")
class RegisteredAnyVersion(Consumers):
    """A pull may know a newer subscription."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        found = super().codes(group, topic, version)
        return super().codes(group, topic, -(1 << 63)) if found == OUTDATED else found


@_consumers("D130", "A pull may not know an older subscription.")
class RegisteredSameVersion(Consumers):
    """A pull must know the subscription that is held."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        held = _held(self, group).get(topic)
        found = super().codes(group, topic, version)
        return OUTDATED if held is not None and held.version > version and not isinstance(found, Err) else found


@_consumers("D131", "The broker computes the hashes of tags itself.")
class RegisteredOwnHashes(Consumers):
    """The broker computes the hashes of the expression itself."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        held = _held(self, group).get(topic)
        found = super().codes(group, topic, version)
        return found if held is None or held.codes is None or isinstance(found, Err) else tag_codes(held.text)


@_consumers("D131", "Class filter mode is ignored.")
class RegisteredNoClass(Consumers):
    """Class filter mode is ignored: the expression counts."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        held = _held(self, group).get(topic)
        found = super().codes(group, topic, version)
        return tag_codes(held.text) if held is not None and found is None else found


@_storage("D133", "Every group may broadcast.")
class RegisteredBroadcast(Storage):
    def set_group(self, group: str, settings: GroupSettings) -> None:
        super().set_group(group, settings._replace(broadcasts=True))


@_consumers("D133", "A group that may not broadcast may not pull.")
class RegisteredNoBroadcast(Consumers):
    """A group that may not broadcast may not pull at all."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        if group in self.groups and not self._storage.settings_of(group).broadcasts:
            return Err("NO_PERMISSION")
        return super().codes(group, topic, version)


@_consumers("D133", "A missing subscription is noticed first.")
class RegisteredBroadcastLate(Consumers):
    """Whether a group may broadcast is looked at after its subscription."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        settings = self._storage.settings_of(group)
        self._storage.group_settings[group] = settings._replace(broadcasts=True)
        found = super().codes(group, topic, version)
        self._storage.group_settings[group] = settings
        return found if isinstance(found, Err) else super().codes(group, topic, version)


@_storage("D99", "A known group keeps its settings.")
class MembersSettingsOnce(Storage):
    """The settings of a known group cannot be changed."""

    def set_group(self, group: str, settings: GroupSettings) -> None:
        self.group_settings.setdefault(group, settings if settings != ORDINARY_GROUP else ORDINARY_GROUP)


# --- what is compiled of subscriptions ------------------------------------------------------------------------


@_consumers("D213", "An older expression is compiled, too.")
class CompiledLast(Consumers):
    """The last expression is compiled, whatever its version."""

    def compile(self, consumer: Consumer) -> Filters:
        named = {(consumer.group, topic) for topic in consumer.subscriptions}
        self.filters = {key: kept for key, kept in self.filters.items() if key not in named}
        return super().compile(consumer)


@_consumers("D213", "What was compiled goes with the last member.")
class CompiledLeaves(Consumers):
    """What was compiled goes with the last member."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        self.filters = {key: kept for key, kept in self.filters.items() if key[0] in self.groups}
        return super().codes(group, topic, version)

    def compile(self, consumer: Consumer) -> Filters:
        if len(self.groups[consumer.group].members) == 1:
            self.filters = {key: kept for key, kept in self.filters.items() if key[0] != consumer.group}
        return super().compile(consumer)


@_consumers("D213", "A newer broken expression leaves the older one.")
class CompiledBrokenKept(Consumers):
    """A newer expression that cannot be compiled leaves the older one in place."""

    def compile(self, consumer: Consumer) -> Filters:
        return {**self.filters, **super().compile(consumer)}


@_consumers("D213", "Expressions are compiled where answered.")
class CompiledIfAnswered(Consumers):
    """Nothing is compiled where expressions are not answered."""

    def compile(self, consumer: Consumer) -> Filters:
        return super().compile(consumer) if self._storage.rules.filters_properties else self.filters


@_consumers("D213", "Nothing is compiled for a topic that is not there.")
class CompiledByTopic(Consumers):
    """Nothing is compiled for a topic that the broker does not have, as from 5.5.1."""

    def compile(self, consumer: Consumer) -> Filters:
        subscribed, topics = consumer.subscriptions, self._storage.state.topics
        there = {topic: held for topic, held in subscribed.items() if topic in topics}
        return super().compile(consumer._replace(subscriptions=there))


@_consumers("D213", "A broken expression is for everything.")
class RegisteredBrokenAll(Consumers):
    """A pull by an expression that was not compiled finds every message."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        found = super().codes(group, topic, version)
        return None if found == NO_DATA else found


@_consumers("D213", "A pull may know what was not compiled.")
class RegisteredAnyCompiled(Consumers):
    """A pull may know a newer version than that which was compiled."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        found = super().codes(group, topic, version)
        return super().codes(group, topic, -(1 << 63)) if found == OLD_DATA else found


@_consumers("D213", "Where SQL92 is refused nothing else counts.")
class RegisteredRefusedFirst(Consumers):
    """Whether expressions are answered is looked at first."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        found = super().codes(group, topic, version)
        refused = found in (NO_DATA, OLD_DATA) and not self._storage.rules.filters_properties
        return NO_FILTER if refused else found


@_answering("D213", "Class filter mode lets no expression pass.")
class RegisteredSqlByClass(Consumers):
    """Class filter mode does not let messages pass an expression."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        found, kept = super().codes(group, topic, version), self.filters.get((group, topic))
        held = _held(self, group).get(topic)
        if found is None and kept is not None and held is not None and held.kind == SQL92:
            return PropertyFilter(kept.expression)
        return found


@_answering("D213", "The expression subscribed to counts.")
class RegisteredSqlSubscribed(Consumers):
    """A pull goes by the expression that is subscribed to, whatever was compiled."""

    def codes(self, group: str, topic: str, version: int) -> TagCodes | Err:
        found, held = super().codes(group, topic, version), _held(self, group).get(topic)
        return PropertyFilter(held.text) if held is not None and isinstance(found, PropertyFilter) else found


def _held(consumers: Consumers, group: str) -> Mapping[str, RegisteredSubscription]:
    return consumers.groups.get(group, RegisteredGroup()).subscriptions
