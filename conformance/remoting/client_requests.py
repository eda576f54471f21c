"""Requests that brokers send to clients: how a reset and the question for a consumer's state are written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

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


@lru_cache(maxsize=1024)
def offsets_of(body: bytes, table: str) -> Mapping[MessageQueue, int]:
    """The offsets of a body whose member ``table`` has queues as keys; ValueError when it has no such member."""
    found = java_json.loads(body.decode())
    named = found.get(table) if isinstance(found, dict) else None
    if not isinstance(named, dict):
        raise ValueError(f"the body has no member {table!r} that is an object")
    return MappingProxyType({_queue(dict(key)): offset for key, offset in named.items()})


def running_info(body: bytes) -> tuple[tuple[str, ...], dict[MessageQueue, dict[str, Any]]]:
    """The topics, and the fields of each queue, of a response to GET_CONSUMER_RUNNING_INFO."""
    found = java_json.loads(body.decode())
    topics = sorted(str(one["topic"]) for one in found["subscriptionSet"])
    return tuple(topics), {_queue(dict(key)): fields for key, fields in found["mqTable"].items()}


def state_body(offsets: Iterable[QueueOffset]) -> bytes:
    """The body of a response to GET_CONSUMER_STATUS_FROM_CLIENT."""
    return _table("messageQueueTable", offsets)


def _table(name: str, offsets: Iterable[QueueOffset]) -> bytes:
    members = [f"{_key(queue)}:{offset}" for queue, offset in offsets]
    return f'{{"{name}":{{{",".join(members)}}}}}'.encode()


@lru_cache(maxsize=1024)
def _key(queue: MessageQueue) -> str:
    return json.dumps(_fields(queue), separators=(",", ":"))


def _fields(queue: MessageQueue) -> dict[str, str | int]:
    topic, broker, number = queue
    return {"brokerName": broker, "queueId": number, "topic": topic}


def _queue(fields: dict[str, str | int]) -> MessageQueue:
    return MessageQueue(str(fields["topic"]), str(fields["brokerName"]), int(fields["queueId"]))
