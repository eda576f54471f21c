"""The fake broker's answers about offsets: the models, on the storage (BQ-QUERY-*, BQ-UPDATE-*, BQ-TIME-*)."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.page_residency import PageResidency
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import (
    ConnectionHandler,
    PlainHandler,
    document,
    offset,
    place,
    refused,
    required,
)
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.broker.names import NO_NAME, commit_named, query_named
from rocketmq_conformance.models.broker.search import LOWER, earliest_time, max_offset, min_offset, search
from rocketmq_conformance.models.java_text import parse_boolean, parse_number
from rocketmq_conformance.models.outcome import Err, Result


class Offsets:
    """Stored offsets, bounds, and search by time. ``record`` records the commits that arrive."""

    def __init__(self, storage: Storage, memory: PageResidency) -> None:
        self._storage = storage
        self._asked = memory.asked
        self.record: Record | None = None

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        return {
            int(Request.QUERY_CONSUMER_OFFSET): self._query,
            int(Request.UPDATE_CONSUMER_OFFSET): self._commit,
            int(Request.GET_MAX_OFFSET): self._max,
            int(Request.GET_MIN_OFFSET): self._min,
            int(Request.SEARCH_OFFSET_BY_TIMESTAMP): self._search,
            int(Request.GET_EARLIEST_MSG_STORETIME): self._earliest,
            int(Request.GET_ALL_CONSUMER_OFFSET): self._all,
        }

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        """The handlers that replace them over a connection, by request code: none."""
        return {}

    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        """BQ-QUERY-*: the offset, or the error."""
        if self._asked is not None:
            self._asked(topic, -1 if queue is None else queue)
        storage = self._storage
        result: Result
        _, result, _ = query_named(storage.rules, storage.state, group, topic, queue, set_zero)  # type: ignore[assignment]
        return result

    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        """BQ-UPDATE-*: None, or the error."""
        if self._asked is not None:
            self._asked(topic, -1 if queue is None else queue)
        storage = self._storage
        result: Result
        storage.state, result, _ = commit_named(  # type: ignore[assignment]
            storage.rules, storage.state, group, topic, queue, committed
        )
        return result

    def search(self, topic: str, queue: int, time: int, boundary: str) -> int:
        """BQ-TIME-*: the offset that a time (ms since the epoch) leads to."""
        storage = self._storage
        found: int
        _, found, _ = search(storage.rules, storage.state, topic, queue, time, boundary)  # type: ignore[assignment]
        return found

    def _query(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        wanted, queue = ext.get("setZeroIfNotFound"), parse_number(ext.get("queueId"), 32)
        set_zero = None if wanted is None else parse_boolean(wanted)
        result = self.query(ext.get("consumerGroup", NO_NAME), ext["topic"], queue, set_zero)
        return refused(result) if type(result) is Err else (0, "", {"offset": str(result)}, b"")

    def _commit(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        topic, queue = ext["topic"], parse_number(ext.get("queueId"), 32)
        committed = parse_number(ext.get("commitOffset"), 64)
        if self.record is not None:
            self.record.commit(ext)
        result = self.commit(ext.get("consumerGroup", NO_NAME), topic, queue, committed)
        return refused(result) if type(result) is Err else (0, "", {}, b"")

    def _max(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return offset(max_offset(self._storage.state, *place(ext))[1])

    def _min(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return offset(min_offset(self._storage.state, *place(ext))[1])

    def _search(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        time, boundary = required(ext, "timestamp"), ext.get("boundaryType", LOWER).lower()
        topic, queue = place(ext)
        return offset(self.search(topic, queue, time, boundary))

    def _earliest(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        topic, queue = place(ext)
        _, time, _ = earliest_time(self._storage.state, topic, queue)
        return 0, "", {"timestamp": str(time)}, b""

    def _all(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        table: dict[str, dict[int, int]] = {}
        for (group, topic, queue), stored in self._storage.state.stored.items():
            table.setdefault(f"{topic}@{group}", {})[queue] = stored
        return 0, "", {}, document({"offsetTable": table})
