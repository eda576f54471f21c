"""Interprets the responses of brokers: header fields, bodies and response codes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeVar

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.engine.documents import what_is_wrong
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.codes import response_name
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker.refusals import refuses_account
from rocketmq_conformance.models.broker.consumption import QueueSpan, TopicStats
from rocketmq_conformance.models.broker.group_stats import QueueStats
from rocketmq_conformance.models.broker.members import Connections
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Result

T = TypeVar("T")
#: A message is stored, though not yet where it is to be: clients take it as sent.
_STORED = frozenset({"FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"})
#: Codes, and remarks beside SYSTEM_ERROR, of a broker that is too busy, or whose disk is full: they prove nothing.
_BUSY = frozenset({"SYSTEM_BUSY", "SERVICE_NOT_AVAILABLE"})
_BUSY_REMARKS = ("[PC_SYNCHRONIZED]", "OS_PAGE", *_BUSY, *_STORED)
#: A delay of decades (ms): it is counted from 1970.
_DELAYED = 10**12
#: Codes of a successful pull without messages.
_EMPTY_PULLS = frozenset({"PULL_NOT_FOUND", "PULL_RETRY_IMMEDIATELY", "PULL_OFFSET_MOVED"})


def refused(answer: Command) -> Err | None:
    """The error in a response; None for success. AdapterError when the account may not ask for it."""
    if answer.code == 0:
        return None
    if refuses_account(answer):
        raise AdapterError(
            f"The broker refuses a request to this account ({response_name(answer.code)} {answer.remark}): give it "
            "credentials of one that may do everything."
        )
    name = response_name(answer.code)
    if name in _STORED:
        return None
    busy = name in _BUSY or (name == "SYSTEM_ERROR" and answer.remark.startswith(_BUSY_REMARKS))
    return Err(name, definite=not busy, detail=answer.remark)


def bare(answer: Command) -> Result:
    """None for success, else the error, of a response that is a code and a remark; one that has header fields or a body
    besides answers its code with these."""
    error = refused(answer)
    if not answer.ext and not answer.body:
        return error
    return response_name(answer.code), tuple(sorted(answer.ext.items())), answer.body.decode(errors="replace")


def number(answer: Command, field: str = "offset") -> int | Err:
    """The number in a response's header field, or its error."""
    error = refused(answer)
    if error is not None:
        return error
    text = answer.ext.get(field, "")
    try:
        return int(text)
    except ValueError:
        return Err("NO_FIELD", detail=f"SUCCESS without a number in {field!r}: {text!r}")


def store_times(body: bytes) -> list[tuple[int, int]]:
    """(queue offset, store time in ms) of each message in a pull's response (WIRE-MSG-1)."""
    found, at = [], 0
    while at + 64 <= len(body):
        (size,) = struct.unpack_from(">i", body, at)
        (offset,) = struct.unpack_from(">q", body, at + 20)
        (time,) = struct.unpack_from(">q", body, at + 56)
        found.append((offset, time))
        at += max(size, 64)
    return found


def pulled(answer: Command) -> Result:
    """(response code's name, next offset, offsets of the messages) of a pull's response, or its error."""
    error = refused(answer)
    if error is not None and error.code not in _EMPTY_PULLS:
        return error
    following = answer.ext.get("nextBeginOffset", "")
    if not following.lstrip("-").isdecimal():
        return Err("NO_FIELD", detail=f"a pull's answer without a number in 'nextBeginOffset': {following!r}")
    return response_name(answer.code), int(following), tuple(offset for offset, _ in store_times(answer.body))


def pulled_with_bounds(answer: Command) -> Result:
    """(response code's name, next offset, min, max, offsets of the messages) of a pull's response, or its error."""
    found = pulled(answer)
    if not isinstance(found, tuple):
        return found
    low, high = (int(answer.ext.get(name, -1)) for name in ("minOffset", "maxOffset"))
    code, following, offsets = found
    return code, following, low, high, offsets


#: What a pop brought from each queue: the kind of topic (0 is its own, others are retry topics), the queue, the offset
#: that it begins at, and the offsets of the messages.
Popped = tuple[tuple[int, int, int, tuple[int, ...]], ...]


