"""The offset table in a consumer's memory: the part that remote and local stores share (OFF-UPD-1, OFF-FRZ-1).

Memory maps queues, given by their key, to offsets in messages. Some of its entries are frozen. The
functions take both and return them as they are afterwards (the same objects when nothing changes), with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.rule import Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "OFF-UPD-1",
        "update writes memory: the first write unconditionally, later ones over the old value, or as the larger "
        "of both when increase-only; no queue, no effect.",
        "RemoteBrokerOffsetStore#updateOffset @ 4.0.0, 5.5.0; LocalFileOffsetStore#updateOffset @ 4.0.0, 5.5.0",
        quirk="there is no queue",
    ),
    Rule(
        "OFF-FRZ-1",
        "A frozen entry keeps its value: updates and refreshes from the broker are ignored until it is removed; "
        "freezing again sets the new value.",
        "ControllableOffset#update, #updateAndFreeze @ 5.2.0, 5.5.0",
        releases="5.2.0+",
    ),
    Rule(
        "OFF-VAL-1",
        "Reading the offset of no queue gives -3; up to 4.9.8 and in the local store -1.",
        "RemoteBrokerOffsetStore#readOffset @ 4.9.8, 5.5.0; LocalFileOffsetStore#readOffset @ 5.5.0",
        quirk="there is no queue",
    ),
    Rule(
        "OFF-R-CLONE",
        "clone copies the entries of one topic, of all topics when the topic is blank.",
        "RemoteBrokerOffsetStore#cloneOffsetTable @ 4.0.0, 5.5.0",
    ),
)

#: Where a read looks.
MEMORY, STORE, MEMORY_THEN_STORE = "memory", "store", "memory-then-store"

Memory = Mapping[int, int]
Frozen = frozenset[int]
#: Members of a group freeze nothing.
UNFROZEN: Frozen = frozenset()


NO_QUEUE_READ = Reason(("OFF-VAL-1",), "no queue", quirk=True)
_UPDATE = {
    "no queue": Reason(("OFF-UPD-1",), "no queue", quirk=True),
    **reasons_by_kind(("OFF-UPD-1",), "first", "plain", "raised", "kept"),
}
_FREEZE = reasons_by_kind(("OFF-FRZ-1",), "no queue", "freeze", "freeze again", "update ignored")
_CLONE = reasons_by_kind(("OFF-R-CLONE",), "all topics", "one topic")


def updated(memory: Memory, frozen: Frozen, queue: int, offset: int, increase_only: bool) -> tuple[Memory, Reason]:
    """OFF-UPD-1."""
    if queue == NO_QUEUE:
        return memory, _UPDATE["no queue"]
    old = memory.get(queue)
    if old is None:
        why = _UPDATE["first"]
    elif queue in frozen:
        return memory, _FREEZE["update ignored"]
    elif increase_only:
        if offset <= old:
            return memory, _UPDATE["kept"]
        why = _UPDATE["raised"]
    else:
        why = _UPDATE["plain"]
    return {**memory, queue: offset}, why


def with_frozen(memory: Memory, frozen: Frozen, queue: int, offset: int) -> tuple[Memory, Frozen, Reason]:
    """OFF-FRZ-1."""
    if queue == NO_QUEUE:
        return memory, frozen, _FREEZE["no queue"]
    why = _FREEZE["freeze again" if queue in frozen else "freeze"]
    return {**memory, queue: offset}, frozen | {queue}, why


def without(memory: Memory, frozen: Frozen, queue: int, reasons: Mapping[str, Reason]) -> tuple[Memory, Frozen, Reason]:
    """The entry, frozen or not, is forgotten: reason "entry", "frozen entry" or "no entry" of the store's own."""
    if queue not in memory:
        return memory, frozen, reasons["no entry"]
    why = reasons["frozen entry" if queue in frozen else "entry"]
    left = {**memory}
    del left[queue]
    return left, frozen - {queue}, why


def cloned(memory: Memory, topic: str, topology: Topology) -> tuple[tuple[tuple[int, int], ...], Reason]:
    """OFF-R-CLONE: sorted (queue, offset) pairs."""
    if not topic:
        return tuple(sorted(memory.items())), _CLONE["all topics"]
    pairs = [pair for pair in memory.items() if topology.topic_of[pair[0]] == topic]
    return tuple(sorted(pairs)), _CLONE["one topic"]
