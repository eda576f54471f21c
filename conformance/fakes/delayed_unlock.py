"""Unlocking queues: at once, or in strict mode a little after it was answered (BQ-LOCK-3, BQ-LOCK-STRICT)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.consumers import Consumers, locked
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import PlainHandler, refused
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.message_queue import Queue

#: How long after its answer an unlock is done in strict mode (s).
DELAY = 0.005

#: Calls back after some seconds.
Later = Callable[[float, Callable[[], object]], object]


class Unlocks:
    """Answers requests to unlock queues that ``consumers`` has locked."""

    def __init__(self, consumers: Consumers, later: Later) -> None:
        self._consumers = consumers
        self._later = later
        #: The property lockInStrictMode.
        self.strict = False
        self.record: Record | None = None

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        return {Request.UNLOCK_BATCH_MQ: self._unlock}

    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        """Unlock in strict mode: its result is never answered."""
        self._later(DELAY, lambda: self._consumers.unlock(group, client, queues))

    def _unlock(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        group, client, queues = locked(body)
        if self.record is not None:
            self.record.unlock()
        if self.strict:
            self.schedule_unlock(group, client, queues)
            return 0, "", {}, b""
        failed = self._consumers.unlock(group, client, queues)
        return (0, "", {}, b"") if failed is None else refused(failed)
