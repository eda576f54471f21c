"""Page residency: what the fake broker has in memory. The system may evict messages (BQ-MEM-1), and the ratio of
accessMessageInMemoryMaxRatio may make an old broker believe that none is in it (BQ-DISK-1, RUN-DYN-1)."""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.models.broker import lifecycle
from rocketmq_conformance.models.broker.memory_ratio import is_hot
from rocketmq_conformance.models.broker.state import ABSENT

#: A topic and a queue id.
TopicQueue = tuple[str, int]


class PageResidency:
    """Which queues have their message 0 in memory. A message that was evicted is in memory again once it is read."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        #: Called with topic and queue when an offset is asked for or committed; None, since no message is looked at.
        self.asked: Callable[[str, int], None] | None = None

    def set_ratio(self, text: str) -> None:
        """RUN-DYN-1: a ratio of 0 makes every message cold, where the ratio is looked at."""
        storage = self._storage
        storage.hot = storage.rules.empty_is_unknown or is_hot(int(text))
        storage.state = lifecycle.with_memory(storage.rules, storage.state, storage.hot)

    def evict(self) -> None:
        """Put all messages out of memory."""
        self._storage.put_out({key for key, log in self._storage.state.logs.items() if log.times})

    def read(self, topic: str, queue: int, first: int) -> None:
        """Messages from offset ``first`` on were read."""
        if not first:
            self._storage.bring_back({(topic, queue)})

    def holds(self, topic: str, queue: int) -> bool | None:
        """Is message 0 of a queue in memory? None when there is no such message."""
        log = self._storage.state.logs.get((topic, queue), ABSENT)
        return None if log.first or not log.times else (topic, queue) not in self._storage.out
