"""The broker of suite broker-members: connections come and go, groups hold subscriptions, and pulls refer to them.

Messages are in queue 0 of their topics, with a tag or without. A connection counts what it is notified of until it is
asked; one that was closed begins anew when it is used again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, cast

from rocketmq_conformance.models.broker import admin, members
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.compiled_filters import NO_FILTERS, Filters, compile_subscriptions
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.members import (
    NO_GROUPS,
    ORDINARY_GROUP,
    Consumer,
    Groups,
    GroupSettings,
)
from rocketmq_conformance.models.broker.property_filter import NO_PROPERTIES
from rocketmq_conformance.models.broker.pull import PullMessageRequest, PullResult, pull, response_code
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.broker.subscription import (
    SQL92,
    PropertyFilter,
    RegisteredSubscription,
    StoredEntry,
    TagCodes,
)
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-PULL-HASHES",
        "Of a registered subscription the broker compares the hashes that the client sent, whatever its expression and "
        "its tags are; in class filter mode every message passes.",
        "ExpressionMessageFilter#isMatchedByConsumeQueue @ 4.1.0, 4.9.7, 5.3.3; DefaultMessageFilter @ 4.0.0",
    ),
)

#: Connections of a case, and client ids by index.
CONNECTIONS, CLIENTS = 3, ("C0", "C1", "C2")
#: Consume type and start position by index.
KINDS = (
    ("CONSUME_PASSIVELY", "CONSUME_FROM_LAST_OFFSET"),
    ("CONSUME_ACTIVELY", "CONSUME_FROM_FIRST_OFFSET"),
    ("CONSUME_PASSIVELY", "CONSUME_FROM_TIMESTAMP"),
)
#: Tags of messages; Aa and BB have the same hash in Java.
TAGS = ("A", "Aa", "BB", "")
#: The store time of every message (ms since the epoch); it is not observed.
STORED_AT = 1_000_000_000_000


class Subscribed(NamedTuple):
    """A subscription as a client sends it: its expression, its tags, the tags whose hashes it sends, class filter? And
    the language of the expression."""

    text: str
    tags: tuple[str, ...] = ()
    hashed: tuple[str, ...] = ()
    class_filter: bool = False
    kind: str = "TAG"

    @property
    def codes(self) -> tuple[int, ...]:
        """The hashes that the client sends."""
        return tuple(sorted({string_hash(tag) for tag in self.hashed}))

    def at(self, version: int) -> RegisteredSubscription:
        """What the broker holds of it."""
        everything = self.class_filter or self.text == "*"
        codes: TagCodes = None if everything else frozenset(self.codes)
        return RegisteredSubscription(codes, version, self.kind, self.text, self.tags, self.class_filter)


#: Subscriptions by what plans call them: ordinary ones, hashes of other tags or of none, class filter mode, and other
#: languages than tags.
SUBSCRIPTIONS = {
    "*": Subscribed("*"),
    "A": Subscribed("A", ("A",), ("A",)),
    "A || Aa": Subscribed("A || Aa", ("A", "Aa"), ("A", "Aa")),
    "A as Aa": Subscribed("A", ("A",), ("Aa",)),
    "A as nothing": Subscribed("A", ("A",)),
    "A by class": Subscribed("A", ("A",), ("A",), class_filter=True),
    "A by SQL": Subscribed("TAGS = 'A'", kind=SQL92),
    "not A by SQL": Subscribed("TAGS <> 'A'", kind=SQL92),
    "broken SQL": Subscribed("TAGS =", kind=SQL92),
    "no SQL": Subscribed("", kind=SQL92),
    "another language": Subscribed("A", ("A",), ("A",), kind="sql92"),
    "SQL by class": Subscribed("TAGS = 'A'", class_filter=True, kind=SQL92),
}
#: Subscriptions whose hashes are not those of their expression.
_OTHER_HASHES = frozenset({"A as Aa", "A as nothing", "A by class"})

_SMALL = 100

#: Messages by topic: their tags.
Tags = Mapping[str, tuple[str, ...]]
#: How often each connection was notified of each group since it was asked.
Notices = Mapping[tuple[int, str], int]


class BrokerMembersState(NamedTuple):
    """The broker, the settings of its groups, its members, what they subscribe to and what was compiled of that, and
    what they were notified of."""

    broker: BrokerState = initial_state()
    settings: Mapping[str, GroupSettings] = MappingProxyType({})
    members: Groups = NO_GROUPS
    filters: Filters = NO_FILTERS
    tags: Tags = MappingProxyType({})
    notices: Notices = MappingProxyType({})


class BrokerMembersModel:
    """The rules of suite broker-members; every method is pure. Topics, groups and clients are indexes."""

    __slots__ = ("rules",)

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)

    def create_topic(self, state: BrokerMembersState, topic: int, queues: int) -> Answer[BrokerMembersState]:
        """BQ-TOPIC-1: None."""
        broker, result, why = admin.create_topic(self.rules, state.broker, TOPICS[topic], Topic.of(queues))
        return state._replace(broker=broker), result, why

    def delete_topic(self, state: BrokerMembersState, topic: int) -> Answer[BrokerMembersState]:
        """BQ-TOPIC-3: None. What is subscribed to stays."""
        broker, result, why = admin.delete_topic(self.rules, state.broker, TOPICS[topic])
        tags = {name: sent for name, sent in state.tags.items() if name != TOPICS[topic]}
        return state._replace(broker=broker, tags=tags), result, why

    def delete_group(self, state: BrokerMembersState, group: int, flag: str) -> Answer[BrokerMembersState]:
        """BQ-GROUP-2: None. Its members stay; a group that is looked up after that has the default settings."""
        broker, result, why = admin.delete_group(self.rules, state.broker, GROUPS[group], flag)
        settings = {name: kept for name, kept in state.settings.items() if name != GROUPS[group]}
        return state._replace(broker=broker, settings=settings), result, why

    def set_group(
        self, state: BrokerMembersState, group: int, enabled: bool, broadcasts: bool, notifies: bool
    ) -> Answer[BrokerMembersState]:
        """BQ-GROUP-1, BQ-GROUP-ENABLE: None."""
        name = GROUPS[group]
        broker, result, why = admin.create_group(self.rules, state.broker, name, enabled)
        settings = {**state.settings, name: GroupSettings(broadcasts, notifies)}
        return state._replace(broker=broker, settings=settings), result, why

    def send(self, state: BrokerMembersState, topic: int, tag: str) -> Answer[BrokerMembersState]:
        """BQ-SEND-1: the offset of a message to queue 0, or the error."""
        name = TOPICS[topic]
        broker, result, why = send(self.rules, state.broker, name, 0, (STORED_AT,))
        if isinstance(result, Err):
            return state._replace(broker=broker), result, why
        tags = {**state.tags, name: (*state.tags.get(name, ()), tag)}
        return state._replace(broker=broker, tags=tags), result, why

    def beat(
        self,
        state: BrokerMembersState,
        connection: int,
        client: int,
        groups: tuple[int, ...],
        subscriptions: tuple[tuple[int, str], ...],
        version: int,
        broadcasting: bool,
        kind: int,
    ) -> Answer[BrokerMembersState]:
        """BQ-HB-*: None."""
        held = {TOPICS[topic]: SUBSCRIPTIONS[name].at(version) for topic, name in subscriptions}
        reasons: list[Reason] = []
        for group in groups:
            consumer = Consumer(GROUPS[group], held, broadcasting, *KINDS[kind])
            broker, created = self._look_up(state.broker, consumer.group)
            known = consumer.group in broker.groups
            notifies = self._settings(state, group).notifies
            after, notified, why = members.heartbeat(
                self.rules, state.members, connection, CLIENTS[client], consumer, known, notifies
            )
            state = state._replace(broker=broker, members=after)
            state = _notified(state, [(one, consumer.group) for one in cast("tuple[int, ...]", notified)])
            if consumer.group in after:
                topics = broker.topics
                filters, kinds = compile_subscriptions(self.rules, state.filters, consumer.group, held, topics)
                state = state._replace(filters=filters)
                why = _also(why, "BQ-HB-FILTER", kinds[0]) if kinds else why
            reasons.append(_also(why, "BQ-GROUP-LOOKUP", "group created") if created else why)
        return state, None, reasons[0] if len(reasons) == 1 else _both(*reasons)

    def leave(self, state: BrokerMembersState, connection: int, group: int) -> Answer[BrokerMembersState]:
        """BQ-HB-6: None."""
        name = GROUPS[group]
        broker, created = self._look_up(state.broker, name)
        notifies = self._settings(state, group).notifies
        after, notified, why = members.unregister(self.rules, state.members, connection, name, notifies)
        state = state._replace(broker=broker, members=after)
        state = _notified(state, [(one, name) for one in cast("tuple[int, ...]", notified)])
        return state, None, _also(why, "BQ-GROUP-LOOKUP", "group created") if created else why

    def close(self, state: BrokerMembersState, connection: int) -> Answer[BrokerMembersState]:
        """BQ-HB-5: None."""
        after, notified, why = members.close_connection(self.rules, state.members, connection)
        kept = {key: count for key, count in state.notices.items() if key[0] != connection}
        state = state._replace(members=after, notices=kept)
        pairs = cast("tuple[tuple[str, int], ...]", notified)
        return _notified(state, [(one, group) for group, one in pairs]), None, why

    def notices(self, state: BrokerMembersState, connection: int) -> Answer[BrokerMembersState]:
        """BQ-HB-3: sorted (group, how often the connection was notified of it) pairs, since it was asked last."""
        found = tuple(
            sorted((GROUPS.index(group), count) for (one, group), count in state.notices.items() if one == connection)
        )
        kept = {key: count for key, count in state.notices.items() if key[0] != connection}
        return state._replace(notices=kept), found, _NOTICES["notified" if found else "not notified"]

    def listed(self, state: BrokerMembersState, group: int) -> Answer[BrokerMembersState]:
        """BQ-LIST-1: sorted client ids, or the error."""
        _, result, why = members.consumer_list(state.members, GROUPS[group])
        if isinstance(result, Err):
            return state, result, why
        return state, tuple(sorted(cast("tuple[str, ...]", result))), why

    def connections(self, state: BrokerMembersState, group: int) -> Answer[BrokerMembersState]:
        """BQ-CONNECTIONS: what the group consumes, or the error."""
        _, result, why = members.connections(self.rules, state.members, GROUPS[group])
        return state, result, why

    def pull(
        self, state: BrokerMembersState, group: int, topic: int, offset: int, version: int
    ) -> Answer[BrokerMembersState]:
        """BQ-PULL-*: (response code's name, next offset, offsets found) of a pull without a subscription."""
        name, topic_name = GROUPS[group], TOPICS[topic]
        broker, created = self._look_up(state.broker, name) if self.rules.readable else (state.broker, False)
        registered = state.members.get(name)
        kept, settings = state.filters.get((name, topic_name)), self._settings(state, group)
        codes = members.pulled_codes(self.rules, registered, settings, topic_name, version, kept)
        entries = [
            StoredEntry(_SMALL, tag, {"TAGS": tag} if tag else NO_PROPERTIES) for tag in state.tags.get(topic_name, ())
        ]
        asked = PullMessageRequest(name, topic_name, 0, offset)
        after, result, why = pull(self.rules, broker, asked, codes, entries)
        if created:
            why = _also(why, "BQ-GROUP-LOOKUP", "group created")
        state = state._replace(broker=after)
        if isinstance(result, Err):
            return state, result, why
        status, following, _, _, found = cast(PullResult, result)
        held = None if registered is None else registered.subscriptions.get(topic_name)
        if held in (SUBSCRIPTIONS[one].at(held.version) for one in _OTHER_HASHES) if held else False:
            why = _also(why, "BQ-PULL-HASHES", "hashes of the client")
        if held is not None and kept is not None and isinstance(codes, PropertyFilter):
            kind = "as subscribed" if kept.expression == held.text else "another expression"
            why = _also(_also(why, "BQ-PULL-FILTER", kind), "BQ-HB-FILTER", "kept")
        return state, (response_code(status, offset), following, found), why

    def _settings(self, state: BrokerMembersState, group: int) -> GroupSettings:
        return state.settings.get(GROUPS[group], ORDINARY_GROUP)

    def _look_up(self, broker: BrokerState, group: str) -> tuple[BrokerState, bool]:
        """BQ-GROUP-LOOKUP: the broker after a look-up of the group, and whether that created it."""
        if group in broker.groups or not self.rules.creates_groups:
            return broker, False
        return broker._replace(groups=broker.groups | {group}), True


_NOTICES = {kind: Reason(("BQ-HB-3",), kind) for kind in ("notified", "not notified")}


def _notified(state: BrokerMembersState, notified: list[tuple[int, str]]) -> BrokerMembersState:
    notices = dict(state.notices)
    for key in notified:
        notices[key] = notices.get(key, 0) + 1
    return state._replace(notices=notices)


@cache
def _also(why: Reason, rule: str, kind: str) -> Reason:
    """The same reason, and one more; one object for each."""
    return Reason((*why.rules, rule), f"{why.kind}, {kind}")


@cache
def _both(first: Reason, second: Reason) -> Reason:
    """The reason of a heartbeat that names two groups; one object for each."""
    return Reason(tuple(dict.fromkeys((*first.rules, *second.rules))), f"{first.kind}; {second.kind}")


def show(state: BrokerMembersState) -> str:
    """The members and subscriptions of each group, and the tags of the messages, in one line."""
    groups = {
        name: (
            f"{dict(group.members)} {'broadcasting ' if group.broadcasting else ''}"
            f"{ {topic: f'{held.text}, version {held.version}' for topic, held in group.subscriptions.items()} }"
        )
        for name, group in state.members.items()
    }
    notices = {f"{connection} of {group}": count for (connection, group), count in state.notices.items()}
    messages = {topic: list(tags) for topic, tags in state.tags.items()}
    return f"members {groups}, messages {messages}, notices {notices}, known groups {sorted(state.broker.groups)}"
