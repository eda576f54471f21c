"""The state of a group of whole consumers, and what can be read off it.

``whole_group`` has what changes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, QueueLog
from rocketmq_conformance.models.client.lone_answers import lone_reasons
from rocketmq_conformance.models.client.orderly_work import OrderlyWork
from rocketmq_conformance.models.client.plan_words import EVERY, SUCCEEDS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH
from rocketmq_conformance.models.client.whole_moves import (
    OTHER_QUEUES,
    RETRIES,
    STRANGER,
    Fail,
)
from rocketmq_conformance.models.message_queue import sort_ids
from rocketmq_conformance.models.rule import Reason


class WholeMember(NamedTuple):
    """A running member. Queues are given by key."""

    #: Has the broker received its heartbeat?
    registered: bool = False
    memory: Mapping[int, int] = MappingProxyType({})
    #: The queues that it has, and the offsets it pulls from.
    pulls: Mapping[int, int] = MappingProxyType({})
    #: Those of an orderly member that it has not pulled yet: it will compute their start once more.
    fresh: frozenset[int] = frozenset()
    #: Is its listener blocked? It takes no more messages then.
    busy: bool = False
    #: The queue and offset of the message that its listener is busy with.
    in_progress: tuple[int, int] | None = None
    #: Those of an orderly member whose locks were lost: it keeps them, and does not pull them.
    unlocked: frozenset[int] = frozenset()
    #: What its listener does with messages, and what it has been given and holds: by queue, the first offset and the
    #: one after the last. Unlike a busy one it is given everything.
    listener: str = SUCCEEDS
    held: Mapping[int, tuple[int, int]] = MappingProxyType({})
    #: The messages that its listener does not return from, beside others that it does, by queue.
    hung: Mapping[int, int] = MappingProxyType({})
    #: Does it hold messages of a queue that was lost meanwhile?
    discards: bool = False
    #: What the listeners of an orderly one are at that fail or hold; it has pulled more than it has given them.
    work: OrderlyWork = OrderlyWork()
    #: The offsets behind what it was given and has not committed, by queue, where it commits on demand alone.
    taken: Mapping[int, int] = MappingProxyType({})
    #: Has it lost a connection?
    cut: bool = False
    #: Is it suspended? It is listed then, and neither pulls nor rebalances.
    suspended: bool = False
    #: The queues that it has assigned by hand, those of them that it has paused, and where it sought to in these.
    assigned: frozenset[int] = frozenset()
    paused: frozenset[int] = frozenset()
    sought: Mapping[int, int] = MappingProxyType({})


#: The rule of a queue that begins, by the kind of its member.
_BEGINS = {PUSH: "REB-ADD-1", ORDERLY: "REB-ADD-1", LITE: "LITE-PULL"}


class WholeGroup(NamedTuple):
    """Members of one kind, their broker, and the failing requests."""

    kind: str
    where: str
    broker: BrokerState
    topology: Topology
    timestamp: str | None = None
    #: By name, in the order of the names.
    members: Mapping[str, WholeMember] = MappingProxyType({})
    #: The client ids of members, by name, as far as they were seen: their order decides who has which queue.
    clients: Mapping[str, str] = MappingProxyType({})
    fails: Mapping[str, Fail] = MappingProxyType({})
    #: The request whose answers are late, or "".
    late: str = ""
    #: Does a client outside the group have the locks?
    seized: bool = False
    #: Locks of clients that do not pull: of members that crashed, by name, and of STRANGER. By queue.
    kept: Mapping[int, str] = MappingProxyType({})
    #: Messages that were sent back and wait for their delay level.
    delayed: int = 0
    #: How members divide the queues, and the client ids that the broker lists beside theirs.
    strategy: str = "AVG"
    others: tuple[str, ...] = ()
    #: Do members commit on demand alone?
    on_demand: bool = False
    #: Do members assign queues by hand, and share none?
    by_hand: bool = False
    #: Does the broker answer the pulls that find nothing before a look is over?
    pulls_end: bool = False
    #: The topics of the broker that no member subscribes to.
    unsubscribed: frozenset[str] = frozenset()
    #: The forms of messages that are not plain, by the number of their queue and their offset.
    forms: Mapping[tuple[int, int], str] = MappingProxyType({})
    #: The queues that are not pulled before listeners return, as there are too many messages of them.
    flooded: frozenset[int] = frozenset()
    #: The reasons of all steps so far.
    reasons: tuple[Reason, ...] = ()
    #: Why queues began where they did, by queue, where that shows: they were pulled from there, and not sent elsewhere.
    starts: Mapping[int, Reason] = MappingProxyType({})


def with_clients(group: WholeGroup, clients: tuple[str, ...]) -> WholeGroup:
    """The group once these client ids of members were seen, by their numbers; "" says nothing of one.

    Locks of a member that crashed are those of a stranger once it is back under another id.
    """
    known = {
        **group.clients,
        **{name: client for name, client in zip(group.topology.members, clients, strict=False) if client},
    }
    if known == group.clients:
        return group
    other = {name for name, client in group.clients.items() if known[name] != client}
    kept = {queue: STRANGER if holder in other else holder for queue, holder in group.kept.items()}
    return group._replace(clients=known, kept=kept)


def client_of(group: WholeGroup, name: str) -> str:
    """The client id of a member; its name, where none was seen."""
    return group.clients.get(name, name)


def listed_clients(group: WholeGroup, names: Iterable[str]) -> tuple[str, ...]:
    """The client ids that the broker lists when it knows these members, in the order of their rounds (REB-CLU-2)."""
    return sort_ids((*(client_of(group, name) for name in names), *group.others))


def seen_queues(topology: Topology, broker: BrokerState) -> tuple[int, ...]:
    """The queues that observations show: those of the topic, and of the other one if there is one."""
    topics = [topic for topic in (topology.topic, topology.other_topic) if topic in broker.topics]
    return tuple(
        queue for topic in topics for queue in topology.topic_queues[topic][: broker.topics[topic].read_queues]
    )


def number_of(topology: Topology, queue: int) -> int:
    """The number by which an observation names a queue: that of its place, RETRIES, or OTHER_QUEUES and on."""
    topic, number = topology.places[queue]
    if topic == topology.retry_topic:
        return RETRIES
    return OTHER_QUEUES + number if topic == topology.other_topic else number


def failing(group: WholeGroup, request: str, queue: int) -> Fail | None:
    """How a request about a queue fails, if it does."""
    move = group.fails.get(request)
    if move is None:
        return None
    number = number_of(group.topology, queue)
    return move if (number in move.among if move.among else move.queue in (None, EVERY, number)) else None


def locks_of(member: WholeMember) -> set[int]:
    """The queues that an orderly member has locked."""
    return (member.pulls.keys() - member.unlocked) | ({member.in_progress[0]} if member.in_progress else set())


def log_of(topology: Topology, broker: BrokerState, queue: int) -> QueueLog:
    """The log of a queue."""
    return broker.logs.get(topology.places[queue], ABSENT)


def with_reason(group: WholeGroup, why: Reason) -> WholeGroup:
    """The group, for which one more rule has fired."""
    return group._replace(reasons=(*group.reasons, why))


def with_failure(group: WholeGroup, move: Fail | None, why: Reason) -> WholeGroup:
    """The group, for which a rule has fired because of how a request fails, if one does."""
    return group._replace(reasons=(*group.reasons, *lone_reasons(move, why)))


def with_member(group: WholeGroup, name: str, member: WholeMember) -> WholeGroup:
    """The group whose member of this name is now like that."""
    return group._replace(members={**group.members, name: member})


def hiding(group: WholeGroup, queue: int) -> WholeGroup:
    """The group when it does not show where a queue began."""
    if queue not in group.starts:
        return group
    return group._replace(starts={other: why for other, why in group.starts.items() if other != queue})


def with_starts(why: Reason, starts: Iterable[Reason]) -> Reason:
    """A reason, and beneath it the rules by which queues began."""
    beneath = dict.fromkeys((*why.beneath, *(rule for one in starts for rule in one.rules if rule not in why.rules)))
    return replace(why, beneath=tuple(beneath)) if beneath else why


def with_beneath(why: Reason, group: WholeGroup) -> Reason:
    """A reason, and beneath it the rules by which queues began, and those beneath the reasons of a group that it names
    (or that name no rule themselves)."""
    found = [rule for one in group.reasons if not set(one.rules) - set(why.rules) for rule in one.beneath]
    begun = (_BEGINS[group.kind],) if group.starts else ()
    beneath = dict.fromkeys(rule for rule in (*begun, *found) if rule not in why.rules)
    why = with_starts(why, group.starts.values())
    return replace(why, beneath=tuple({**dict.fromkeys(why.beneath), **beneath})) if beneath else why
