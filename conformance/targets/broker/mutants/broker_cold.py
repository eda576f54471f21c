"""Broker mutants that the suite ``broker-cold`` kills: wrong answers once messages are paged out of memory.

Each repeats a real defect, or is the faulty broker closest to the right one.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.conformance.fakes.page_residency import PageResidency
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared

MUTANTS: list[BrokerMutant] = []
_memory = declared(MUTANTS, "memory", "broker-cold")


@_memory("D11", "A message out of memory is not there, on every Java.")
class ColdSeen(PageResidency):
    """Messages paged out count as missing, on every Java."""

    def evict(self) -> None:
        super().evict()
        storage = self._storage
        storage.rules = replace(storage.rules, always_resident=False)


@_memory("D83", "What is out of memory has expired.")
class ColdLost(PageResidency):
    """Messages paged out are not found by a pull, either."""

    def evict(self) -> None:
        super().evict()
        logs = {
            key: log._replace(min=log.max, first=log.max, times=()) for key, log in self._storage.state.logs.items()
        }
        self._storage.state = self._storage.state._replace(logs=logs)


@_memory("D70", "Offsets are lost when messages are put out of memory.")
class ColdForgets(PageResidency):
    """Stored offsets are lost with the pages."""

    def evict(self) -> None:
        super().evict()
        self._storage.state = self._storage.state._replace(stored={})


@_memory("D68", "To ask for an offset brings the messages into memory.")
class AskingReads(PageResidency):
    """A query of an offset reads the queue's messages into memory."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.asked = lambda topic, queue: self.read(topic, queue, 0)


@_memory("D11", "What is put out of memory is still there.")
class ColdStays(PageResidency):
    """The first read brings all pages back into memory."""

    def holds(self, topic: str, queue: int) -> bool | None:
        held = super().holds(topic, queue)
        return held if held is None else True
