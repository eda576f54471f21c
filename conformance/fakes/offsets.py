"""The embedded broker's answers about offsets: the models, on the storage (BQ-QUERY-*, BQ-UPDATE-*, BQ-TIME-*)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from rocketmq_conformance.conformance.fakes.page_residency import Memory
from rocketmq_conformance.conformance.fakes.responses import Answering, offset, optional, place, refused
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.search import LOWER, earliest_time, max_offset, min_offset, search
from rocketmq_conformance.models.outcome import Err, Result


class Offsets:
    """Stored offsets, bounds, and search by time."""

    def __init__(self, storage: Storage, memory: Memory) -> None:
        self._storage = storage
        self._memory = memory

    def handlers(self) -> Mapping[int, Answering]:
        """What it answers, by request code."""
        return {
            Request.QUERY_CONSUMER_OFFSET: self._query,
            Request.UPDATE_CONSUMER_OFFSET: self._commit,
            Request.GET_MAX_OFFSET: self._max,
            Request.GET_MIN_OFFSET: self._min,
            Request.SEARCH_OFFSET_BY_TIMESTAMP: self._search,
            Request.GET_EARLIEST_MSG_STORETIME: self._earliest,
        }

    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        """BQ-QUERY-*: the offset, or the error."""
        self._memory.asked(topic, -1 if queue is None else queue)
        return cast(Result, query_offset(self._storage.rules, self._storage.state, group, topic, queue, set_zero)[1])

    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        """BQ-UPDATE-*: None, or the error."""
        self._memory.asked(topic, -1 if queue is None else queue)
        storage = self._storage
        storage.state, result, _ = commit_offset(storage.rules, storage.state, group, topic, queue, committed)
        return cast(Result, result)

    def _query(self, peer: Peer, request: Command) -> Command:
        ext = request.ext
        wanted = ext.get("setZeroIfNotFound")
        set_zero = None if wanted is None else wanted == "true"
        group, topic, queue = ext["consumerGroup"], ext["topic"], optional(ext, "queueId")
        return offset(self.query(group, topic, queue, set_zero))

    def _commit(self, peer: Peer, request: Command) -> Command:
        ext = request.ext
        group, topic = ext["consumerGroup"], ext["topic"]
        queue, committed = optional(ext, "queueId"), optional(ext, "commitOffset")
        result = self.commit(group, topic, queue, committed)
        return refused(result) if isinstance(result, Err) else Command(0)

    def _max(self, peer: Peer, request: Command) -> Command:
        return offset(max_offset(self._storage.state, *place(request))[1])

    def _min(self, peer: Peer, request: Command) -> Command:
        return offset(min_offset(self._storage.state, *place(request))[1])

    def _search(self, peer: Peer, request: Command) -> Command:
        time, boundary = int(request.ext["timestamp"]), request.ext.get("boundaryType", LOWER).lower()
        topic, queue = place(request)
        return offset(search(self._storage.rules, self._storage.state, topic, queue, time, boundary)[1])

    def _earliest(self, peer: Peer, request: Command) -> Command:
        _, time, _ = earliest_time(self._storage.state, *place(request))
        return Command(0, {"timestamp": str(time)})
