"""The contents of a process queue: messages that were pulled and are not done with (PQ-*).

A process queue keeps its messages in a tree by their offsets in the queue. Two numbers are kept beside it: how many
messages there are, and the bytes of their bodies. Flow control depends on these: when they drift, pulling stops, or too
much is pulled.

``top`` is the offset of the message that was put in last as a new one. An emptied queue commits it (plus one), and it
is the largest offset only as long as messages come in order.

Orderly listeners *take* messages out of the tree, lowest first, into a second tree, until they are committed or put
back. Messages there are still counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.outcome import Err, Value
from rocketmq_conformance.models.rule import Reason, Rule, accident

RULES = (
    Rule(
        "PQ-1",
        "Putting messages into a process queue inserts them by their offsets. An offset that is there already gets the "
        "new message and is not counted again; the last one that is new becomes the top, be it the largest or not. "
        "Answers whether consumption is to be started: something is there, and none was under way.",
        "ProcessQueue#putMessage @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "PQ-BODY",
        "A message without a body counts 0 bytes. Before 5.3.2 putting one that is new fails in the middle: it is in "
        "the tree and not counted. So does removing one: no other message of the list is removed, no count changes, "
        "and the queue commits the top all the same.",
        "ProcessQueue#putMessage, #removeMessage, #commit @ 4.0.0, 4.2.0, 5.3.1, 5.3.2",
        quirk="a new one is put, or one is removed or committed, before 5.3.2",
    ),
    Rule(
        "PQ-2",
        "Removing messages from a process queue that holds none answers -1. Otherwise the offset to commit: the "
        "smallest that is left, or the top plus one when none is.",
        "ProcessQueue#removeMessage @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "PQ-SIZE",
        "The bytes of a process queue change by the body of the message that is removed, not of the one in the tree. "
        "A drift ends when no message is left in 4.9.8 and from 5.2.0 on, else never. 4.0.0 and 4.1.0 count no bytes.",
        "ProcessQueue#removeMessage, #commit @ 4.1.0, 4.2.0, 4.9.7, 4.9.8, 5.1.4, 5.2.0",
        quirk="a message had another size than the one in its place",
    ),
    Rule(
        "PQ-3",
        "Taking moves the lowest messages aside, and ends consumption when there are none. A commit forgets all that "
        "is aside and answers the largest of their offsets plus one; with nothing aside it fails. A rollback puts all "
        "of them back, making messages consumed again the given ones; what is aside stays counted.",
        "ProcessQueue#takeMessags, #makeMessageToCosumeAgain @ 4.0.0; #takeMessages, "
        "#makeMessageToConsumeAgain @ 4.9.8, 5.5.0; #commit, #rollback @ 4.0.0, 4.9.8, 5.5.0",
    ),
)

#: The error of a commit for want of messages or of a body.
FAILED = Err("RUNTIME")


class CachedMessage(NamedTuple):
    """A message as the client holds it."""

    #: Distinguishes two messages with the same offset: one was pulled after the other.
    serial: int
    queue: int
    offset: int
    #: Bytes of the body; 0 for none.
    size: int
    #: Number of tries so far.
    times: int
    #: When a listener began with it, ms of the case's clock; None before.
    began: int | None = None


MessageTree = Mapping[int, CachedMessage]
_EMPTY: MessageTree = {}


class ProcessQueueContents(NamedTuple):
    """One process queue."""

    queue: int
    dropped: bool = False
    tree: MessageTree = _EMPTY
    #: Messages that an orderly listener has taken.
    taken: MessageTree = _EMPTY
    #: Was consumption started?
    consuming: bool = False
    total: int = 0
    size: int = 0
    top: int = 0
    #: Has it met two messages of different sizes in one place? Then its bytes are Java's bookkeeping (PQ-SIZE).
    odd: bool = False


_PUT = {
    (new, dispatch): Reason(("PQ-1",), f"{new}, {'starts' if dispatch else 'no start'}")
    for new in ("new", "some known", "all known", "below the top")
    for dispatch in (True, False)
}
_NO_BODY = Reason(("PQ-1", "PQ-BODY"), "no body", quirk=True)


def with_odd_bytes(why: Reason, cached: ProcessQueueContents) -> Reason:
    """The reason of an answer with the counts of a process queue: are its bytes an accident of Java?"""
    return accident(why, "bytes") if cached.odd else why


@cache
def broken_by_body(why: Reason) -> Reason:
    """The reason of an answer where messages are removed until one without a body is met (PQ-BODY)."""
    return Reason(tuple(dict.fromkeys((*why.rules, "PQ-BODY"))), why.kind, quirk=True)


def flow_control_counts(rules: ClientRules, cached: ProcessQueueContents) -> tuple[Value, ...]:
    """The counts for flow control: messages, bytes (None: not counted), span of offsets, and whether any is there."""
    tree = cached.tree
    size = cached.size if rules.counts_bytes else None
    if not tree:
        return cached.total, size, 0, False
    return cached.total, size, max(tree) - min(tree), True


def put(
    rules: ClientRules, cached: ProcessQueueContents, messages: Sequence[CachedMessage]
) -> tuple[ProcessQueueContents, bool | None, Reason]:
    """PQ-1: is consumption to be started? None when it fails."""
    queue, dropped, known, taken, consuming, total, size, top, odd = cached
    tree = {**known}
    new = 0
    kind = "new"
    for message in messages:
        offset = message.offset
        if offset in tree:
            odd |= tree[offset].size != message.size
            tree[offset] = message
            continue
        tree[offset] = message
        new += 1
        if offset < top:
            kind = "below the top"
        top = offset
        if _fails(rules, message):
            return ProcessQueueContents(queue, dropped, tree, taken, consuming, total, size, top, odd), None, _NO_BODY
        size += message.size
    if new < len(messages):
        kind = "some known" if new else "all known"
    starts = not consuming
    after = ProcessQueueContents(queue, dropped, tree, taken, True, total + new, size, top, odd)
    return after, starts, with_odd_bytes(_PUT[kind, starts], after)


def remove(
    rules: ClientRules, cached: ProcessQueueContents, messages: Sequence[CachedMessage]
) -> tuple[ProcessQueueContents, int, bool]:
    """PQ-2: the offset to commit, -1 for none, and whether it fails in the middle (PQ-BODY)."""
    queue, dropped, known, taken, consuming, total, size, top, odd = cached
    if not known:
        return cached, -1, False
    tree = {**known}
    removed = 0
    for message in messages:
        gone = tree.pop(message.offset, None)
        if gone is not None:
            if _fails(rules, message):
                after = ProcessQueueContents(queue, dropped, tree, taken, consuming, total, size, top, odd)
                return after, top + 1, True
            removed += 1
            size -= message.size
            odd |= gone.size != message.size
    total -= removed
    if total == 0 and rules.resets_bytes:
        size, odd = 0, False
    after = ProcessQueueContents(queue, dropped, tree, taken, consuming, total, size, top, odd)
    return after, min(tree) if tree else top + 1, False


def _fails(rules: ClientRules, message: CachedMessage) -> bool:
    """PQ-BODY: are the bytes of a message counted that has no body?"""
    return message.size == 0 and rules.counts_bytes and not rules.allows_no_body


def take(cached: ProcessQueueContents, most: int) -> tuple[ProcessQueueContents, tuple[CachedMessage, ...]]:
    """PQ-3: the lowest messages, ``most`` of them."""
    queue, dropped, tree, taken, consuming, total, size, top, odd = cached
    if not tree:
        return ProcessQueueContents(queue, dropped, tree, taken, False, total, size, top, odd), ()
    lowest = sorted(tree)[:most]
    messages = tuple([tree[offset] for offset in lowest])
    left = {offset: message for offset, message in tree.items() if offset not in lowest}
    aside = {**taken, **{message.offset: message for message in messages}}
    return ProcessQueueContents(queue, dropped, left, aside, consuming, total, size, top, odd), messages


def commit(rules: ClientRules, cached: ProcessQueueContents) -> tuple[ProcessQueueContents, int | None]:
    """PQ-3: the offset to commit; None when it fails."""
    queue, dropped, tree, taken, consuming, total, size, top, odd = cached
    if not taken:
        return cached, None
    total -= len(taken)
    if total == 0 and rules.resets_bytes:
        size, odd = 0, False
    else:
        for offset in sorted(taken):
            if _fails(rules, taken[offset]):
                return ProcessQueueContents(queue, dropped, tree, taken, consuming, total, size, top, odd), None
            size -= taken[offset].size
    return ProcessQueueContents(queue, dropped, tree, _EMPTY, consuming, total, size, top, odd), max(taken) + 1


def rollback(cached: ProcessQueueContents) -> ProcessQueueContents:
    """PQ-3: all taken messages are put back."""
    return put_back(cached, [*cached.taken.values()])


def put_back(cached: ProcessQueueContents, messages: Sequence[CachedMessage]) -> ProcessQueueContents:
    """PQ-3: these messages are put back."""
    given = {message.offset: message for message in messages}
    taken = {offset: message for offset, message in cached.taken.items() if offset not in given}
    odd = any(offset in given and given[offset].size != there.size for offset, there in cached.tree.items())
    return cached._replace(tree={**cached.tree, **given}, taken=taken, odd=cached.odd or odd)


def cleared(cached: ProcessQueueContents) -> ProcessQueueContents:
    """All messages are forgotten, as when the group's offsets are reset; a running listener goes on."""
    return ProcessQueueContents(cached.queue, cached.dropped, consuming=cached.consuming)


def with_newer(cached: ProcessQueueContents, messages: Sequence[CachedMessage]) -> ProcessQueueContents:
    """The cached messages replaced by newer states of them; one that was pulled again is another message."""
    queue, dropped, tree, taken, consuming, total, size, top, odd = cached
    found: dict[int, CachedMessage] = {}
    for message in messages:
        there = tree.get(message.offset)
        if there is not None and there.serial == message.serial:
            found[message.offset] = message
    return ProcessQueueContents(queue, dropped, {**tree, **found}, taken, consuming, total, size, top, odd)


def dropped(cached: ProcessQueueContents) -> ProcessQueueContents:
    """Another member owns the queue now."""
    return cached._replace(dropped=True)
