"""MACHINE_ROOM_NEARBY: rooms with consumers keep their queues, other rooms are shared (ALLOC-NEAR-1).

Where a broker or a client lives is decided by a resolver of the user. The kit's resolver, which every implementation is
asked to use, takes what stands before the first "@" of a name for its room; without "@" there is no room.

An inner strategy divides the own room's queues among the room's members, then the queues of every room that has no
member at all among all members. A room with a single slow member is never helped.
"""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.models.allocation.averagely import averagely
from rocketmq_conformance.models.allocation.check import ILLEGAL_ARGUMENT, Members, Queues, Shares, refusal
from rocketmq_conformance.models.allocation.circle import by_circle
from rocketmq_conformance.models.allocation.consistent_hash import DEFAULT_NODES, by_consistent_hash
from rocketmq_conformance.models.java_text import utf16
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "ALLOC-NEAR-1",
        "An inner strategy divides the own room's queues among the room's members, then those of each room without "
        "members, in room order, among all members. A broker or member without a room is an illegal argument.",
        "AllocateMachineRoomNearby#allocate @ 4.3.0, 5.5.0",
        releases="4.3.0+",
    ),
)

AVG, CIRCLE, HASH = "AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"

_NO_ROOM = Reason(("ALLOC-NEAR-1",), "room unknown")
_OWN = Reason(("ALLOC-NEAR-1",), "own room")
_BOTH = Reason(("ALLOC-NEAR-1",), "own room and rooms without members")
_SHARED = Reason(("ALLOC-NEAR-1",), "rooms without members")
_NEITHER = Reason(("ALLOC-NEAR-1",), "no queue in reach")


def _by_consistent_hash(me: str, queues: Queues, members: Members) -> Shares:
    return by_consistent_hash(me, queues, members, DEFAULT_NODES)


INNER_STRATEGIES: dict[str, Callable[[str, Queues, Members], Shares]] = {
    AVG: averagely,
    CIRCLE: by_circle,
    HASH: _by_consistent_hash,
}


def room_of(name: str) -> str:
    """The kit's resolver, for brokers and clients alike; "" when the name has no room."""
    room, at, _ = name.partition("@")
    return room if at else ""


def nearby(me: str, queues: Queues, members: Members, inner: str) -> Shares:
    """The queues of ``me``, its own room's first."""
    refused = refusal(me, queues, members)
    if refused:
        return refused
    queues_of: dict[str, list[tuple[str, str, int]]] = {}
    for queue in queues:
        queues_of.setdefault(room_of(queue[1]), []).append(queue)
    members_of: dict[str, list[str]] = {}
    for member in members:
        members_of.setdefault(room_of(member), []).append(member)
    if "" in queues_of or "" in members_of:
        return ILLEGAL_ARGUMENT, _NO_ROOM
    divide = INNER_STRATEGIES[inner]
    own = room_of(me)
    mine: list[Value] = []
    if own in queues_of:
        _add(mine, divide(me, tuple(queues_of[own]), tuple(members_of[own])))
    vacant = [room for room in sorted(queues_of, key=utf16) if room not in members_of]
    for room in vacant:
        _add(mine, divide(me, tuple(queues_of[room]), members))
    if own in queues_of:
        return tuple(mine), _BOTH if vacant else _OWN
    return tuple(mine), _SHARED if vacant else _NEITHER


def _add(mine: list[Value], shares: Shares) -> None:
    # The inner strategy is given at least one queue and a member list with ``me`` in it: it never refuses.
    queues, _ = shares
    assert isinstance(queues, tuple)
    mine.extend(queues)
