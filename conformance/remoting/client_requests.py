"""Requests that brokers send to clients: how a reset and the question for a consumer's state are written."""

from __future__ import annotations

import json
from collections.abc import Iterable

from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.models.message_queue import MessageQueue

#: A queue and its offset.
QueueOffset = tuple[MessageQueue, int]


def reset_body(offsets: Iterable[QueueOffset]) -> bytes:
    """The body of RESET_CONSUMER_CLIENT_OFFSET as Java clients get it: its keys are objects (WIRE-JSON-2)."""
    return _table("offsetTable", offsets)


def reset_body_for_cpp(offsets: Iterable[QueueOffset]) -> bytes:
    """The same as clients in C++ get it: a list."""
    listed = [{**_fields(queue), "offset": offset} for queue, offset in offsets]
    return json.dumps({"offsetTable": listed}, separators=(",", ":")).encode()


def offsets_of(body: bytes, table: str) -> dict[MessageQueue, int]:
    """The offsets of a body whose member ``table`` has queues as keys; ValueError when it has no such member."""
    found = java_json.loads(body.decode())
    named = found.get(table) if isinstance(found, dict) else None
    if not isinstance(named, dict):
        raise ValueError(f"the body has no member {table!r} that is an object")
    return {_queue(dict(key)): offset for key, offset in named.items()}


def state_body(offsets: Iterable[QueueOffset]) -> bytes:
    """The body of a response to GET_CONSUMER_STATUS_FROM_CLIENT."""
    return _table("messageQueueTable", offsets)


def _table(name: str, offsets: Iterable[QueueOffset]) -> bytes:
    members = [f"{json.dumps(_fields(queue), separators=(',', ':'))}:{offset}" for queue, offset in offsets]
    return f'{{"{name}":{{{",".join(members)}}}}}'.encode()


def _fields(queue: MessageQueue) -> dict[str, str | int]:
    topic, broker, number = queue
    return {"brokerName": broker, "queueId": number, "topic": topic}


def _queue(fields: dict[str, str | int]) -> MessageQueue:
    return MessageQueue(str(fields["topic"]), str(fields["brokerName"]), int(fields["queueId"]))
