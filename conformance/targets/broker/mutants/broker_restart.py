"""Broker mutants with faults when stopped, killed and started. Each repeats a real defect."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.lifecycle import Lifecycle
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.compiled_filters import NO_FILTERS, Filters
from rocketmq_conformance.models.broker.state import ABSENT, QueueLog, Stored
from rocketmq_conformance.models.broker.table_files import OFFSETS

#: A version that no subscription has.
_NEWEST = 2**62

MUTANTS: list[BrokerMutant] = []
_consumers = declared(MUTANTS, "consumers", "broker-restart")
_lifetime = declared(MUTANTS, "lifetime", "broker-expired", "broker-restart", "broker-process")


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


@_consumers("D221", "A broker that was stopped has compiled nothing.")
class StopForgetsFilters(Consumers):
    """What was compiled is lost."""

    def reload(self, filters: Filters) -> Filters:
        return NO_FILTERS


@_consumers("D221", "A broker that was stopped takes no newer expression.")
class StopKeepsFilters(Consumers):
    """No newer expression is taken any more."""

    def reload(self, filters: Filters) -> Filters:
        return {key: kept._replace(version=_NEWEST) for key, kept in super().reload(filters).items()}
