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
_OPENING = re.compile(r'\s*\{\s*"offsetTable"\s*:\s*\{\s*')
_OFFSET = re.compile(r"\s*:\s*(-?\d+)\s*(,\s*)?")
_CLOSING = re.compile(r"\s*\}\s*\}\s*")


def render(table: Mapping[MessageQueue, int]) -> str:
    """The text of a table."""
    entries = (f"\n\t\t{_key(queue)}:{offset}" for queue, offset in table.items())
    return '{\n\t"offsetTable":{' + ",".join(entries) + "\n\t}\n}"


def parse(text: str) -> dict[MessageQueue, int]:
    """The table in a text, with any white space; ValueError when it cannot be parsed."""
    opening = _OPENING.match(text)
    if not opening:
        raise ValueError("no offset table")
    table: dict[MessageQueue, int] = {}
    at, more = opening.end(), False
    while more or not _CLOSING.match(text, at):
        key, at = _DECODER.raw_decode(text, at)
        offset = _OFFSET.match(text, at)
        if not offset:
            raise ValueError(f"no offset at character {at}")
        table[_queue(key)] = int(offset[1])
        at, more = offset.end(), offset[2] is not None
    if not _CLOSING.fullmatch(text, at):
        raise ValueError("text behind the table")
    return table


def _key(queue: MessageQueue) -> str:
    fields = {"brokerName": queue.broker, "queueId": queue.id, "topic": queue.topic}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _queue(key: object) -> MessageQueue:
    if not isinstance(key, dict) or not {"topic", "brokerName", "queueId"} <= key.keys():
        raise ValueError("a key that is no queue")
    return MessageQueue(str(key["topic"]), str(key["brokerName"]), int(key["queueId"]))
