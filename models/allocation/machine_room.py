"""MACHINE_ROOM: only queues of the consumer's rooms count; a broker is named ``room@name`` (ALLOC-ROOM-1).

A broker has a room when its name splits at "@" into exactly two parts by Java's rules, which forget empty parts at
the end: ``a@b@`` is in room a, ``@b`` in room "", ``a@`` and ``a@b@c`` are in none.

With P the queues of the rooms and C members, everybody gets a block of P // C; the rest comes from the tail, one
queue each for the first members. Up to 4.7.1 the block is cut out of *all* queues instead of P: queues of foreign
rooms, while some of P have no owner.
"""

from __future__ import annotations

from functools import lru_cache

from rocketmq_conformance.models.allocation.check import ILLEGAL_ARGUMENT, Members, Queues, Shares, refusal
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.java_text import is_blank, split
from rocketmq_conformance.models.outcome import UNDEFINED
from rocketmq_conformance.models.rule import Level, Reason, Rule

RULES = (
    Rule(
        "ALLOC-ROOM-1",
        "Of the queues whose broker is in an allowed room, every place in the member list gets a block of equal "
        "size, and the first places one queue more each, from the tail.",
        "AllocateMessageQueueByMachineRoom#allocate @ 4.8.0, 5.5.0",
    ),
    Rule(
        "ALLOC-ROOM-1-FAULT",
        "The block is cut out of all queues instead of the allowed ones; only the tail respects the rooms.",
        "AllocateMessageQueueByMachineRoom#allocate @ 4.0.0, 4.7.1",
        releases="up to 4.7.1",
    ),
    Rule(
        "ALLOC-ROOM-1-CHECK",
        "Up to 4.9.2 nothing is checked: an own id that is not a member, no members or no queues give no queues. "
        "4.9.3 checks as ALLOC-CHK-1 and takes a blank own id for an empty one. From 4.9.4 on ALLOC-CHK-1.",
        "AllocateMessageQueueByMachineRoom#allocate @ 4.9.2, 4.9.3, 4.9.4, 5.0.0-ALPHA, 5.0.0",
        releases="up to 4.9.3, 5.0.0-PREVIEW, 5.0.0-ALPHA",
    ),
    Rule(
        "ALLOC-ROOM-1-NULL",
        "Without a set of rooms nothing is promised once a broker has a room (Java fails with a null pointer).",
        "AllocateMessageQueueByMachineRoom#allocate @ 4.0.0, 5.5.0",
        level=Level.UNDEFINED,
    ),
)

_UNCHECKED_MISSING = Reason(("ALLOC-ROOM-1-CHECK",), "unchecked, own id missing")
_UNCHECKED_NO_QUEUES = Reason(("ALLOC-ROOM-1-CHECK",), "unchecked, no queues")
_BLANK = Reason(("ALLOC-ROOM-1-CHECK",), "own id blank")
_NO_SET = Reason(("ALLOC-ROOM-1-NULL",), "no set of rooms")
_NO_ROOM = Reason(("ALLOC-ROOM-1",), "no queue in the rooms")
_BLOCK = Reason(("ALLOC-ROOM-1",), "block")
_BLOCK_AND_TAIL = Reason(("ALLOC-ROOM-1",), "block and tail")
_TAIL = Reason(("ALLOC-ROOM-1",), "tail")
_NOTHING = Reason(("ALLOC-ROOM-1",), "more members than queues")
#: By "has a block" and "has one of the tail".
_KINDS = {(True, False): _BLOCK, (True, True): _BLOCK_AND_TAIL, (False, True): _TAIL, (False, False): _NOTHING}
_FOREIGN = Reason(("ALLOC-ROOM-1-FAULT",), "foreign block")


@lru_cache(maxsize=1 << 12)
def room_of_broker(broker: str) -> str | None:
    """The room in a broker's name; None when the name has none."""
    parts = split(broker, "@")
    return parts[0] if len(parts) == 2 else None


def by_machine_room(
    rules: ClientRules, me: str, queues: Queues, members: Members, rooms: tuple[str, ...] | None
) -> Shares:
    """The queues of ``me`` when its consumers may use ``rooms`` (None: no set was configured)."""
    refused = _refusal(rules, me, queues, members)
    if refused:
        return refused
    housed = [(queue, room_of_broker(queue[1])) for queue in queues]
    if rooms is None:
        if any(room is not None for _, room in housed):
            return UNDEFINED, _NO_SET
        return (), _NO_ROOM
    allowed = tuple(queue for queue, room in housed if room in rooms)
    if not allowed:
        return (), _NO_ROOM
    place = members.index(me)
    size, rest = divmod(len(allowed), len(members))
    start, tail = place * size, size * len(members) + place
    block = allowed[start : start + size]
    if not rules.room_filtered:
        wrong = queues[start : start + size]
        if wrong != block:
            return wrong + allowed[tail : tail + 1], _FOREIGN
    why = _KINDS[size > 0, place < rest]
    return block + allowed[tail : tail + 1], why


def _refusal(rules: ClientRules, me: str, queues: Queues, members: Members) -> Shares | None:
    if not rules.room_checked:
        if me not in members:
            return (), _UNCHECKED_MISSING
        return None if queues else ((), _UNCHECKED_NO_QUEUES)
    if me and not rules.room_check_shared and is_blank(me):
        return ILLEGAL_ARGUMENT, _BLANK
    return refusal(me, queues, members)