def popped(answer: Command) -> Popped | Err:
    """What a pop brought, by the header fields, which must have as many messages as the body; or its error."""
    error = refused(answer)
    if error is not None:
        return error
    try:
        starts = {(kind, queue): int(start) for kind, queue, start in _infos(answer, "startOffsetInfo")}
        found = tuple(
            (int(kind), int(queue), starts[kind, queue], tuple(map(int, offsets.split(","))))
            for kind, queue, offsets in _infos(answer, "msgOffsetInfo")
        )
    except (ValueError, KeyError):
        return Err("NO_FIELD", detail=f"a pop's answer with unreadable offsets: {answer.ext}")
    if sum(len(offsets) for *_, offsets in found) != len(store_times(answer.body)):
        return Err("OTHER_MESSAGES", detail=f"a pop's answer whose body has other messages than {found}")
    return found


def _infos(answer: Command, name: str) -> list[tuple[str, str, str]]:
    """The entries of a field such as ``0 0 5;1 0 3``."""
    parts = [part.split(" ") for part in answer.ext.get(name, "").split(";") if part]
    return [(kind, queue, rest) for kind, queue, rest in parts]


def listed_members(answer: Command) -> tuple[str, ...] | Err:
    """The sorted client ids in a response to GET_CONSUMER_LIST_BY_GROUP, or the error."""
    return _of_body(answer, "client ids", lambda body: tuple(sorted(map(str, body["consumerIdList"]))))


def listed_connections(answer: Command) -> Connections | Err:
    """What a group consumes by a response to GET_CONSUMER_CONNECTION_LIST, or the error."""
    return _of_body(answer, "connections", _connections)


def _connections(body: Any) -> Connections:
    subscribed = [
        (
            str(topic),
            str(each["subString"]),
            int(each["subVersion"]),
            str(each.get("expressionType") or "TAG"),
            tuple(sorted(map(str, each.get("tagsSet") or ()))),
        )
        for topic, each in dict(body["subscriptionTable"]).items()
    ]
    return (
        tuple(sorted(str(each["clientId"]) for each in body["connectionSet"])),
        str(body["consumeType"]),
        str(body["messageModel"]),
        str(body["consumeFromWhere"]),
        tuple(sorted(subscribed)),
    )


def offset_pairs(body: bytes) -> tuple[tuple[int, int], ...] | Err:
    """Sorted (queue, offset) pairs of a body such as ``{"offsetTable":{{"queueId":0,…}:5}}`` (WIRE-JSON-2)."""
    return _read(
        body,
        "a table of offsets",
        lambda read: tuple(
            sorted((int(dict(queue)["queueId"]), int(offset)) for queue, offset in dict(read["offsetTable"]).items())
        ),
    )


def written_pairs(body: bytes) -> tuple[tuple[tuple[int, int], ...], str] | Err:
    """Sorted (queue, offset) pairs of a body that members get, and its form (BQ-RESET-CPP)."""

    def read(found: Any) -> tuple[tuple[tuple[int, int], ...], str]:
        listed = [(int(one["queueId"]), int(one["offset"])) for one in found["offsetTable"]]
        return tuple(sorted(listed)), "list"

    pairs = offset_pairs(body)
    return _read(body, "a list of offsets", read) if isinstance(pairs, Err) else (pairs, "table")


def corrected(answer: Command) -> Result:
    """Sorted (queue, offset) pairs of an answer to QUERY_CORRECTION_OFFSET, or its error."""
    return _of_body(
        answer,
        "correction offsets",
        lambda body: tuple(
            sorted((int(queue), int(offset)) for queue, offset in dict(body["correctionOffsets"]).items())
        ),
    )


def locked(answer: Command) -> frozenset[Queue] | Err:
    """The queues that were granted, or the error."""
    return _of_body(
        answer,
        "granted queues",
        lambda body: frozenset(
            (str(each["topic"]), str(each["brokerName"]), int(each["queueId"])) for each in body["lockOKMQSet"]
        ),
    )


def assigned(answer: Command, topic: str) -> Result:
    """Sorted (broker, queue id, mode) triples of an assignment, None for no list, or the error."""
    return _of_body(answer, "assigned queues", lambda body: _assigned(body.get("messageQueueAssignments"), topic))


