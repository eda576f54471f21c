"""Reads and writes the text of a local store's file: Java clients write near-JSON, with queues as keys.

::

    {"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:7}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from rocketmq_conformance.models.message_queue import MessageQueue

_DECODER = json.JSONDecoder()
_ENTRY = re.compile(r"\s*:\s*")
_OFFSET = re.compile(r"\s*:\s*(-?\d+)")
_OPENING, _MORE, _CLOSING = (re.compile(rf"\s*\{sign}\s*") for sign in "{,}")


def render(table: Mapping[MessageQueue, int]) -> str:
    """The text of a table."""
    entries = (f"\n\t\t{_key(queue)}:{offset}" for queue, offset in table.items())
    return '{\n\t"offsetTable":{' + ",".join(entries) + "\n\t}\n}"


def parse(text: str) -> dict[MessageQueue, int]:
    """The table in a text, with any white space, and whatever else is in it; ValueError when it cannot be parsed."""
    table: dict[MessageQueue, int] | None = None
    at, more = _past(_OPENING, text, 0), True
    while more:
        name, at = _DECODER.raw_decode(text, at)
        at = _past(_ENTRY, text, at)
        if name == "offsetTable":
            table, at = _table(text, at)
        else:
            _, at = _DECODER.raw_decode(text, at)
        at, more = _next(text, at)
    if at < len(text):
        raise ValueError("text behind the table")
    if table is None:
        raise ValueError("no offset table")
    return table


def _table(text: str, at: int) -> tuple[dict[MessageQueue, int], int]:
    """The entries of a table, and where it ends."""
    table: dict[MessageQueue, int] = {}
    at = _past(_OPENING, text, at)
    closing = _CLOSING.match(text, at)
    if closing:
        return table, closing.end()
    more = True
    while more:
        key, at = _DECODER.raw_decode(text, at)
        offset = _OFFSET.match(text, at)
        if not offset:
            raise ValueError(f"no offset at character {at}")
        table[_queue(key)] = int(offset[1])
        at, more = _next(text, offset.end())
    return table, at


def _next(text: str, at: int) -> tuple[int, bool]:
    """Where the text goes on behind an entry, and whether another one follows; ValueError."""
    comma = _MORE.match(text, at)
    return (comma.end(), True) if comma else (_past(_CLOSING, text, at), False)


def _past(sign: re.Pattern[str], text: str, at: int) -> int:
    """Where the text goes on behind a sign; ValueError."""
    found = sign.match(text, at)
    if not found:
        raise ValueError(f"neither {sign.pattern} nor an entry at character {at}")
    return found.end()


def _key(queue: MessageQueue) -> str:
    fields = {"brokerName": queue.broker, "queueId": queue.id, "topic": queue.topic}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _queue(key: object) -> MessageQueue:
    if not isinstance(key, dict) or not {"topic", "brokerName", "queueId"} <= key.keys():
        raise ValueError("a key that is no queue")
    return MessageQueue(str(key["topic"]), str(key["brokerName"]), int(key["queueId"]))
