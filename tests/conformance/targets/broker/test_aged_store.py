"""The aged store: its files say what the model says of them."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.targets.broker.aged_store import store_writer, write_aged_store
from rocketmq_conformance.conformance.targets.broker.launch_config import COMMIT_LOG_FILE, QUEUE_FILE
from rocketmq_conformance.conformance.targets.broker.responses import store_times
from rocketmq_conformance.models.broker import aged_store, filed_store
from rocketmq_conformance.models.broker.broker_restart import BrokerRestartModel
from rocketmq_conformance.models.profile import Profile


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write_aged_store(tmp_path)
    return tmp_path / "store"


def entries(store: Path, queue: int) -> list[tuple[int, int]]:
    """(position, size) of each entry of a queue."""
    content = (store / "consumequeue" / aged_store.TOPIC / str(queue) / ("0" * 20)).read_bytes()
    assert len(content) == QUEUE_FILE
    found = [struct.unpack_from(">qiq", content, at)[:2] for at in range(0, QUEUE_FILE, 20)]
    return [entry for entry in found if entry[1]]


def test_the_first_commit_log_file_is_gone(store: Path) -> None:
    assert [path.name for path in (store / "commitlog").iterdir()] == [f"{COMMIT_LOG_FILE:020}"]
    assert (store / "commitlog" / f"{COMMIT_LOG_FILE:020}").stat().st_size == COMMIT_LOG_FILE


def test_each_queue_has_the_messages_of_the_model(store: Path) -> None:
    log = (store / "commitlog" / f"{COMMIT_LOG_FILE:020}").read_bytes()
    for number, queue in enumerate(aged_store.QUEUES):
        if not queue.max:
            assert not (store / "consumequeue" / aged_store.TOPIC / str(number)).exists()
            continue
        found = entries(store, number)
        assert len(found) == queue.max
        assert all(position < COMMIT_LOG_FILE for position, _ in found[: queue.first])
        for offset, (position, size) in enumerate(found[queue.first :], queue.first):
            message = log[position - COMMIT_LOG_FILE :][:size]
            assert store_times(message) == [(offset, queue.times[offset - queue.first])]
            total, magic, checksum, queue_id = struct.unpack_from(">iiii", message)
            assert (total, magic, queue_id) == (size, -626843481, number)
            assert struct.unpack_from(">q", message, 28) == (position,)
            (length,) = struct.unpack_from(">i", message, 84)
            assert zlib.crc32(message[88 : 88 + length]) & 0x7FFFFFFF == checksum
            assert message.endswith(bytes((len(aged_store.TOPIC),)) + aged_store.TOPIC.encode() + b"\0\0")


def test_messages_lie_in_the_order_of_their_times(store: Path) -> None:
    found = []
    for number, queue in enumerate(aged_store.QUEUES):
        if queue.max:
            places = entries(store, number)[queue.first :]
            found += [(position, time) for (position, _), time in zip(places, queue.times, strict=True)]
    assert [time for _, time in sorted(found)] == sorted(time for _, time in found)


def test_long_queues_have_files_of_their_own_times(store: Path) -> None:
    for number, queue in enumerate(filed_store.QUEUES):
        files = sorted((store / "consumequeue" / filed_store.TOPIC / str(number)).iterdir())
        assert [int(path.name) for path in files] == [QUEUE_FILE * at for at in range(len(queue.written))]
        assert [path.stat().st_size for path in files] == [QUEUE_FILE] * len(files)
        assert [path.stat().st_mtime_ns // 1_000_000 for path in files] == list(queue.written)
        content = b"".join(path.read_bytes() for path in files)
        sizes = [struct.unpack_from(">qi", content, at)[1] for at in range(0, len(content), 20)]
        assert sum(map(bool, sizes)) == queue.max


def test_offsets_and_topics_are_in_the_tables(store: Path) -> None:
    offsets = json.loads((store / "config" / "consumerOffset.json").read_text())
    assert offsets == {
        "offsetTable": {
            f"{aged_store.TOPIC}@{aged_store.KEPT_GROUP}": {str(q): o for q, o in aged_store.STORED.items()}
        }
    }
    topics = json.loads((store / "config" / "topics.json").read_text())["topicConfigTable"]
    assert (
        topics[aged_store.TOPIC]["readQueueNums"]
        == topics[aged_store.TOPIC]["writeQueueNums"]
        == len(aged_store.QUEUES)
    )


def test_writing_twice_gives_the_same_files(store: Path, tmp_path: Path) -> None:
    write_aged_store(tmp_path / "again")
    for path in store.rglob("*"):
        if path.is_file():
            assert (tmp_path / "again" / "store" / path.relative_to(store)).read_bytes() == path.read_bytes()


def test_a_broker_that_keeps_nothing_in_files_begins_with_nothing(tmp_path: Path) -> None:
    for properties in ({"storeType": "defaultRocksDB"}, {"configManagerVersion": "v2"}):
        store_writer(properties)(tmp_path)
        assert not list(tmp_path.iterdir())
        model = BrokerRestartModel(Profile().configured(properties))
        (state,) = model.initial().possible
        assert (set(state.topics), dict(state.logs), dict(state.stored)) == ({"T0"}, {}, {})
    store_writer({"storeType": "default"})(tmp_path)
    assert (tmp_path / "store").is_dir()
