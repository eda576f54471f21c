"""POP_MESSAGE: where a group starts in a queue, what it is handed out, and where its stored offset goes (POP-*).

With POP the broker decides: a request names a topic and a queue, or all of them, and no offset. The broker begins at
the offset that the group has stored, or at one of its own choice. It hands out messages from there on, and moves the
stored offset behind them at once, long before anything is acknowledged.

These are the rules of check points in a topic of their own, the default of every release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.broker.admin import pop_retry_topic
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pull import (
    MESSAGE_WAS_REMOVING,
    NO_MATCHED_MESSAGE,
    OFFSET_OVERFLOW_BADLY,
    OFFSET_TOO_SMALL,
    PullMessageRequest,
    read_queue,
)
from rocketmq_conformance.models.broker.reset import without_pending
from rocketmq_conformance.models.broker.state import ABSENT, READ, RETRY, BrokerState, QueueLog
from rocketmq_conformance.models.broker.subscription import StoredEntry, TagCodes
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Level, Reason, Rule, reasons_by_kind

_POPPED = "PopMessageProcessor#popMsgFromQueue"
RULES = (
    Rule(
        "POP-CHECK",
        "A pop is refused, in this order: NO_PERMISSION where the broker may not be read, an error for more than 32 "
        "messages, SYSTEM_ERROR from 5.1.1 without a timer wheel, TOPIC_NOT_EXIST, NO_PERMISSION for a topic that may "
        "not be read, an error for a queue beyond those read, SUBSCRIPTION_GROUP_NOT_EXIST, NO_PERMISSION for a "
        "disabled group. The two errors are SYSTEM_ERROR, from 5.3.2 INVALID_PARAMETER.",
        "PopMessageProcessor#processRequest @ 5.0.0, 5.1.1, 5.3.2, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-START-1",
        "A pop begins at the offset that the group has stored, whatever initMode asks for; a negative one counts as "
        "none.",
        "PopMessageProcessor#getPopOffset @ 5.0.0, 5.1.4, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-START-3",
        "Without a stored offset, a pop whose initMode is MIN (0) begins at the smallest offset of the queue.",
        "PopMessageProcessor#getPopOffset @ 5.0.0, 5.1.4, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-START-4",
        "Without a stored offset, a pop with any other initMode begins at the last message, one before the largest "
        "offset, or at 0 when there is none.",
        "PopMessageProcessor#getPopOffset @ 5.0.0, 5.1.4, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-START-5",
        "From 5.1.4 such a pop begins at 0 instead, when the smallest offset is 0 or less and message 0 is taken to be "
        "in memory.",
        "PopMessageProcessor#getInitOffset @ 5.1.4, 5.3.3",
        releases="5.1.4+",
        level=Level.SHOULD,
        needs="initPopOffsetByCheckMsgInMem, the default",
    ),
    Rule(
        "POP-START-6",
        "The offset where a group begins is stored before anything is read; up to 5.3.0 not with initMode MIN, so that "
        "a pop that finds nothing leaves no offset behind.",
        "PopMessageProcessor#getPopOffset @ 5.0.0, 5.3.0; PopMessageProcessor#getInitOffset @ 5.1.4, 5.3.1, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-START-7",
        "In a retry topic a pop begins at the smallest offset whatever its initMode, from 5.3.1 on.",
        "PopMessageProcessor#getInitOffset @ 5.3.0, 5.3.1, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-START-8",
        "A pop from below the smallest offset or beyond the largest one is corrected to that, which is stored, and "
        "read from there in the same request. The startOffsetInfo of its answer has the offset before the "
        "correction, in 5.0.0 the one after it.",
        f"{_POPPED} @ 5.0.0, 5.1.0, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-START-14",
        "A pop from queue -1 takes messages of every queue until it has as many as it asks for, beginning with any "
        "queue: how many come from which one is not compared unless it asks for all.",
        "PopMessageProcessor#processRequest @ 5.1.0; PopMessageProcessor#popMsgFromTopic @ 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-MOVE-1",
        "The stored offset becomes the end of the pop as soon as it is answered, without any acknowledgement.",
        f"{_POPPED}, PopBufferMergeService#scanCommitOffset @ 5.0.0, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
        needs="enablePopBufferMerge off, the default",
    ),
    Rule(
        "POP-MOVE-4",
        "Messages that do not pass the filter of a pop are passed over for good: the stored offset goes behind all "
        "that were looked at, even when the pop found nothing.",
        f"{_POPPED}, PopBufferMergeService#addCkMock @ 5.0.0, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-NONE",
        "A pop that finds nothing and may not wait (pollTime 0) is answered POLLING_TIMEOUT.",
        "PopMessageProcessor#processRequest @ 5.0.0, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-RESET-2",
        "A pop takes a pending reset away: it begins there, and that offset is stored.",
        "PopMessageProcessor#resetPopOffset @ 5.1.0, 5.3.3",
        releases="5.1.0+",
        level=Level.SHOULD,
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
)

#: Values of initMode (``ConsumeInitMode``); every other value counts as MAX.
MIN, MAX = 0, 1
#: Most messages of one pop.
MOST = 32

NOTHING = Err("POLLING_TIMEOUT")
NO_PERMISSION = Err("NO_PERMISSION")
NO_TOPIC = Err("TOPIC_NOT_EXIST")
NO_GROUP = Err("SUBSCRIPTION_GROUP_NOT_EXIST")
SYSTEM_ERROR = Err("SYSTEM_ERROR")
_BAD = {False: SYSTEM_ERROR, True: Err("INVALID_PARAMETER")}

_CHECK = reasons_by_kind(
    ("POP-CHECK",),
    *("a broker that may not be read", "more than 32 messages", "no timer wheel", "unknown topic"),
    *("no permission to read", "no such queue", "unknown group", "disabled group"),
)


class PopRequest(NamedTuple):
    """One pop: of a queue, or of all queues (-1), of so many messages at most."""

    group: str
    topic: str
    queue: int
    most: int = MOST
    mode: int = MAX


class Taken(NamedTuple):
    """What one queue gives to a pop: the offset that the answer says it begins at, and those of the messages."""

    topic: str
    queue: int
    start: int
    offsets: tuple[int, ...]


class Begun(NamedTuple):
    """Where a pop begins, whether that is stored, and by which rules."""

    offset: int
    stored: bool
    rules: tuple[str, ...]
    kind: str


#: What filters look at of the retained messages of a queue.
Entries = Callable[[str, int], Sequence[StoredEntry]]


def pop(
    rules: BrokerRules, state: BrokerState, request: PopRequest, codes: TagCodes, entries: Entries
) -> Answer[BrokerState]:
    """What is handed out, a tuple of ``Taken`` for each queue that gives some; the error of the first check that
    fails, or ``NOTHING``. All queues are walked from 0 on."""
    refused = refused_pop(rules, state, request)
    if refused is not None:
        return state, *refused
    found: list[Taken] = []
    left = request.most
    if request.queue >= 0:
        state, taken, why = pop_queue(rules, state, request, codes, entries)
        left -= 0 if taken is None else len(taken.offsets)
        state, again = pop_again(rules, state, request, left, entries)
        found = [one for one in (taken, again) if one is not None]
        return state, tuple(found) or NOTHING, why if again is None else _AGAIN
    for queue in range(state.topics[request.topic].read_queues):
        state, taken, _ = pop_queue(rules, state, request._replace(queue=queue, most=left), codes, entries)
        if taken is not None:
            found.append(taken)
            left -= len(taken.offsets)
    state, again = pop_again(rules, state, request, left, entries)
    if again is not None:
        found.append(again)
    return state, tuple(found) or NOTHING, _ALL["some" if found else "none"]


def pop_again(
    rules: BrokerRules, state: BrokerState, request: PopRequest, left: int, entries: Entries
) -> tuple[BrokerState, Taken | None]:
    """What the retry topic gives to a pop that may have so many messages more, whichever queue it is of."""
    topic = pop_retry_topic(request.group, request.topic)
    if topic not in state.topics or left <= 0:
        return state, None
    asked = request._replace(topic=topic, queue=0, most=left)
    state, taken, _ = pop_queue(rules, state, asked, None, entries)
    return state, taken


_AGAIN = Reason(("POP-BACK",), "with messages that came back")
_ALL = {
    "some": Reason(("POP-START-14", "POP-MOVE-1"), "all queues"),
    "none": Reason(("POP-START-14", "POP-NONE"), "all queues, nothing"),
}


def refused_pop(rules: BrokerRules, state: BrokerState, request: PopRequest) -> tuple[Err, Reason] | None:
    """POP-CHECK: the error of the first check that fails."""
    settings = state.topics.get(request.topic)
    if not rules.readable:
        return NO_PERMISSION, _CHECK["a broker that may not be read"]
    if request.most > MOST:
        return _BAD[rules.invalid_parameter], _CHECK["more than 32 messages"]
    if rules.pop_needs_timers:
        return SYSTEM_ERROR, _CHECK["no timer wheel"]
    if settings is None:
        return NO_TOPIC, _CHECK["unknown topic"]
    if not settings.perm & READ:
        return NO_PERMISSION, _CHECK["no permission to read"]
    if request.queue >= settings.read_queues:
        return _BAD[rules.invalid_parameter], _CHECK["no such queue"]
    if request.group not in state.groups:
        return NO_GROUP, _CHECK["unknown group"]
    if request.group in state.disabled:
        return NO_PERMISSION, _CHECK["disabled group"]
    return None


def pop_queue(
    rules: BrokerRules, state: BrokerState, request: PopRequest, codes: TagCodes, entries: Entries
) -> tuple[BrokerState, Taken | None, Reason]:
    """What one queue gives to a pop, if anything."""
    group, topic, queue, most, mode = request
    key = (group, topic, queue)
    log = state.logs.get((topic, queue), ABSENT)
    begun = begin(rules, state, key, mode)
    if begun.stored:
        state = _store(without_pending(state, key), key, begun.offset)
    if most <= 0:
        return state, None, _why(begun, "no message asked for", "POP-NONE")
    offset, corrected = begun.offset, ""
    how: tuple[str, ...] = ()
    status, following, found, _ = _read(rules, log, request, offset, codes, entries)
    if status in {OFFSET_TOO_SMALL, OFFSET_OVERFLOW_BADLY}:
        corrected, how = "corrected to min, " if status == OFFSET_TOO_SMALL else "corrected to max, ", ("POP-START-8",)
        offset = following
        state = _store(state, key, offset)
        status, following, found, _ = _read(rules, log, request, offset, codes, entries)
    filtered = codes is not None
    if found:
        start = offset if rules.pop_names_corrected else begun.offset
        kind = f"{corrected}{'filtered' if filtered else 'found'}"
        why = _why(begun, kind, *how, "POP-MOVE-1", *(("POP-MOVE-4",) if filtered else ()))
        return _store(state, key, following), Taken(topic, queue, start, found), why
    if status in {NO_MATCHED_MESSAGE, MESSAGE_WAS_REMOVING}:
        return _store(state, key, following), None, _why(begun, f"{corrected}none passed", *how, "POP-MOVE-4")
    return state, None, _why(begun, f"{corrected}nothing there", *how, "POP-NONE")


def begin(rules: BrokerRules, state: BrokerState, key: tuple[str, str, int], mode: int) -> Begun:
    """POP-START-*: where a pop begins."""
    pending = state.pending.get(key)
    if pending is not None:
        return Begun(pending, True, ("POP-RESET-2",), "reset")
    stored = state.stored.get(key)
    if stored is not None and stored >= 0:
        return Begun(stored, False, ("POP-START-1",), "stored")
    _, topic, queue = key
    log = state.logs.get((topic, queue), ABSENT)
    negative, also = ("", ()) if stored is None else ("negative stored, ", ("POP-START-1",))
    retry = topic.startswith(RETRY)
    if mode == MIN:
        return Begun(log.min, rules.pop_stores_min, ("POP-START-3", "POP-START-6", *also), f"{negative}MIN")
    if retry and rules.pop_retries_from_min:
        return Begun(log.min, True, ("POP-START-7", "POP-START-6", *also), f"{negative}MAX, retry topic")
    where = "MAX, retry topic" if retry else "MAX"
    also = ("POP-START-7", *also) if retry else also
    if rules.pop_checks_memory and _begins_in_memory(rules, log):
        return Begun(0, True, ("POP-START-5", "POP-START-6", *also), f"{negative}{where}, message 0 in memory")
    where = where if log.max else f"{where}, empty"
    return Begun(max(log.max - 1, 0), True, ("POP-START-4", "POP-START-6", *also), f"{negative}{where}")


def _begins_in_memory(rules: BrokerRules, log: QueueLog) -> bool:
    return log.min <= 0 and log.first == 0 and bool(log.times) and (log.hot or rules.always_resident)


def _read(
    rules: BrokerRules, log: QueueLog, request: PopRequest, offset: int, codes: TagCodes, entries: Entries
) -> tuple[str, int, tuple[int, ...], Reason]:
    asked = PullMessageRequest(request.group, request.topic, request.queue, offset, request.most)
    return read_queue(rules, log, asked, codes, entries(request.topic, request.queue))


def _store(state: BrokerState, key: tuple[str, str, int], offset: int) -> BrokerState:
    return state._replace(stored={**state.stored, key: offset})


def _why(begun: Begun, kind: str, *rules: str) -> Reason:
    return _reason((*begun.rules, *rules), f"{begun.kind}, {kind}")


@cache
def _reason(rules: tuple[str, ...], kind: str) -> Reason:
    """One object for each."""
    return Reason(tuple(dict.fromkeys(rules)), kind)
