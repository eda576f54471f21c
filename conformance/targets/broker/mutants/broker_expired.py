"""Broker mutants with faults when started on a store from which messages have expired. Each repeats a real defect."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.lifecycle import Lifecycle
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.state import ABSENT, QueueLog

MUTANTS: list[BrokerMutant] = []
_lifetime = declared(MUTANTS, "lifetime", "broker-expired", "broker-restart", "broker-process")


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
