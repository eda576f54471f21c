"""Broker mutants that the suite ``broker-search`` kills: each finds a wrong offset for some times."""

from __future__ import annotations

from bisect import bisect_left

from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, mutants_of
from rocketmq_conformance.models.broker.search import LOWER
from rocketmq_conformance.models.broker.state import ABSENT, QueueLog


class _Searches(Offsets):
    """Looks at the searched queue before it answers; ``otherwise`` is the right answer."""

    def search(self, topic: str, queue: int, time: int, boundary: str) -> int:
        otherwise = super().search(topic, queue, time, boundary)
        log = self._storage.state.logs.get((topic, queue), ABSENT)
        return self.found(log, time, otherwise) if log.times else otherwise

    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        """The answer for a queue that has messages."""
        return otherwise


class LaterIsLast(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        return log.max - 1 if time > log.times[-1] else otherwise


class LaterIsMinusOne(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        return -1 if time > log.times[-1] else otherwise


class LaterIsMin(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        return log.min if time > log.times[-1] else otherwise


class EarlierIsMax(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        return log.max if time < log.times[0] else otherwise


class NearestInGap(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        newer = bisect_left(log.times, time)
        if not 0 < newer < len(log.times) or log.times[newer] == time:
            return otherwise
        return log.first + (newer if log.times[newer] - time < time - log.times[newer - 1] else newer - 1)


class MiddleOfEqual(_Searches):
    def found(self, log: QueueLog, time: int, otherwise: int) -> int:
        same = [at for at, stored in enumerate(log.times) if stored == time]
        return log.first + same[len(same) // 2] if same else otherwise


class BoundaryDropped(Offsets):
    def search(self, topic: str, queue: int, time: int, boundary: str) -> int:
        return super().search(topic, queue, time, LOWER)


_offsets = mutants_of("offsets", "broker-search", "broker-expired")

MUTANTS: tuple[BrokerMutant, ...] = (
    _offsets("search-later-is-last", "D47", "A search later than everything answers the last message.", LaterIsLast),
    _offsets("search-nearest-in-gap", "D47", "A search in a gap answers the nearest message.", NearestInGap),
    _offsets("search-middle-of-equal", "D47", "Of messages with equal times a search answers any.", MiddleOfEqual),
    _offsets("search-boundary-dropped", "D48", "A search ignores the boundary it is asked for.", BoundaryDropped),
    _offsets("search-earlier-is-max", "D48", "A search earlier than everything ends after the end.", EarlierIsMax),
    _offsets("search-later-is-minus-one", "D49", "A search later than everything answers -1.", LaterIsMinusOne),
    _offsets("search-later-is-min", "D50", "A search later than everything answers min.", LaterIsMin),
)