def _assigned(listed: Any, topic: str) -> Result:
    if listed is None:
        return None
    found = []
    for each in listed:
        queue = each["messageQueue"]
        if queue["topic"] != topic:
            return Err("OTHER_TOPIC", detail=f"an assignment of another topic: {queue}")
        found.append((str(queue["brokerName"]), int(queue["queueId"]), str(each["mode"])))
    return tuple(sorted(found))


def queues_in_stats(answer: Command) -> int | Err:
    """The number of queues in a response to GET_TOPIC_STATS_INFO, or the error."""
    return _of_body(answer, "a table of offsets", lambda body: len(dict(body["offsetTable"])))


def group_stats(answer: Command) -> tuple[QueueStats, ...] | Err:
    """The sorted statistics of a group's queues in a response to GET_CONSUME_STATS, or the error."""
    return _of_body(answer, "statistics", lambda body: tuple(sorted(map(_stats, body["offsetTable"].items()))))


def _stats(entry: tuple[Any, Any]) -> QueueStats:
    queue, found = dict(entry[0]), entry[1]
    following = found.get("pullOffset")
    return (
        str(queue["topic"]),
        int(queue["queueId"]),
        int(found["brokerOffset"]),
        int(found["consumerOffset"]),
        None if following is None else int(following),
        int(found["lastTimestamp"]),
    )


def topic_stats(answer: Command) -> TopicStats | Err:
    """The sorted queues in a response to GET_TOPIC_STATS_INFO, or the error."""
    return _of_body(answer, "a table of offsets", lambda body: tuple(sorted(map(_bounds, body["offsetTable"].items()))))


def _bounds(entry: tuple[Any, Any]) -> tuple[int, int, int, int]:
    queue, found = dict(entry[0]), entry[1]
    times = int(found["lastUpdateTimestamp"])
    return int(queue["queueId"]), int(found["minOffset"]), int(found["maxOffset"]), times


def listed(answer: Command, field: str) -> tuple[str, ...] | Err:
    """The names in a list of a response's body, or the error."""
    return _of_body(answer, field, lambda body: tuple(map(str, body[field])))


def time_span(answer: Command) -> tuple[QueueSpan, ...] | Err:
    """The queues in a response to QUERY_CONSUME_TIME_SPAN, or the error."""
    return _of_body(answer, "time spans", lambda body: tuple(sorted(map(_span, body["consumeTimeSpanSet"]))))


def _span(found: Any) -> QueueSpan:
    return QueueSpan(
        int(found["messageQueue"]["queueId"]),
        int(found["minTimeStamp"]),
        int(found["maxTimeStamp"]),
        int(found["consumeTimeStamp"]),
        int(found["delayTime"]) > _DELAYED,
    )


def queue_index(answer: Command) -> tuple[int, int, int] | Err | None:
    """(min, max, number of entries) in a response to QUERY_CONSUME_QUEUE, None without a body, or the error."""
    error = refused(answer)
    if error is not None or not answer.body:
        return error
    return _read(
        answer.body,
        "bounds",
        lambda body: (int(body["minQueueIndex"]), int(body["maxQueueIndex"]), len(body.get("queueData") or ())),
    )


def topic_settings(answer: Command, topic: str) -> Topic | Err | None:
    """The settings of one topic in a response to GET_ALL_TOPIC_CONFIG, None without such a topic, or the error."""
    return _of_body(answer, "settings of topics", lambda body: _settings(body["topicConfigTable"].get(topic)))


def _settings(config: Any) -> Topic | None:
    if config is None:
        return None
    return Topic(int(config["readQueueNums"]), int(config["writeQueueNums"]), int(config["perm"]))


def _of_body(answer: Command, what: str, read: Callable[[Any], T]) -> T | Err:
    """What ``read`` finds in a response's body, or the error."""
    error = refused(answer)
    return _read(answer.body, what, read) if error is None else error


def _read(body: bytes, what: str, read: Callable[[Any], T]) -> T | Err:
    """What ``read`` finds in a body, or NO_FIELD with the name (``what``) of that which is not there."""
    try:
        return read(java_json.loads(body.decode()))
    except (ValueError, KeyError, TypeError, AttributeError) as broken:
        return Err("NO_FIELD", detail=f"a body without {what} ({what_is_wrong(broken)}): {body[:200]!r}")
