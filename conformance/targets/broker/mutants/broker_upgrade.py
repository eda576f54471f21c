"""Broker mutants with faults in what a release makes of the store that another one left behind.

The suite ``broker-upgrade`` kills them.
"""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.lifecycle import Lifecycle
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.state import ABSENT
from rocketmq_conformance.models.broker.table_files import OFFSETS, Copy, TableFile

#: A release that lets min stay where no message is left, before one that moves it.
_OLDER = "4.9.7"
MUTANTS: list[BrokerMutant] = []
_lifetime = declared(MUTANTS, "lifetime", "broker-upgrade", upgraded_from=_OLDER)
_light = declared(MUTANTS, "lifetime", "broker-upgrade", upgraded_from=_OLDER, enableLmq="true")
_storage = declared(MUTANTS, "storage", "broker-upgrade", upgraded_from=_OLDER)


@_lifetime("D72", "The other release has no stored offsets.")
class UpgradeLosesOffsets(Lifecycle):
    """The other release has its stored offsets in another file."""

    def take_over(self, other: Lifecycle) -> None:
        super().take_over(other)
        for _ in range(2):
            self.write(OFFSETS, {})


@_lifetime("D91", "The other release moves offsets beyond max to max.")
class UpgradeClamps(Lifecycle):
    """The other release takes stored offsets beyond max to max."""

    def take_over(self, other: Lifecycle) -> None:
        super().take_over(other)
        logs = self._storage.state.logs
        kept = {
            (group, topic, queue): min(offset, logs.get((topic, queue), ABSENT).max)
            for (group, topic, queue), offset in self._written.items()
        }
        for _ in range(2):
            self.write(OFFSETS, kept)


@_lifetime("D51", "The other release does not look for min.")
class UpgradeKeepsMin(Lifecycle):
    """The other release takes min as it was, and does not look for it."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._taken = False

    def take_over(self, other: Lifecycle) -> None:
        super().take_over(other)
        self._taken = True

    def started(self) -> None:
        before = self._storage.state.logs
        super().started()
        state = self._storage.state
        if self._taken:
            logs = {key: log._replace(min=before[key].min) for key, log in state.logs.items()}
            self._storage.state = state._replace(logs=logs)


@_storage("D37", "The other release does not find last messages.")
class UpgradeLosesMessages(Storage):
    """The other release does not find the last message of a queue."""

    def take_over(self, other: Storage) -> None:
        super().take_over(other)
        logs = {key: log._replace(times=log.times[:-1]) for key, log in self.state.logs.items()}
        self.state = self.state._replace(logs=logs)


@_storage("D95", "The other release has no groups.")
class UpgradeForgetsGroups(Storage):
    """The other release does not know the groups."""

    def take_over(self, other: Storage) -> None:
        super().take_over(other)
        self.state = self.state._replace(groups=frozenset())


@_light("D72", "enableLmq changes no file of offsets.")
class LightReadsTheOtherFile(Lifecycle):
    """A broker with light message queues reads the file of those without."""

    def take_over(self, other: Lifecycle) -> None:
        super().take_over(other)
        self._disk = other._disk


@_light("D72", "Offsets are lost for good with enableLmq.")
class LightLosesTheOtherFile(Lifecycle):
    """The stored offsets from before are gone once light message queues were switched on."""

    def take_over(self, other: Lifecycle) -> None:
        super().take_over(other)
        self._disk = self._disk._replace(offsets=TableFile(Copy({}), Copy({})))
