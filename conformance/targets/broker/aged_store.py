"""Writes stores whose first commit log file has expired, such as the aged one (``models.broker.aged_store``), with the
topic whose queues have several files (``models.broker.filed_store``).

The files are those of the default store, whose format has not changed from 4.0.0 to 5.5.0: a commit log of messages
one after the other (WIRE-MSG-1), per queue files of 20-byte entries (position, size, tag hash), and tables in JSON.
The entries of expired messages point before the first commit log file.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rocketmq_conformance.conformance.targets.broker.launch_config import COMMIT_LOG_FILE, QUEUE_FILE
from rocketmq_conformance.models.broker import aged_store, filed_store
from rocketmq_conformance.models.broker.configuration import are_in_files
from rocketmq_conformance.models.broker.state import ABSENT, QueueLog

_ENTRY = struct.Struct(">qiq")
#: size, magic, body checksum, queue, flag, queue offset, position, system flag, born time, born host, store time,
#: store host, times reconsumed, position of the prepared transaction, size of the body
_MESSAGE = struct.Struct(">iiiiiqqiq8sq8siqi")
_MAGIC = -626843481
_HOST = bytes((127, 0, 0, 1)) + struct.pack(">i", 10911)
_BODY = b"x"
#: The size in bytes that is recorded of an expired message.
_EXPIRED_SIZE = 100
#: The checkpoint file starts with three times, and is a page long.
_CHECKPOINT = 4096


#: A topic that brokers of 4.3.0 to 4.9.7 make when they are stopped, unless they have it: they write topics then.
_TRANSACTIONS = "RMQ_SYS_TRANS_HALF_TOPIC"


def store_writer(properties: Mapping[str, str]) -> Callable[[Path], None]:
    """What fills the folder of a broker with these properties: nothing where it does not read the files."""
    return write_aged_store if are_in_files(properties) else _nothing


def _nothing(home: Path) -> None:
    pass


def write_aged_store(home: Path) -> None:
    """Fill ``home/store`` with the aged topic, the one with several files a queue, and the offsets of the kept group,
    which are in the backup, too."""
    write_store(
        home,
        {aged_store.TOPIC: aged_store.QUEUES, filed_store.TOPIC: filed_store.QUEUES, _TRANSACTIONS: (ABSENT,)},
        {(aged_store.KEPT_GROUP, aged_store.TOPIC): aged_store.STORED},
    )
    offsets = home / "store" / "config" / "consumerOffset.json"
    _write(offsets.with_name(f"{offsets.name}.bak"), offsets.read_bytes())


def write_store(
    home: Path,
    topics: Mapping[str, Sequence[QueueLog]],
    stored: Mapping[tuple[str, str], Mapping[int, int]],
) -> None:
    """Fill ``home/store`` with topics, and with offsets by group and topic, and queue.

    Files without a time of their own are new, so that the broker deletes none of them. All retained messages share one
    commit log file: ``COMMIT_LOG_FILE`` bytes are the most.
    """
    store = home / "store"
    log, queues = _messages(topics)
    _write(store / "commitlog" / f"{COMMIT_LOG_FILE:020}", log)
    for (topic, queue), entries in queues.items():
        for at, start in enumerate(range(0, len(entries), QUEUE_FILE)):
            path = store / "consumequeue" / topic / str(queue) / f"{start:020}"
            _write(path, entries[start : start + QUEUE_FILE])
            written = topics[topic][queue].written
            if written:
                os.utime(path, ns=(written[at] * 1_000_000,) * 2)
    latest = max((time for logs in topics.values() for queue in logs for time in queue.times), default=aged_store.EPOCH)
    _write_tables(store, latest, {topic: len(logs) for topic, logs in topics.items()}, stored)


def write_far_store(home: Path, topic: str, start: int, written: Sequence[int]) -> None:
    """Fill ``home/store`` with a topic that has a queue for each of ``written``, which is how much the commit log holds
    from the queue's only message on (bytes). It expired: the commit log is empty, and begins at ``start`` (bytes)."""
    store = home / "store"
    _write(store / "commitlog" / f"{start:020}", bytes(COMMIT_LOG_FILE))
    for queue, size in enumerate(written):
        entries = bytearray(QUEUE_FILE)
        _ENTRY.pack_into(entries, 0, start - size, _EXPIRED_SIZE, 0)
        _write(store / "consumequeue" / topic / str(queue) / f"{0:020}", bytes(entries))
    _write_tables(store, aged_store.EPOCH, {topic: len(written)}, {})


def _write_tables(
    store: Path, latest: int, queues: Mapping[str, int], stored: Mapping[tuple[str, str], Mapping[int, int]]
) -> None:
    """The checkpoint of the latest message (ms), topics with their numbers of queues, and offsets."""
    _write(store / "checkpoint", struct.pack(">qqq", latest, latest, latest).ljust(_CHECKPOINT, b"\0"))
    version = {"counter": 1, "timestamp": aged_store.EPOCH}
    table = {topic: _topic(topic, number) for topic, number in queues.items()}
    _write_json(store / "config" / "topics.json", {"dataVersion": version, "topicConfigTable": table})
    offsets = {
        f"{topic}@{group}": {str(queue): offset for queue, offset in each.items()}
        for (group, topic), each in stored.items()
    }
    _write_json(store / "config" / "consumerOffset.json", {"offsetTable": offsets})


def _topic(name: str, queues: int) -> dict[str, object]:
    return {
        "topicName": name,
        "readQueueNums": queues,
        "writeQueueNums": queues,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
    }


def _messages(topics: Mapping[str, Sequence[QueueLog]]) -> tuple[bytes, dict[tuple[str, int], bytes]]:
    """The commit log file, and the entries of each queue that was written."""
    log = bytearray(COMMIT_LOG_FILE)
    queues = {(topic, number): queue for topic, logs in topics.items() for number, queue in enumerate(logs)}
    entries = {key: bytearray(_files(queue.max) * QUEUE_FILE) for key, queue in queues.items() if queue.max}
    expired = 0
    for key, queue in queues.items():
        for offset in range(queue.first):
            _ENTRY.pack_into(entries[key], offset * _ENTRY.size, expired, _EXPIRED_SIZE, 0)
            expired += _EXPIRED_SIZE
    retained = sorted(
        (time, *key, queue.first + at) for key, queue in queues.items() for at, time in enumerate(queue.times)
    )
    at = 0
    for time, topic, number, offset in retained:
        message = _message(topic, number, offset, COMMIT_LOG_FILE + at, time)
        log[at : at + len(message)] = message
        _ENTRY.pack_into(entries[topic, number], offset * _ENTRY.size, COMMIT_LOG_FILE + at, len(message), 0)
        at += len(message)
    return bytes(log), {key: bytes(made) for key, made in entries.items()}


def _files(entries: int) -> int:
    """How many files so many entries fill."""
    return -(-entries * _ENTRY.size // QUEUE_FILE)


def _message(name: str, queue: int, offset: int, position: int, time: int) -> bytes:
    topic = name.encode()
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
