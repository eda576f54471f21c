"""LOCK_BATCH_MQ, UNLOCK_BATCH_MQ: which client may consume a queue in order (BQ-LOCK-*).

A lock belongs to one client of one group and lives for a minute after it was last confirmed. The broker trusts the
request: neither the queue nor the broker's name, neither the group nor the client is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rocketmq_conformance.models.fast_tuples import maker
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-LOCK-1",
        "A queue that nobody of the group holds is locked; its owner's lock is confirmed; one that expired is taken "
        "over; any other is refused by leaving it out of the answer. No name is checked.",
        "RebalanceLockManager#tryLockBatch, AdminBrokerProcessor#lockBatchMQ @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-LOCK-2",
        "A lock expires when more than rocketmq.broker.rebalance.lockMaxLiveTime ms (60,000) passed since it was "
        "last confirmed.",
        "RebalanceLockManager.LockEntry#isExpired @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-LOCK-3",
        "Unlocking removes the owner's locks, expired or not, and leaves those of others; it never fails. Nothing "
        "else removes a lock, neither unregistering nor closing the connection.",
        "RebalanceLockManager#unlockBatch @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-LOCK-4",
        "A lock without client id fails with SYSTEM_ERROR when nobody holds the queue, and leaves a lock that belongs "
        "to nobody: from then on every request to lock or unlock that queue in that group fails, for its other queues "
        "too, until the broker restarts.",
        "RebalanceLockManager.LockEntry#isLocked @ 4.9.7, 5.5.0",
    ),
)

#: Default of rocketmq.broker.rebalance.lockMaxLiveTime, in ms.
MAX_LIVE_TIME = 60_000


class Lock(NamedTuple):
    """The holder of a queue (None: a lock without owner), and when it was last confirmed (ms since the epoch)."""

    client: str | None
    confirmed: int


_lock = maker(Lock)

#: Locks by group and queue. Never changed in place.
Locks = Mapping[tuple[str, Queue], Lock]

#: A broker that has just started.
NO_LOCKS: Locks = {}

FAILED = Err("SYSTEM_ERROR")

_LOCK = {kind: Reason(("BQ-LOCK-1",), kind) for kind in ("free", "own", "of another")}
_LOCK |= {kind: Reason(("BQ-LOCK-1", "BQ-LOCK-2"), kind) for kind in ("own, expired", "of another, expired")}
_LOCK |= {kind: Reason(("BQ-LOCK-4",), kind) for kind in ("free, no client", "belongs to nobody")}
_BATCH = {
    kind: Reason(("BQ-LOCK-1",), kind) for kind in ("nothing asked", "all granted", "some granted", "none granted")
}
_UNLOCK = {kind: Reason(("BQ-LOCK-3",), kind) for kind in ("own", "of another", "free")}
_UNLOCK["belongs to nobody"] = Reason(("BQ-LOCK-4",), "belongs to nobody")
_UNLOCK_ALL = {kind: Reason(("BQ-LOCK-3",), kind) for kind in ("some removed", "nothing removed")}


def lock(
    locks: Locks, group: str, client: str | None, queue: Queue, now: int, live: int = MAX_LIVE_TIME
) -> Answer[Locks]:
    """BQ-LOCK-1 for one queue: True when ``client`` holds it from now on. ``now`` in ms, ``live`` in ms.

    ``Err("SYSTEM_ERROR")`` when BQ-LOCK-4 strikes.
    """
    key = (group, queue)
    granted, why = _lock_one(locks.get(key), client, now, live)
    if granted is True or why is _LOCK["free, no client"]:
        locks = {**locks, key: _lock((client, now))}
    return locks, granted, why


def _lock_one(held: Lock | None, client: str | None, now: int, live: int) -> tuple[bool | Err, Reason]:
    """Is the lock granted? A request without client id fails, and leaves a lock without owner behind."""
    if held is None:
        return (FAILED, _LOCK["free, no client"]) if client is None else (True, _LOCK["free"])
    owner, confirmed = held
    if owner is None:
        return FAILED, _LOCK["belongs to nobody"]
    expired = now - confirmed > live
    if owner == client:
        return True, _LOCK["own, expired" if expired else "own"]
    return (True, _LOCK["of another, expired"]) if expired else (False, _LOCK["of another"])


def _is_ownerless(held: Lock | None) -> bool:
    return held is not None and held.client is None


def lock_batch(
    locks: Locks, group: str, client: str | None, queues: Sequence[Queue], now: int, live: int = MAX_LIVE_TIME
) -> Answer[Locks]:
    """BQ-LOCK-1: the queues that ``client`` holds from now on, in the order asked, or the error.

    A broker looks at all queues before it grants any: a lock without owner fails the whole request.
    """
    after = {**locks}
    mine = _lock((client, now))
    granted: list[Queue] = []
    for queue in queues:
        key = (group, queue)
        given, why = _lock_one(after.get(key), client, now, live)
        if given is FAILED:
            if any(_is_ownerless(locks.get((group, other))) for other in queues):
                return locks, FAILED, _LOCK["belongs to nobody"]
            return {**after, key: mine}, FAILED, why
        if given:
            after[key] = mine
            granted.append(queue)
    if not queues:
        why = _BATCH["nothing asked"]
    elif not granted:
        return locks, (), _BATCH["none granted"]
    else:
        why = _BATCH["all granted" if len(granted) == len(queues) else "some granted"]
    return after, tuple(granted), why


def unlock(locks: Locks, group: str, client: str | None, queue: Queue) -> Answer[Locks]:
    """BQ-LOCK-3 for one queue: None; ``Err("SYSTEM_ERROR")`` when BQ-LOCK-4 strikes."""
    key = (group, queue)
    held = locks.get(key)
    if held is None:
        return locks, None, _UNLOCK["free"]
    if held.client is None:
        return locks, FAILED, _UNLOCK["belongs to nobody"]
    if held.client != client:
        return locks, None, _UNLOCK["of another"]
    left = {**locks}
    del left[key]
    return left, None, _UNLOCK["own"]


def unlock_batch(locks: Locks, group: str, client: str | None, queues: Sequence[Queue]) -> Answer[Locks]:
    """BQ-LOCK-3: None; the error of the first queue that fails."""
    before = len(locks)
    for queue in queues:
        locks, failed, why = unlock(locks, group, client, queue)
        if failed is FAILED:
            return locks, FAILED, why
    return locks, None, _UNLOCK_ALL["some removed" if len(locks) < before else "nothing removed"]
