"""Broker mutants with faults when stopped, killed, frozen and started.

The suites ``broker-process``, ``broker-restart`` and ``broker-expired`` kill them. Each repeats a real defect, or is
the faulty broker closest to the right one.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.lifecycle import Lifecycle
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, QueueLog, Stored
from rocketmq_conformance.models.broker.table_files import OFFSETS

MUTANTS: list[BrokerMutant] = []
_lifetime = declared(MUTANTS, "lifetime", "broker-expired", "broker-restart", "broker-process")


# --- stopped, killed and started --------------------------------------------------------------------------------


@_lifetime("D33", "A broker that is stopped does not write its offsets.")
class StopLoses(Lifecycle):
    def stopped(self, frozen: bool) -> None:
        """A stop writes nothing to disk."""


@_lifetime("D70", "A killed broker loses offsets that were on disk.")
class KillLosesSaved(Lifecycle):
    """A kill loses everything written since the start."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._before: Stored = self._written

    def killed(self) -> None:
        super().killed()
        self.write(OFFSETS, self._before)

    def stopped(self, frozen: bool) -> None:
        super().stopped(frozen)
        self._before = self._written


@_lifetime("D25", "Of a group's queues only the first is written to disk.")
class StopWritesOne(Lifecycle):
    """Only one queue of each group and topic is written."""

    def save(self) -> None:
        first = {(group, topic): queue for group, topic, queue in sorted(self._storage.state.stored, reverse=True)}
        stored = self._storage.state.stored
        self.write(OFFSETS, {key: offset for key, offset in stored.items() if first[key[:2]] == key[2]})


@_lifetime("D91", "A start moves stored offsets beyond max to max.")
class StartClamps(Lifecycle):
    """At the start, a stored offset beyond max is set to max."""

    def started(self) -> None:
        super().started()
        state = self._storage.state
        stored = {
            (group, topic, queue): min(offset, state.logs.get((topic, queue), ABSENT).max)
            for (group, topic, queue), offset in state.stored.items()
        }
        self._storage.state = state._replace(stored=stored)


@_lifetime("D37", "A killed broker loses its last messages.")
class KillLosesMessages(Lifecycle):
    """A kill loses the messages sent since offsets were last written."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._logs: Mapping[tuple[str, int], QueueLog] = storage.state.logs

    def save(self) -> None:
        super().save()
        self._logs = self._storage.state.logs

    def killed(self) -> None:
        self._storage.state = self._storage.state._replace(logs=self._logs)


@_lifetime("D95", "A killed broker has lost the groups of late.")
class KillForgetsGroups(Lifecycle):
    """Groups are written when offsets are."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._groups: frozenset[str] = storage.state.groups

    def save(self) -> None:
        super().save()
        self._groups = self._storage.state.groups

    def killed(self) -> None:
        self._storage.state = self._storage.state._replace(groups=self._groups)


class _Looks(Lifecycle):
    """Computes min differently at the start."""

    def started(self) -> None:
        super().started()
        state = self._storage.state
        self._storage.state = state._replace(logs={key: self.looked(log) for key, log in state.logs.items()})

    def looked(self, log: QueueLog) -> QueueLog:
        """The queue with the min computed at the start."""
        raise AssertionError("every kind looks")


@_lifetime("D51", "A start does not look for min: it is 0.")
class StartMinZero(_Looks):
    def looked(self, log: QueueLog) -> QueueLog:
        return log._replace(min=0)


@_lifetime("D91", "Once all messages have expired a start sets min to 0.")
class StartMinOld(_Looks):
    """Computes the min of an empty queue as old releases did."""

    def looked(self, log: QueueLog) -> QueueLog:
        return log if log.times else log._replace(min=0)


@_lifetime("D51", "A start takes min one too far.")
class StartMinNext(_Looks):
    def looked(self, log: QueueLog) -> QueueLog:
        return log._replace(min=log.first + 1) if log.first and log.times else log


@_lifetime("D91", "A queue without messages counts from 0 after a start.")
class StartAnew(_Looks):
    """A queue whose messages have all expired starts from 0 again."""

    def looked(self, log: QueueLog) -> QueueLog:
        return log if log.times else ABSENT


# --- frozen -------------------------------------------------------------------------------------------------------


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
