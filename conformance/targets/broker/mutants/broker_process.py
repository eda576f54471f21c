"""Broker mutants with faults when frozen, and when stopped meanwhile. Each repeats a real defect."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.lifecycle import Lifecycle
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.state import BrokerState, Stored

MUTANTS: list[BrokerMutant] = []
_lifetime = declared(MUTANTS, "lifetime", "broker-expired", "broker-restart", "broker-process")


@_lifetime("D32", "A broker that goes on has the offsets of its disk.")
class ResumeRereads(Lifecycle):
    """A resume acts as a start: offsets are read from disk."""

    def resumed(self) -> None:
        self._storage.state = self._storage.state._replace(stored=self._written)


@_lifetime("D31", "A frozen broker that is stopped loses its offsets.")
class StopOfFrozen(Lifecycle):
    """A frozen broker misses SIGTERM, and is killed."""

    def stopped(self, frozen: bool) -> None:
        if not frozen:
            super().stopped(frozen)


class _Late(Lifecycle):
    """Handles requests sent while it was frozen differently."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._at_rest: BrokerState = storage.state

    def paused(self) -> None:
        self._at_rest = self._storage.state

    def resumed(self) -> None:
        state = self._storage.state
        late = {key: offset for key, offset in state.stored.items() if self._at_rest.stored.get(key) != offset}
        if late:
            self._storage.state = state._replace(stored={**state.stored, **self.taken(late)})

    def taken(self, late: Stored) -> Stored:
        """The commits to store instead of these."""
        raise AssertionError("every kind takes")


@_lifetime("D28", "A commit without a response is stored as 0.")
class LateIsZero(_Late):
    def taken(self, late: Stored) -> Stored:
        return dict.fromkeys(late, 0)


@_lifetime("D85", "A commit without a response is stored as one more.")
class LateIsNext(_Late):
    def taken(self, late: Stored) -> Stored:
        return {key: offset + 1 for key, offset in late.items()}


@_lifetime("D63", "A commit without a response moves other queues, too.")
class LateForAll(_Late):
    """A commit for one queue of a group and topic is stored for the other queues, too."""

    def taken(self, late: Stored) -> Stored:
        given = {key[:2]: offset for key, offset in late.items()}
        return {key: given.get(key[:2], offset) for key, offset in self._storage.state.stored.items()}
