"""The state of one member of a group, and its share of a topic's queues.

Members are push consumers with a concurrent listener: no queue is locked. Members of a cluster keep their offsets in
the remote store, broadcasting ones in the local one (REB-BC-STORE): what both have in memory is part of a member.

A share is the answer of the allocation models (ALLOC-*) to the queues and client ids as a rebalance sorts them
(REB-CLU-2): no rule of allocation is repeated here. Strategies that are configured have one configuration, which stands
with the topology.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.allocation.averagely import averagely
from rocketmq_conformance.models.allocation.check import Members, Queues, Shares
from rocketmq_conformance.models.allocation.circle import by_circle
from rocketmq_conformance.models.allocation.config import by_config
from rocketmq_conformance.models.allocation.consistent_hash import by_consistent_hash
from rocketmq_conformance.models.allocation.machine_room import by_machine_room
from rocketmq_conformance.models.allocation.nearby import nearby
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.member_settings import VIRTUAL_NODES
from rocketmq_conformance.models.client.process_queue import ProcessQueue
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker
from rocketmq_conformance.models.message_queue import sort_ids, sort_queues

CLUSTERING, BROADCASTING = "CLUSTERING", "BROADCASTING"
#: The strategies of members, by name: those of every release, and those that came later.
CONFIG = "CONFIG"
STRATEGIES = ("AVG", "AVG_BY_CIRCLE", CONFIG, "MACHINE_ROOM")
LATER_STRATEGIES = ("CONSISTENT_HASH", "MACHINE_ROOM_NEARBY")


class Member(NamedTuple):
    """A push consumer with a concurrent listener, and its client instance. Queues are given by key."""

    client: str
    mode: str
    #: Its ConsumeFromWhere.
    where: str
    strategy: str
    topics: frozenset[str]
    #: Readable queues of the topics, from the name server's last answer.
    seen: Mapping[str, int] = MappingProxyType({})
    memory: Mapping[int, int] = MappingProxyType({})
    table: Mapping[int, ProcessQueue] = MappingProxyType({})
    #: Process queues, by number, from which a listener has taken messages that it is still busy with.
    taken: Mapping[int, int] = MappingProxyType({})
    #: Number of process queues made so far.
    made: int = 0


_member = maker(Member)


@lru_cache(maxsize=64)
def subscribed_topics(topology: Topology, mode: str) -> frozenset[str]:
    """The subscriptions of a new member; only clusters have a retry topic."""
    topics = {topology.topic, topology.other_topic}
    return frozenset(topics | {topology.retry_topic} if mode == CLUSTERING else topics)


def new_member(
    client: str, mode: str, where: str, strategy: str, topics: frozenset[str], seen: Mapping[str, int]
) -> Member:
    """A new member: its memory and table are dicts from the start, as these are copied quickly."""
    return _member((client, mode, where, strategy, topics, seen, {}, {}, {}, 0))


def with_memory(who: Member, memory: Mapping[int, int]) -> Member:
    """The member with another memory."""
    client, mode, where, strategy, topics, seen, _, table, taken, made = who
    return _member((client, mode, where, strategy, topics, seen, memory, table, taken, made))


def with_queues(who: Member, memory: Mapping[int, int], table: Mapping[int, ProcessQueue]) -> Member:
    """The member with another memory and other process queues."""
    client, mode, where, strategy, topics, seen, _, _, taken, made = who
    return _member((client, mode, where, strategy, topics, seen, memory, table, taken, made))


def with_taken(
    who: Member, memory: Mapping[int, int], table: Mapping[int, ProcessQueue], taken: Mapping[int, int]
) -> Member:
    """The member with another memory and other process queues, some of which its listeners are busy with."""
    client, mode, where, strategy, topics, seen, _, _, _, made = who
    return _member((client, mode, where, strategy, topics, seen, memory, table, taken, made))


def with_topics(who: Member, topics: frozenset[str], seen: Mapping[str, int]) -> Member:
    """The member with other topics, or other knowledge of them."""
    client, mode, where, strategy, _, _, memory, table, taken, made = who
    return _member((client, mode, where, strategy, topics, seen, memory, table, taken, made))


def after_round(
    who: Member, seen: Mapping[str, int], memory: Mapping[int, int], table: Mapping[int, ProcessQueue], made: int
) -> Member:
    """The member with everything that a round can change."""
    client, mode, where, strategy, topics, _, _, _, taken, _ = who
    return _member((client, mode, where, strategy, topics, seen, memory, table, taken, made))


#: The queues of a topic (which has so many) that a client gets when these are listed; None when the strategy refuses.
Division = Callable[[str, str, str, int, tuple[str, ...]], tuple[int, ...] | None]


@lru_cache(maxsize=64)
def division_of(rules: ClientRules, topology: Topology) -> Division:
    """How clients with these rules divide the queues of a topology, by strategy, client id, topic, number of queues,
    and client ids."""
    keys = {queue: at for at, queue in enumerate(topology.queues)}

    strategies: dict[str, Callable[[str, Queues, Members], Shares]] = {
        "AVG": averagely,
        "AVG_BY_CIRCLE": by_circle,
        CONFIG: lambda me, queues, members: by_config(tuple([topology.queues[at] for at in topology.configured])),
        "MACHINE_ROOM": lambda me, queues, members: by_machine_room(rules, me, queues, members, topology.allowed_rooms),
        "CONSISTENT_HASH": lambda me, queues, members: by_consistent_hash(me, queues, members, VIRTUAL_NODES),
        "MACHINE_ROOM_NEARBY": partial(_nearby, topology.queue_rooms),
    }

    @lru_cache(maxsize=1 << 14)
    def share_of(strategy: str, client: str, topic: str, count: int, listed: tuple[str, ...]) -> tuple[int, ...] | None:
        queues = sort_queues([topology.queues[at] for at in topology.topic_queues[topic][:count]])
        assert queues is not None  # small ids have an order
        mine, _ = strategies[strategy](client, queues, sort_ids(listed))
        return tuple([keys[queue] for queue in mine]) if isinstance(mine, tuple) else None  # type: ignore[index]

    return share_of


def _nearby(rooms: tuple[str, str], me: str, queues: Queues, members: Members) -> Shares:
    """MACHINE_ROOM_NEARBY around AVG, where a queue's room goes by its id."""
    housed = {
        (topic, f"{rooms[number % 2]}@{broker}", number): (topic, broker, number) for topic, broker, number in queues
    }
    mine, why = nearby(me, tuple(housed), members, "AVG")
    return (tuple([housed[queue] for queue in mine]), why) if isinstance(mine, tuple) else (mine, why)  # type: ignore[index]
