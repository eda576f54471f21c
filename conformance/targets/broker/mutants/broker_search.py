"""Broker mutants that the suite ``broker-search`` kills: each finds a wrong offset for some times."""

from __future__ import annotations

from bisect import bisect_left

from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.search import LOWER
from rocketmq_conformance.models.broker.state import ABSENT, QueueLog

MUTANTS: list[BrokerMutant] = []
_offsets = declared(MUTANTS, "offsets", "broker-search", "broker-expired")


class _Searches(Offsets):
    """Looks at the searched queue before it answers; ``otherwise`` is the right answer."""

    def search(self, topic: str, queue: int, time: int, boundary: str) -> int:
        otherwise = super().search(topic, queue, time, boundary)
        log = self._storage.state.logs.get((topic, queue), ABSENT)
        return self.found(log, time, otherwise) if log.times else otherwise

    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        """The answer for a queue that has messages."""
        return otherwise


@_offsets("D47", "A search later than everything answers the last message.")
class SearchLaterIsLast(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        return log.max - 1 if time > log.times[-1] else otherwise


@_offsets("D49", "A search later than everything answers -1.")
class SearchLaterIsMinusOne(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        return -1 if time > log.times[-1] else otherwise


@_offsets("D50", "A search later than everything answers min.")
class SearchLaterIsMin(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        return log.min if time > log.times[-1] else otherwise


@_offsets("D48", "A search earlier than everything ends after the end.")
class SearchEarlierIsMax(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        return log.max if time < log.times[0] else otherwise


@_offsets("D47", "A search in a gap answers the nearest message.")
class SearchNearestInGap(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        newer = bisect_left(log.times, time)
        if not 0 < newer < len(log.times) or log.times[newer] == time:
            return otherwise
        return log.first + (newer if log.times[newer] - time < time - log.times[newer - 1] else newer - 1)


@_offsets("D47", "Of messages with equal times a search answers any.")
class SearchMiddleOfEqual(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        same = [at for at, stored in enumerate(log.times) if stored == time]
        return log.first + same[len(same) // 2] if same else otherwise


@_offsets("D48", "A search ignores the boundary it is asked for.")
class SearchBoundaryDropped(Offsets):
    def search(self, topic: str, queue: int, time: int, boundary: str) -> int:
        return super().search(topic, queue, time, LOWER)
