"""Broker mutants that the suite ``broker-locks`` kills: wrong locks and unlocks, in strict mode and not.

Each repeats a real defect, or is the faulty broker closest to the right one.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.delayed_unlock import DELAY, Unlocks
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, mutants_of
from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err

# --- not in strict mode ----------------------------------------------------------------------------------------


class QueueIdIgnored(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        held = {
            (topic, broker)
            for (of, (topic, broker, _)), entry in self.locks.items()
            if of == group and client is not None and entry.client not in {client, None}
        }
        return super().lock(group, client, [queue for queue in queues if queue[:2] not in held])


class GroupIgnored(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        return super().lock(group.rpartition("-")[0], client, queues)

    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        return super().unlock(group.rpartition("-")[0], client, queues)


class AllOrNothing(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        granted = super().lock(group, client, queues)
        return granted if isinstance(granted, Err) or len(granted) == len(queues) else ()


class AnyIsAll(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        granted = super().lock(group, client, queues)
        return tuple(queues) if granted and not isinstance(granted, Err) else granted


class NeverExpires(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        before, self.lease = self.lease, 1 << 62
        granted = super().lock(group, client, queues)
        self.lease = before
        return granted


class NotConfirmed(Consumers):
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


class HalvesTheLease(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        before, self.lease = self.lease, self.lease // 2
        granted = super().lock(group, client, queues)
        self.lease = before
        return granted


class FirstStaysLocked(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        return super().unlock(group, client, queues[1:])


class UnlockIgnored(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        before = self.locks
        failed = super().unlock(group, client, queues)
        self.locks = before
        return failed


class UnlocksOthers(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        failed = super().unlock(group, client, queues)
        if failed is None:
            self.locks = {key: entry for key, entry in self.locks.items() if key[0] != group or key[1] not in queues}
        return failed


class NoClientIsRefused(Consumers):
    """A lock without client id fails, and leaves nothing behind."""

    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        if client is None and not any((group, queue) in self.locks for queue in queues):
            return lock.FAILED
        return super().lock(group, client, queues)


# --- strict locks -------------------------------------------------------------------------------------------------


class NeverDone(Unlocks):
    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        """The unlock is acknowledged and ignored."""


class MuchLater(Unlocks):
    """An unlock takes effect when the lease is nearly over."""

    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        self._later(self._consumers.lease * 0.9 / 1000, lambda: self._consumers.unlock(group, client, queues))


class UnlocksNextOwner(Unlocks):
    """A delayed unlock forgets who requested it, and removes the lock of the next owner."""

    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        self._later(DELAY, lambda: self._free(group, queues))

    def _free(self, group: str, queues: Sequence[Queue]) -> None:
        locks = self._consumers.locks
        self._consumers.locks = {key: lock for key, lock in locks.items() if key[0] != group or key[1] not in queues}


class EveryQueue(Unlocks):
    """A delayed unlock releases all locks of the client, not just the requested queues."""

    def schedule_unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> None:
        everything = [queue for of, queue in self._consumers.locks if of == group]
        super().schedule_unlock(group, client, everything)


_locks = mutants_of("consumers", "broker-locks", "broker-admin")
_strict = mutants_of("unlocks", "broker-locks", lockInStrictMode="true")

MUTANTS: tuple[BrokerMutant, ...] = (
    _locks("lock-id-ignored", "D77", "A lock of one queue counts for all of its topic.", QueueIdIgnored),
    _locks("lock-group-ignored", "D77", "Locks of one group hold in another.", GroupIgnored),
    _locks("lock-all-or-nothing", "D77", "Nothing is granted unless everything is.", AllOrNothing),
    _locks("lock-any-is-all", "D77", "Everything is granted if anything is.", AnyIsAll),
    _locks("lease-never-expires", "D89", "A lock never expires.", NeverExpires),
    _locks("lock-not-confirmed", "D78", "A lock expires though its owner asked again.", NotConfirmed),
    _locks("lock-half-the-lease", "D78", "A lock expires after half of its time.", HalvesTheLease),
    _locks("unlock-not-the-first", "D76", "The first queue of a request stays locked.", FirstStaysLocked),
    _locks("unlock-ignored", "D76", "Unlocking does nothing.", UnlockIgnored),
    _locks("unlock-of-others", "D78", "Any client unlocks any queue.", UnlocksOthers),
    _locks("lock-nobody-refused", "D77", "A lock without client id leaves nothing behind.", NoClientIsRefused),
    _strict("late-never", "D76", "In strict mode an unlock is answered and never done.", NeverDone),
    _strict("late-too-late", "D73", "In strict mode an unlock is done much too late.", MuchLater),
    _strict("late-of-anybody", "D78", "In strict mode an unlock takes the next owner's lock.", UnlocksNextOwner),
    _strict("late-every-queue", "D25", "In strict mode an unlock gives back all queues.", EveryQueue),
)
