"""Writes the aged store: a broker's folder whose first commit log file has expired (``models.broker.aged``).

The files are those of the default store, whose form has not changed from 4.0.0 to 5.5.0: a commit log of messages
one after the other (WIRE-MSG-1), per queue a file of 20-byte entries (position, size, tag hash), and tables in JSON.
The entries of expired messages point below the first commit log file that is there.
"""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

from rocketmq_conformance.conformance.broker.release import COMMIT_LOG_FILE, QUEUE_FILE
from rocketmq_conformance.models.broker import aged

_ENTRY = struct.Struct(">qiq")
#: size, magic, body checksum, queue, flag, queue offset, position, system flag, born time, born host, store time,
#: store host, times reconsumed, position of the prepared transaction, size of the body
_MESSAGE = struct.Struct(">iiiiiqqiq8sq8siqi")
_MAGIC = -626843481
_HOST = bytes((127, 0, 0, 1)) + struct.pack(">i", 10911)
_BODY = b"x"
#: How many bytes an expired message is said to have had.
_EXPIRED_SIZE = 100
#: The checkpoint file has three times in front, and is as long as a page.
_CHECKPOINT = 4096


def write_aged_store(home: Path) -> None:
    """Fill ``home/store``; the files are new, so that the broker deletes none of them."""
    store = home / "store"
    log, queues = _messages()
    _write(store / "commitlog" / f"{COMMIT_LOG_FILE:020}", log)
    for queue, entries in queues.items():
        _write(store / "consumequeue" / aged.TOPIC / str(queue) / f"{0:020}", entries)
    latest = max(time for queue in aged.QUEUES for time in queue.times)
    _write(store / "checkpoint", struct.pack(">qqq", latest, latest, latest).ljust(_CHECKPOINT, b"\0"))
    topic = {
        "topicName": aged.TOPIC,
        "readQueueNums": len(aged.QUEUES),
        "writeQueueNums": len(aged.QUEUES),
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
    }
    version = {"counter": 1, "timestamp": aged.EPOCH}
    _write_json(store / "config" / "topics.json", {"dataVersion": version, "topicConfigTable": {aged.TOPIC: topic}})
    stored = {str(queue): offset for queue, offset in aged.STORED.items()}
    _write_json(store / "config" / "consumerOffset.json", {"offsetTable": {f"{aged.TOPIC}@{aged.KEPT}": stored}})


def _messages() -> tuple[bytes, dict[int, bytes]]:
    """The commit log file, and the entries of each queue that was ever written."""
    log = bytearray(COMMIT_LOG_FILE)
    entries = {number: bytearray(QUEUE_FILE) for number, queue in enumerate(aged.QUEUES) if queue.max}
    expired = 0
    for number, queue in enumerate(aged.QUEUES):
        for offset in range(queue.first):
            _ENTRY.pack_into(entries[number], offset * _ENTRY.size, expired, _EXPIRED_SIZE, 0)
            expired += _EXPIRED_SIZE
    retained = sorted(
        (time, number, queue.first + at)
        for number, queue in enumerate(aged.QUEUES)
        for at, time in enumerate(queue.times)
    )
    at = 0
    for time, number, offset in retained:
        message = _message(number, offset, COMMIT_LOG_FILE + at, time)
        log[at : at + len(message)] = message
        _ENTRY.pack_into(entries[number], offset * _ENTRY.size, COMMIT_LOG_FILE + at, len(message), 0)
        at += len(message)
    return bytes(log), {number: bytes(made) for number, made in entries.items()}


def _message(queue: int, offset: int, position: int, time: int) -> bytes:
    topic = aged.TOPIC.encode()
    tail = _BODY + bytes((len(topic),)) + topic + struct.pack(">h", 0)
    size = _MESSAGE.size + len(tail)
    checksum = zlib.crc32(_BODY) & 0x7FFF_FFFF
    head = _MESSAGE.pack(
        size, _MAGIC, checksum, queue, 0, offset, position, 0, time, _HOST, time, _HOST, 0, 0, len(_BODY)
    )
    return head + tail


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _write_json(path: Path, content: object) -> None:
    _write(path, json.dumps(content).encode())
