"""CONSISTENT_HASH: members and queues are placed on a ring; a queue belongs to the next member (ALLOC-CH-*).

A member stands on the ring several times, as the virtual nodes ``id-0``, ``id-1`` and so on; a queue stands where
its text is (MQ-ID-1). Places are the first four bytes of MD5, big-endian, unsigned.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from hashlib import md5
from typing import NamedTuple

from rocketmq_conformance.models.allocation.check import ILLEGAL_ARGUMENT, Members, Queues, Shares, refusal
from rocketmq_conformance.models.message_queue import queue_text
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "ALLOC-CH-1",
        "A member owns the queues that the ring gives to its id, in list order. A negative number of virtual nodes "
        "is an illegal argument; with 0 nobody owns anything.",
        "AllocateMessageQueueConsistentHash#allocate @ 4.1.0, 5.5.0",
        releases="4.1.0+",
    ),
    Rule(
        "ALLOC-CH-2",
        "Members are placed in list order, each as `id-k` for k from the number of its virtual nodes that are on the "
        "ring already; on a collision the later one stays.",
        "ConsistentHashRouter#addNode, #getExistingReplicas; VirtualNode#getKey @ 4.1.0, 5.5.0",
        releases="4.1.0+",
    ),
    Rule(
        "ALLOC-CH-3",
        "The owner is the first virtual node at or after the queue's place, after the last one the first.",
        "ConsistentHashRouter#routeNode @ 4.1.0, 5.5.0",
        releases="4.1.0+",
    ),
    Rule(
        "ALLOC-CH-4",
        "A text's place is the unsigned big-endian number in the first four bytes of its MD5. Texts are UTF-8 from "
        "5.0.0 on, and in the platform's charset before; the model takes UTF-8 throughout.",
        "ConsistentHashRouter$MD5Hash#hash @ 4.1.0, 4.9.8, 5.0.0, 5.5.0",
        releases="4.1.0+",
    ),
)

#: Virtual nodes of a member by default.
DEFAULT_NODES = 10

_NEGATIVE = Reason(("ALLOC-CH-1",), "negative number of virtual nodes")
_EMPTY_RING = Reason(("ALLOC-CH-1",), "empty ring")
_RULES = ("ALLOC-CH-1", "ALLOC-CH-2", "ALLOC-CH-3", "ALLOC-CH-4")
_PLAIN = Reason(_RULES, "unique ids")
_WRAPPED = Reason(_RULES, "a queue after the last node")
_TWICE = Reason(_RULES, "an id twice")
_COLLISION = Reason(_RULES, "virtual nodes collide")


class Ring(NamedTuple):
    """Virtual nodes by place: ``owners[i]`` is the member at ``places[i]``."""

    places: tuple[int, ...]
    owners: tuple[str, ...]
    collided: bool


@lru_cache(maxsize=1 << 16)
def place_of(text: str) -> int:
    """ALLOC-CH-4: 0 … 2**32 - 1. Where UTF-8 has no code (an unpaired surrogate), Java hashes a "?"."""
    return int.from_bytes(md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()[:4], "big")


@lru_cache(maxsize=1 << 12)
def ring_of(members: Members, nodes: int) -> Ring:
    """ALLOC-CH-2: the ring of a member list, ``nodes`` virtual nodes for every entry."""
    ring: dict[int, str] = {}
    for member in members:
        first = sum(owner == member for owner in ring.values())
        for k in range(first, first + nodes):
            ring[place_of(f"{member}-{k}")] = member
    places = sorted(ring)
    return Ring(tuple(places), tuple(ring[place] for place in places), len(ring) < nodes * len(members))


def by_consistent_hash(me: str, queues: Queues, members: Members, nodes: int) -> Shares:
    """The queues of ``me`` (ALLOC-CH-3) when every entry of the member list has ``nodes`` virtual nodes."""
    if nodes < 0:
        return ILLEGAL_ARGUMENT, _NEGATIVE
    refused = refusal(me, queues, members)
    if refused:
        return refused
    if nodes == 0:
        return (), _EMPTY_RING
    ring = ring_of(members, nodes)
    places = [place_of(queue_text(queue)) for queue in queues]
    last = len(ring.places)
    mine = tuple(
        queue
        for queue, place in zip(queues, places, strict=True)
        if ring.owners[bisect_left(ring.places, place) % last] == me
    )
    if ring.collided:
        return mine, _COLLISION
    if len(set(members)) < len(members):
        return mine, _TWICE
    return mine, _WRAPPED if max(places) > ring.places[-1] else _PLAIN
