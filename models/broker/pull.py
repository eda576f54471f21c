"""PULL_MESSAGE: its checks, the messages that a pull finds, and the offset to go on at (BQ-PULL-*).

A pull asks for messages of one queue from an offset on. The store classifies the offset, and this *status* decides the
response code and the offset to pull from next:

======================  =========================  ========================  ==============================
status                  when                       next offset               response
======================  =========================  ========================  ==============================
NO_MESSAGE_IN_QUEUE     max is 0                   0                         PULL_NOT_FOUND for offset 0,
                                                                             else PULL_OFFSET_MOVED
OFFSET_TOO_SMALL        below min                  min                       PULL_OFFSET_MOVED
OFFSET_OVERFLOW_ONE     exactly max                the same                  PULL_NOT_FOUND
OFFSET_OVERFLOW_BADLY   beyond max                 max (0 in old brokers)    PULL_OFFSET_MOVED
OFFSET_RESET            a reset is pending         what it was reset to      PULL_OFFSET_MOVED
OFFSET_FOUND_NULL       an empty range of RocksDB  0                         PULL_NOT_FOUND
FOUND                   a message fits             after the last one read   SUCCESS
NO_MATCHED_MESSAGE      all filtered out           after the last one read   PULL_RETRY_IMMEDIATELY
MESSAGE_WAS_REMOVING    all gone from the log      after the last one read   PULL_RETRY_IMMEDIATELY
======================  =========================  ========================  ==============================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.reset import without_pending
from rocketmq_conformance.models.broker.slave import NOT_PULLED, refuses_pulls, stores_pulls
from rocketmq_conformance.models.broker.state import ABSENT, READ, BrokerState, QueueLog
from rocketmq_conformance.models.broker.subscription import (
    NO_DATA,
    NO_FILTER,
    OLD_DATA,
    OUTDATED,
    UNREADABLE,
    UNSUBSCRIBED,
    PropertyFilter,
    StoredEntry,
    TagCodes,
    passes_filter,
)
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-PULL-1",
        "A pull is checked, in this order, for its group (SUBSCRIPTION_GROUP_NOT_EXIST), its topic "
        "(TOPIC_NOT_EXIST), its queue id (SYSTEM_ERROR, from 5.3.2 INVALID_PARAMETER) and its subscription.",
        "PullMessageProcessor#processRequest @ 4.9.7, 5.3.2, 5.5.0",
    ),
    Rule(
        "BQ-PULL-READ",
        "A pull of a queue that is not read is refused like one of a queue that does not exist, whatever is stored in "
        "it.",
        "PullMessageProcessor#processRequest @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-PULL-PERM",
        "A pull of a topic without permission to read is refused with NO_PERMISSION once the topic is found, before "
        "the queue id is looked at.",
        "PullMessageProcessor#processRequest @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-PULL-BROKER",
        "A broker that may not be read (brokerPermission without 4) refuses every pull with NO_PERMISSION before it "
        "looks at anything else. Sends are not refused by a broker that may not be written, except to ordered topics.",
        "PullMessageProcessor#processRequest, AbstractSendMessageProcessor#msgCheck @ 4.0.0, 4.9.7, 5.3.3",
        needs="brokerPermission without 4; 6 by default",
    ),
    Rule(
        "BQ-PULL-ENABLE",
        "A pull of a disabled group is refused with NO_PERMISSION before its topic is looked up.",
        "PullMessageProcessor#processRequest @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-PULL-MOST",
        "A maxMsgNums of 0 or less finds one message. Where there is something to read, 4.9.2 to 4.9.8 make room for "
        "as many messages as are asked for: a negative number and 2^31 - 1 fail with SYSTEM_ERROR, and no offset is "
        "stored. With storeType=defaultRocksDB a negative number fails so, and so does 0 from 5.5.0 on; before, 0 "
        "finds none, and the next offset is 0.",
        "DefaultMessageStore#getMessage, GetMessageResult @ 4.9.1, 4.9.2, 4.9.8, 5.0.0-PREVIEW, 5.3.3; "
        "RocksDBConsumeQueueTable#rangeQuery @ 5.3.2, 5.3.3, 5.4.0, 5.5.0",
    ),
    Rule(
        "BQ-PULL-SUB",
        "The subscription is the one in the request if it carries one (SUBSCRIPTION_PARSE_FAILED when it cannot be "
        "read), else the one that the group registered: SUBSCRIPTION_NOT_EXIST without it, SUBSCRIPTION_NOT_LATEST "
        "when the request knows a newer one. Expressions other than tags are refused with SYSTEM_ERROR unless the "
        "broker has enablePropertyFilter; 4.0.0 takes every expression for tags.",
        "PullMessageProcessor#processRequest @ 4.0.0, 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-PULL-FILTER",
        "A pull without a subscription whose group subscribes by another language than tags goes by what the broker "
        "compiled of that: FILTER_DATA_NOT_EXIST without it, FILTER_DATA_NOT_LATEST when the request knows a newer "
        "version, both also where such expressions are not answered. In class filter mode every message passes.",
        "PullMessageProcessor#processRequest, ConsumerFilterManager#get @ 4.1.0, 4.9.7, 5.5.0",
        releases="4.1.0+",
    ),
    Rule(
        "BQ-PULL-BLANK",
        "An expression in a pull whose language is named by an empty field is not split into tags: only * is "
        "everything, and anything else matches no message. Before 4.3.0 such a language is unknown.",
        "FilterAPI#build, ExpressionType#isTagType @ 4.2.0, 4.3.0, 4.9.7, 5.3.3",
        releases="4.1.0+",
    ),
    Rule(
        "BQ-PULL-BROADCAST",
        "A pull without a subscription is refused with NO_PERMISSION when the last heartbeat of its group broadcasts "
        "and the group may not (consumeBroadcastEnable is false), before its subscription is looked for. One that "
        "carries its subscription is not.",
        "PullMessageProcessor#processRequest @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-PULL-TAGS",
        "The broker compares hashes of tags: a message passes when its tag has the same hash as a subscribed one, a "
        "message without tag only when everything is subscribed.",
        "ExpressionMessageFilter#isMatchedByConsumeQueue @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-PULL-NEGATIVE",
        "In 4.1.0 a message whose tag has a negative hash passes every filter.",
        "ExpressionMessageFilter#isMatchedByConsumeQueue @ 4.1.0, 4.2.0",
        releases="4.1.0",
    ),
    Rule(
        "BQ-PULL-STATUS",
        "The store's status follows from the offset, min and max, then from what the messages looked at are; it is "
        "the remark of the answer and decides its response code and next offset.",
        "DefaultMessageStore#getMessage @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-PULL-3",
        "A pull beyond max is sent back to max; up to 4.9.3 and in the 5.0.0 previews to 0 when min is 0, which "
        "reads the whole queue again.",
        "DefaultMessageStore#getMessage @ 4.9.3, 4.9.7, 5.0.0-ALPHA, 5.0.0",
    ),
    Rule(
        "BQ-PULL-7",
        "A pull of messages in memory ends before maxMsgNums, 32 messages or 256 KiB are passed, but never before "
        "the first message; up to 4.1.0 it ends one message earlier. It looks at 800 entries, from 4.1.0 "
        "at maxMsgNums if that is more; at one more from 5.1.0 to 5.3.2; at 16,001 in 5.0.0 and its ALPHA.",
        "DefaultMessageStore#getMessage, #isTheBatchFull @ 4.0.0, 4.1.0, 4.2.0, 5.0.0, 5.1.0, 5.3.2, 5.3.3, 5.5.0",
    ),
    Rule(
        "BQ-PULL-8",
        "A pull that passes the checks and has the commit flag stores its commitOffset whatever it finds, without "
        "any check of it, and only when it first arrives.",
        "PullMessageProcessor#processRequest @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-PULL-9",
        "A pull that passes the checks takes a pending reset away: it finds nothing and is sent to the offset of the "
        "reset. If it has the commit flag, its commitOffset is stored all the same, over the reset.",
        "PullMessageProcessor#processRequest @ 5.1.0, 5.2.0, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
    Rule(
        "BQ-PULL-10",
        "A pull that finds nothing new and may be suspended is held until a message arrives that passes its filter, "
        "or its time is up, and is then judged again; it is held once only.",
        "PullMessageProcessor#processRequest, PullRequestHoldService#notifyMessageArriving @ 4.9.7, 5.5.0",
    ),
)

#: Bits of the request's sysFlag (BQ-PULL-2).
COMMIT, SUSPEND, SUBSCRIPTION, CLASS_FILTER = 1, 2, 4, 8

FOUND = "FOUND"
NO_MATCHED_MESSAGE = "NO_MATCHED_MESSAGE"
MESSAGE_WAS_REMOVING = "MESSAGE_WAS_REMOVING"
NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"
OFFSET_TOO_SMALL = "OFFSET_TOO_SMALL"
OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
OFFSET_RESET = "OFFSET_RESET"
OFFSET_FOUND_NULL = "OFFSET_FOUND_NULL"

_RESPONSES = {
    FOUND: "SUCCESS",
    NO_MATCHED_MESSAGE: "PULL_RETRY_IMMEDIATELY",
    MESSAGE_WAS_REMOVING: "PULL_RETRY_IMMEDIATELY",
    OFFSET_TOO_SMALL: "PULL_OFFSET_MOVED",
    OFFSET_OVERFLOW_ONE: "PULL_NOT_FOUND",
    OFFSET_OVERFLOW_BADLY: "PULL_OFFSET_MOVED",
    OFFSET_RESET: "PULL_OFFSET_MOVED",
    OFFSET_FOUND_NULL: "PULL_NOT_FOUND",
}

#: The largest response: messages and bytes (maxTransfer…OnMessageInMemory).
MAX_MESSAGES, MAX_BYTES = 32, 256 * 1024
#: The same of messages that count as being on disk (accessMessageInMemoryMaxRatio).
DISK_MESSAGES, DISK_BYTES = 8, 64 * 1024
#: No Java array is as long as this, however much memory there is.
_TOO_MANY = 2**31 - 1

NO_GROUP = Err("SUBSCRIPTION_GROUP_NOT_EXIST")
NO_PERMISSION = Err("NO_PERMISSION")
NO_TOPIC = Err("TOPIC_NOT_EXIST")
_BAD_QUEUE = {False: Err("SYSTEM_ERROR"), True: Err("INVALID_PARAMETER")}
NO_ROOM = Err("SYSTEM_ERROR")

_CHECK = {kind: Reason(("BQ-PULL-1",), kind) for kind in ("unknown group", "unknown topic", "no such queue")}
_CHECK["queue not read"] = Reason(("BQ-PULL-1", "BQ-PULL-READ"), "queue not read")
_CHECK["no permission to read"] = Reason(("BQ-PULL-PERM",), "no permission to read")
_NOT_READABLE = Reason(("BQ-PULL-BROKER",), "a broker that may not be read")
_CHECK["disabled group"] = Reason(("BQ-PULL-ENABLE",), "disabled group")
_NO_ROOM = reasons_by_kind(("BQ-PULL-MOST",), "negative", "more than Java can hold", "empty range")
_EMPTY_RANGE = {OFFSET_FOUND_NULL: Reason(("BQ-PULL-STATUS", "BQ-PULL-MOST"), "empty range")}
_SUBSCRIPTION = {
    error: Reason(("BQ-PULL-1", "BQ-PULL-SUB"), kind)
    for error, kind in (
        (UNREADABLE, "unreadable expression"),
        (UNSUBSCRIBED, "not subscribed"),
        (OUTDATED, "newer subscription"),
        (NO_FILTER, "no filter for such expressions"),
    )
}
_SUBSCRIPTION |= {
    error: Reason(("BQ-PULL-1", "BQ-PULL-FILTER"), kind)
    for error, kind in ((NO_DATA, "nothing compiled"), (OLD_DATA, "an older one compiled"))
}
_SUBSCRIPTION[NO_PERMISSION] = Reason(("BQ-PULL-1", "BQ-PULL-BROADCAST"), "broadcasts, and may not")
_STATUS = {
    status: Reason(("BQ-PULL-STATUS",), status)
    for status in (NO_MESSAGE_IN_QUEUE, OFFSET_TOO_SMALL, OFFSET_OVERFLOW_ONE, MESSAGE_WAS_REMOVING)
}
_RESET = {OFFSET_RESET: Reason(("BQ-PULL-9", "BQ-RESET-3"), "reset, not yet sent")}
_OVERFLOW = {
    kind: Reason(("BQ-PULL-STATUS", "BQ-PULL-3"), f"beyond max, {kind}") for kind in ("back to max", "back to 0")
}
_FOUND = {kind: Reason(("BQ-PULL-STATUS", "BQ-PULL-7"), kind) for kind in ("to the end", "batch full", "scan limit")}
_MATCHED = {kind: Reason((*why.rules, "BQ-PULL-TAGS"), f"filtered, {kind}") for kind, why in _FOUND.items()}
_LEAST = {kind: Reason((*why.rules, "BQ-PULL-MOST"), kind) for kind, why in _FOUND.items()}
_NONE_MATCHED = {
    kind: Reason(("BQ-PULL-STATUS", "BQ-PULL-TAGS", "BQ-PULL-7"), f"none matched, {kind}")
    for kind in ("to the end", "scan limit")
}
_SQL = {
    why: Reason(tuple("BQ-SQL-PASS" if rule == "BQ-PULL-TAGS" else rule for rule in why.rules), f"{why.kind} by SQL")
    for why in (*_MATCHED.values(), *_NONE_MATCHED.values())
}


class PullMessageRequest(NamedTuple):
    """One pull. ``commit`` is the offset to store, None when the request has no commit flag or arrives again."""

    group: str
    topic: str
    queue: int
    offset: int
    most: int = 32
    commit: int | None = None


#: The answer to a pull: status, next offset, min, max, offsets of the messages found.
PullResult = tuple[str, int, int, int, tuple[int, ...]]


def response_code(status: str, offset: int, rules: BrokerRules | None = None) -> str:
    """The name of the response code that a status leads to, for the requested offset; ``rules`` are those of a broker
    that may be a slave (SLV-PULL-MOVED)."""
    if status == NO_MESSAGE_IN_QUEUE:
        code = "PULL_OFFSET_MOVED" if offset else "PULL_NOT_FOUND"
    else:
        code = _RESPONSES[status]
    uncorrected = rules is not None and rules.slave and not rules.slave_checks
    return "PULL_RETRY_IMMEDIATELY" if uncorrected and code == "PULL_OFFSET_MOVED" else code


def is_held(code: str, flags: int) -> bool:
    """BQ-PULL-10: does the broker hold a pull that has just arrived, instead of answering ``code``?"""
    return code == "PULL_NOT_FOUND" and bool(flags & SUSPEND)


def pull(
    rules: BrokerRules,
    state: BrokerState,
    request: PullMessageRequest,
    codes: TagCodes | Err,
    entries: Sequence[StoredEntry],
) -> Answer[BrokerState]:
    """The answer (``PullResult``), or the error of the first check that fails.

    ``codes`` is the result of ``carried_codes`` or ``registered_codes``; ``entries`` are the retained messages of the
    queue.
    """
    if refuses_pulls(rules):
        return state, *NOT_PULLED
    refused = _refused(rules, state, request)
    if refused is not None:
        return state, *refused
    if isinstance(codes, Err):
        return state, codes, _SUBSCRIPTION[codes]
    log = state.logs.get((request.topic, request.queue), ABSENT)
    key = (request.group, request.topic, request.queue)
    found: tuple[int, ...] = ()
    if key in state.pending:
        status, following, why = OFFSET_RESET, state.pending[key], _RESET[OFFSET_RESET]
        state = without_pending(state, key)
    elif rules.ranges and log.min <= request.offset < log.max and request.most <= 0:
        if request.most < 0 or rules.empty_range_fails:
            return state, NO_ROOM, _NO_ROOM["empty range"]
        status, following, why = OFFSET_FOUND_NULL, 0, _EMPTY_RANGE[OFFSET_FOUND_NULL]
    elif rules.makes_room and log.min <= request.offset < log.max and not 0 <= request.most < _TOO_MANY:
        return state, NO_ROOM, _NO_ROOM["negative" if request.most < 0 else "more than Java can hold"]
    else:
        status, following, found, why = read_queue(rules, log, request, codes, entries)
    if rules.slave and response_code(status, request.offset) != response_code(status, request.offset, rules):
        following, why = request.offset, (_OF_READ if rules.slave_rejects else _UNCORRECTED)[why]
    if request.commit is not None and not stores_pulls(rules):
        why = _NOT_STORED[why]
    elif request.commit is not None:
        state = state._replace(stored={**state.stored, key: request.commit})
        why = _COMMITTED[why]
    return state, (status, following, log.min, log.max, found), why


def _refused(rules: BrokerRules, state: BrokerState, request: PullMessageRequest) -> tuple[Err, Reason] | None:
    """BQ-PULL-1: the error of the first check that fails, of those before the subscription."""
    if not rules.readable:
        return NO_PERMISSION, _NOT_READABLE
    if request.group not in state.groups:
        return NO_GROUP, _CHECK["unknown group"]
    if request.group in state.disabled:
        return NO_PERMISSION, _CHECK["disabled group"]
    settings = state.topics.get(request.topic)
    if settings is None:
        return NO_TOPIC, _CHECK["unknown topic"]
    if not settings.perm & READ:
        return NO_PERMISSION, _CHECK["no permission to read"]
    if not 0 <= request.queue < settings.read_queues:
        kind = "queue not read" if 0 <= request.queue < settings.write_queues else "no such queue"
        return _BAD_QUEUE[rules.invalid_parameter], _CHECK[kind]
    return None


def subscribes(rules: BrokerRules, state: BrokerState, request: PullMessageRequest, codes: TagCodes | Err) -> bool:
    """BQ-PULL-12: is the subscription that a pull carries known to the broker from then on, whatever it answers?"""
    return codes != UNREADABLE and _refused(rules, state, request) is None


def read_queue(
    rules: BrokerRules, log: QueueLog, request: PullMessageRequest, codes: TagCodes, entries: Sequence[StoredEntry]
) -> tuple[str, int, tuple[int, ...], Reason]:
    """BQ-PULL-STATUS: the status, the next offset and the offsets of the messages found."""
    offset = request.offset
    if log.max == 0:
        return NO_MESSAGE_IN_QUEUE, 0, (), _STATUS[NO_MESSAGE_IN_QUEUE]
    if offset < log.min:
        return OFFSET_TOO_SMALL, log.min, (), _STATUS[OFFSET_TOO_SMALL]
    if offset == log.max:
        return OFFSET_OVERFLOW_ONE, offset, (), _STATUS[OFFSET_OVERFLOW_ONE]
    if offset > log.max:
        back = 0 if log.min == 0 and not rules.overflow_is_max else log.max
        return OFFSET_OVERFLOW_BADLY, back, (), _OVERFLOW["back to max" if back else "back to 0"]
    return _scan(rules, log, request, codes, entries)


def _scan(
    rules: BrokerRules, log: QueueLog, request: PullMessageRequest, codes: TagCodes, entries: Sequence[StoredEntry]
) -> tuple[str, int, tuple[int, ...], Reason]:
    most, most_bytes = (MAX_MESSAGES, MAX_BYTES) if rules.hot else (DISK_MESSAGES, DISK_BYTES)
    most = min(request.most if rules.full_batch else request.most - 1, most)
    least, each = (16_000, 20) if rules.scans_entries else (800, 1)
    looks_at = max(least, each * request.most) if rules.scans_by_request else least
    limit = request.offset + looks_at + rules.scans_one_more
    found: list[int] = []
    size = 0
    ended = "to the end"
    # Entries below the first retained message remain while min lags behind; the messages they point to are gone.
    at = min(max(request.offset, log.first), limit, log.max)
    while at < log.max:
        if at >= limit:
            ended = "scan limit"
            break
        entry = entries[at - log.first]
        if found and (len(found) >= most or size + entry.size > most_bytes):
            ended = "batch full"
            break
        if passes_filter(rules, codes, entry):
            found.append(at)
            size += entry.size
        at += 1
    if found:
        reasons = _LEAST if request.most <= 0 else _FOUND if codes is None else _MATCHED
        return FOUND, at, tuple(found), _filtered(codes, reasons[ended])
    if at <= log.first:
        return MESSAGE_WAS_REMOVING, at, (), _STATUS[MESSAGE_WAS_REMOVING]
    return NO_MATCHED_MESSAGE, at, (), _filtered(codes, _NONE_MATCHED[ended])


def _filtered(codes: TagCodes, why: Reason) -> Reason:
    return _SQL.get(why, why) if isinstance(codes, PropertyFilter) else why


def _with_commit(why: Reason) -> Reason:
    return Reason((*why.rules, "BQ-PULL-8"), f"{why.kind}, commit flag")


_ALL = [
    why
    for reasons in (_STATUS, _RESET, _OVERFLOW, _FOUND, _MATCHED, _LEAST, _NONE_MATCHED, _SQL, _EMPTY_RANGE)
    for why in reasons.values()
]
#: The same reasons for pulls from a slave that does not correct offsets.
_UNCORRECTED, _OF_READ = (
    {why: Reason((*why.rules, rule), f"{why.kind}, slave") for why in _ALL}
    for rule in ("SLV-PULL-MOVED", "SLV-PULL-READ")
)
_ALL += (*_UNCORRECTED.values(), *_OF_READ.values())
#: The same reasons for pulls that also store an offset, and those that store none at a slave.
_COMMITTED = {why: _with_commit(why) for why in _ALL}
_NOT_STORED = {why: Reason((*why.rules, "SLV-PULL-COMMIT"), f"{why.kind}, commit flag, slave") for why in _ALL}
