"""Bounds and search by time: GET_MIN_OFFSET, GET_MAX_OFFSET, SEARCH_OFFSET_BY_TIMESTAMP, GET_EARLIEST_MSG_STORETIME.

Up to 5.1.0 a search finds the message *nearest* in time (of two equally near ones the older), and past the end
the last message. From 5.1.1 it finds a boundary: LOWER is the first message not older than the time asked for,
max when there is none; UPPER, which takes effect from 5.1.4 on, is the last message not newer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import ABSENT, FILE_ENTRIES, BrokerState, QueueLog
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-STORE-MAX",
        "max is the offset that the next message gets; 0 for a queue that was never written or does not exist.",
        "DefaultMessageStore#getMaxOffsetInQueue, AdminBrokerProcessor#getMaxOffset @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-STORE-MIN",
        "min is the offset of the first retained message; 0 for a queue that was never written or does not exist.",
        "DefaultMessageStore#getMinOffsetInQueue, AdminBrokerProcessor#getMinOffset @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-TIME-1",
        "Up to 5.1.0 a search answers the message nearest in time, the older of two equally near ones, any of "
        "several equal ones (the one that the halving hits), and the last message for any later time; an empty "
        "queue answers 0.",
        "ConsumeQueue#getOffsetInQueueByTime @ 4.9.7, 5.1.0",
        releases="up to 5.1.0",
    ),
    Rule(
        "BQ-TIME-FILE",
        "Up to 5.1.0 a search looks at one file of the queue's entries only: the first one that was changed at or "
        "after the time asked for, by the file system, else the last one. From 5.1.1 the messages' own store times "
        "choose it, and files make no difference.",
        "MappedFileQueue#getMappedFileByTime @ 4.0.0, 4.9.7, 5.1.0, 5.1.1; #getConsumeQueueMappedFileByTime @ 5.1.1",
        releases="up to 5.1.0",
    ),
    Rule(
        "BQ-TIME-CLAMP",
        "From 5.0.0-ALPHA the result of a search lies in [min, max]; before, a queue whose messages all expired "
        "answers 0 whatever its min.",
        "DefaultMessageStore#getOffsetInQueueByTime @ 4.9.7, 5.0.0",
        releases="up to 5.1.0",
    ),
    Rule(
        "BQ-TIME-2",
        "From 5.1.1 LOWER answers the first message not older than the time, max when all are older; UPPER the last "
        "message not newer, min when all are newer; the result is clamped to [min, max].",
        "ConsumeQueue#binarySearchInQueueByTime @ 5.1.1, 5.5.0",
        releases="5.1.1+",
    ),
    Rule(
        "BQ-TIME-3",
        "The request's boundary type is honoured from 5.1.4; until then every search is LOWER, or nearest.",
        "AdminBrokerProcessor#searchOffsetByTimestamp @ 5.1.1, 5.1.4",
    ),
    Rule(
        "BQ-EARLIEST-1",
        "The earliest store time is that of the message at min, -1 when there is none.",
        "DefaultMessageStore#getEarliestMessageTime, AdminBrokerProcessor#getEarliestMsgStoretime @ 4.9.7, 5.5.0",
    ),
)

LOWER, UPPER = "lower", "upper"

_MAX = {kind: Reason(("BQ-STORE-MAX",), kind) for kind in ("absent", "retained", "all expired")}
_MIN = {
    "absent": Reason(("BQ-STORE-MIN",), "absent"),
    "young": Reason(("BQ-STORE-MIN",), "young"),
    "head expired": Reason(("BQ-STORE-MIN", "BQ-MIN-1"), "head expired"),
    "all expired": Reason(("BQ-STORE-MIN", "BQ-MIN-3"), "all expired"),
    "stale": Reason(("BQ-STORE-MIN", "BQ-MIN-2"), "min does not follow"),
}
_KINDS = ("empty", "before first", "after last", "exact", "equal times", "between")
_NEAREST = {kind: Reason(("BQ-TIME-1",), kind) for kind in _KINDS}
_NEAREST["empty"] = Reason(("BQ-TIME-1", "BQ-TIME-CLAMP"), "empty")
_NEAREST_BOUNDARY_IGNORED = {
    kind: Reason((*why.rules, "BQ-TIME-3"), f"upper ignored, {kind}") for kind, why in _NEAREST.items()
}
_IN_FILE = {
    boundary: reasons_by_kind(
        ("BQ-TIME-FILE", "BQ-TIME-1", *more), *(f"{boundary}file {place}" for place in ("first", "last", "between"))
    )
    for boundary, more in (("", ()), ("upper ignored, ", ("BQ-TIME-3",)))
}
_LOWER = {kind: Reason(("BQ-TIME-2",), f"lower, {kind}") for kind in _KINDS}
_UPPER = {kind: Reason(("BQ-TIME-2", "BQ-TIME-3"), f"upper, {kind}") for kind in _KINDS}
_BOUNDARY_IGNORED = {kind: Reason(("BQ-TIME-2", "BQ-TIME-3"), f"upper ignored, {kind}") for kind in _KINDS}
_EARLIEST = {kind: Reason(("BQ-EARLIEST-1",), kind) for kind in ("none", "first retained")}


def max_offset(state: BrokerState, topic: str, queue: int) -> Answer[BrokerState]:
    """BQ-STORE-MAX, in messages."""
    log = state.logs.get((topic, queue), ABSENT)
    return state, log.max, _MAX["retained" if log.times else "all expired" if log.first else "absent"]


def min_offset(state: BrokerState, topic: str, queue: int) -> Answer[BrokerState]:
    """BQ-STORE-MIN, in messages."""
    log = state.logs.get((topic, queue), ABSENT)
    if not log.first:
        return state, log.min, _MIN["young" if log.times else "absent"]
    if log.min != log.first:
        return state, log.min, _MIN["stale"]
    return state, log.min, _MIN["head expired" if log.times else "all expired"]


def earliest_time(state: BrokerState, topic: str, queue: int) -> Answer[BrokerState]:
    """BQ-EARLIEST-1, in ms since the epoch."""
    log = state.logs.get((topic, queue), ABSENT)
    if not log.times or log.min != log.first:
        return state, -1, _EARLIEST["none"]
    return state, log.times[0], _EARLIEST["first retained"]


def instant(log: QueueLog, message: int, delta: int, origin: int) -> int:
    """The time (ms since the epoch) that lies ``delta`` ms from a retained message.

    ``message`` counts retained messages from 0; -1 is the last one, and a number without message means the last one.
    Without any message the time is counted from ``origin``.
    """
    if not log.times:
        return origin + delta
    return log.times[min(message, len(log.times) - 1)] + delta


def search(
    rules: BrokerRules, state: BrokerState, topic: str, queue: int, timestamp: int, boundary: str = LOWER
) -> Answer[BrokerState]:
    """The offset that a time (ms since the epoch) leads to."""
    log = state.logs.get((topic, queue), ABSENT)
    times = log.times
    kind = _kind(times, timestamp)
    if not rules.boundary_search:
        why = _NEAREST_BOUNDARY_IGNORED if boundary == UPPER else _NEAREST
        if not times:
            return state, log.min if rules.clamped_search else 0, why["empty"]
        if log.written:
            return _in_file(state, log, timestamp, boundary)
        return state, _nearest(log, timestamp, log.min, log.max), why[kind]
    upper = boundary == UPPER and rules.honours_boundary
    why = _UPPER if upper else _BOUNDARY_IGNORED if boundary == UPPER else _LOWER
    found = bisect_right(times, timestamp) - 1 if upper else bisect_left(times, timestamp)
    return state, min(max(log.first + found, log.min), log.max), why[kind]


def _kind(times: tuple[int, ...], timestamp: int) -> str:
    if not times:
        return "empty"
    if timestamp < times[0]:
        return "before first"
    if timestamp > times[-1]:
        return "after last"
    same = bisect_right(times, timestamp) - bisect_left(times, timestamp)
    return "between" if not same else "exact" if same == 1 else "equal times"


def _in_file(state: BrokerState, log: QueueLog, timestamp: int, boundary: str) -> Answer[BrokerState]:
    """BQ-TIME-FILE: the search in a queue of several files, each of which retains something."""
    last = len(log.written) - 1
    at = next((at for at, changed in enumerate(log.written) if changed >= timestamp), last)
    place = "first" if not at else "last" if at == last else "between"
    ignored = "upper ignored, " if boundary == UPPER else ""
    start, end = FILE_ENTRIES * at, min(log.max, FILE_ENTRIES * (at + 1))
    return state, _nearest(log, timestamp, max(log.min, start), end), _IN_FILE[ignored][f"{ignored}file {place}"]


def _nearest(log: QueueLog, timestamp: int, start: int, end: int) -> int:
    """The offset that the old binary search ends at, among the entries from ``start`` to before ``end``, some of which
    are retained.

    It halves them, expired ones included: which of several equal messages it hits depends on the range it started with.
    """
    first, times = log.first, log.times
    low, high = start, end - 1
    while low <= high:
        middle = (low + high) // 2
        if middle < first or times[middle - first] < timestamp:
            low = middle + 1
        elif times[middle - first] == timestamp:
            return middle
        else:
            high = middle - 1
    # high is the last older message, low the first newer one
    if high < max(first, start):
        return low
    if low >= end:
        return high
    return high if timestamp - times[high - first] <= times[low - first] - timestamp else low
