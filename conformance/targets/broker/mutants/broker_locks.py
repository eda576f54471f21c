"""Broker mutants that the suite ``broker-locks`` kills: wrong locks and unlocks, in strict mode and not.

Each repeats a real defect, or is the faulty broker closest to the right one.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.delayed_unlock import DELAY, Unlocks
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err

MUTANTS: list[BrokerMutant] = []
_locks = declared(MUTANTS, "consumers", "broker-locks", "broker-admin")
_strict = declared(MUTANTS, "unlocks", "broker-locks", lockInStrictMode="true")


# --- not in strict mode ----------------------------------------------------------------------------------------


@_locks("D77", "A lock of one queue counts for all of its topic.")
class LockIdIgnored(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        held = {
            (topic, broker)
            for (of, (topic, broker, _)), entry in self.locks.items()
            if of == group and client is not None and entry.client not in {client, None}
        }
        return super().lock(group, client, [queue for queue in queues if queue[:2] not in held])


@_locks("D77", "Locks of one group hold in another.")
class LockGroupIgnored(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        return super().lock(group.rpartition("-")[0], client, queues)

    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        return super().unlock(group.rpartition("-")[0], client, queues)


@_locks("D77", "Nothing is granted unless everything is.")
class LockAllOrNothing(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        granted = super().lock(group, client, queues)
        return granted if isinstance(granted, Err) or len(granted) == len(queues) else ()


@_locks("D77", "Everything is granted if anything is.")
class LockAnyIsAll(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        granted = super().lock(group, client, queues)
        return tuple(queues) if granted and not isinstance(granted, Err) else granted


@_locks("D89", "A lock never expires.")
class LeaseNeverExpires(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        before, self.lease = self.lease, 1 << 62
        granted = super().lock(group, client, queues)
        self.lease = before
        return granted


@_locks("D78", "A lock expires though its owner asked again.")
class LockNotConfirmed(Consumers):
    """A lock's lease is counted from the first grant: its owner cannot renew it."""

    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        now = self._clock()
        old = {
            key: entry
            for key, entry in self.locks.items()
            if entry.client == client and now - entry.confirmed <= self.lease
        }
        granted = super().lock(group, client, queues)
        self.locks = {**self.locks, **old}
        return granted


@_locks("D78", "A lock expires after half of its time.")
class LockHalfTheLease(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        before, self.lease = self.lease, self.lease // 2
        granted = super().lock(group, client, queues)
        self.lease = before
        return granted


@_locks("D76", "The first queue of a request stays locked.")
class UnlockNotTheFirst(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        return super().unlock(group, client, queues[1:])


@_locks("D76", "Unlocking does nothing.")
class UnlockIgnored(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        before = self.locks
        failed = super().unlock(group, client, queues)
        self.locks = before
        return failed


@_locks("D78", "Any client unlocks any queue.")
class UnlockOfOthers(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        failed = super().unlock(group, client, queues)
        if failed is None:
            self.locks = {key: entry for key, entry in self.locks.items() if key[0] != group or key[1] not in queues}
        return failed


@_locks("D77", "A lock without client id leaves nothing behind.")
class LockNobodyRefused(Consumers):
    """A lock without client id fails, and leaves nothing behind."""

    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        if client is None and not any((group, queue) in self.locks for queue in queues):
            return lock.FAILED
        return super().lock(group, client, queues)


# --- strict locks -------------------------------------------------------------------------------------------------


@_strict("D76", "In strict mode an unlock is answered and never done.")
class LateNever(Unlocks):
    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        """The unlock is acknowledged and ignored."""


@_strict("D73", "In strict mode an unlock is done much too late.")
class LateTooLate(Unlocks):
    """An unlock takes effect when the lease is nearly over."""

    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        self._later(self._consumers.lease * 0.9 / 1000, lambda: self._consumers.unlock(group, client, queues))


@_strict("D78", "In strict mode an unlock takes the next owner's lock.")
class LateOfAnybody(Unlocks):
    """A delayed unlock forgets who requested it, and removes the lock of the next owner."""

    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        self._later(DELAY, lambda: self._free(group, queues))

    def _free(self, group: str, queues: Sequence[Queue]) -> None:
        locks = self._consumers.locks
        self._consumers.locks = {key: lock for key, lock in locks.items() if key[0] != group or key[1] not in queues}


@_strict("D25", "In strict mode an unlock gives back all queues.")
class LateEveryQueue(Unlocks):
    """A delayed unlock releases all locks of the client, not just the requested queues."""

    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        everything = [queue for of, queue in self._consumers.locks if of == group]
        super().schedule_unlock(group, client, everything)
