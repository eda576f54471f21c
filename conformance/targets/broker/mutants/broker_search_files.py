"""Broker mutants that the suite ``broker-search-files`` kills: each looks into the wrong file of a queue."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.search import UPPER
from rocketmq_conformance.models.broker.state import ABSENT, FILE_ENTRIES, QueueLog

MUTANTS: list[BrokerMutant] = []
_offsets = declared(MUTANTS, "offsets", "broker-search-files")


class _InOneFile(Offsets):
    """Finds a boundary among the entries of one file; right in a queue that has only one."""

    def search(self, topic: str, queue: int, time: int, boundary: str) -> int:
        log = self._storage.state.logs.get((topic, queue), ABSENT)
        if not log.written:
            return super().search(topic, queue, time, boundary)
        start = FILE_ENTRIES * self.file(log, time, boundary)
        offsets = range(max(log.first, start), min(log.max, start + FILE_ENTRIES))
        times = [log.times[offset - log.first] for offset in offsets]
        if boundary == UPPER:
            return max(log.min, offsets[0] + sum(stored <= time for stored in times) - 1)
        return offsets[0] + sum(stored < time for stored in times)

    def file(self, log: QueueLog, time: int, boundary: str) -> int:
        """The number of the file that is searched."""
        raise NotImplementedError


@_offsets("D162", "A search picks a file by when it was changed.")
class SearchChangedFile(_InOneFile):
    def file(self, log: QueueLog, time: int, boundary: str) -> int:
        last = len(log.written) - 1
        return next((at for at, changed in enumerate(log.written) if changed >= time), last)


@_offsets("D162", "A search looks at a queue's first file only.")
class SearchFirstFile(_InOneFile):
    def file(self, log: QueueLog, time: int, boundary: str) -> int:
        return 0


@_offsets("D162", "A search looks at a queue's last file only.")
class SearchLastFile(_InOneFile):
    def file(self, log: QueueLog, time: int, boundary: str) -> int:
        return len(log.written) - 1


@_offsets("D48", "An upper boundary ends with its first file.")
class SearchUpperEndsWithFile(_InOneFile):
    """Takes the file whose last message is not older than the time, as for the lower boundary."""

    def file(self, log: QueueLog, time: int, boundary: str) -> int:
        last = len(log.written) - 1
        ends = [log.times[FILE_ENTRIES * (at + 1) - 1 - log.first] for at in range(last)]
        return next((at for at, end in enumerate(ends) if end >= time), last)


@_offsets("D48", "A lower boundary begins with its last file.")
class SearchLowerBeginsWithFile(_InOneFile):
    """Takes the last file whose first message is not newer than the time, as for the upper boundary."""

    def file(self, log: QueueLog, time: int, boundary: str) -> int:
        starts = [log.times[max(0, FILE_ENTRIES * at - log.first)] for at in range(len(log.written))]
        return max((at for at, start in enumerate(starts) if start <= time), default=0)
