"""A round of rebalance of a member whose listener takes messages in order (REB-ADD-LOCK, REB-REM-2, REB-REM-3).

Messages of a queue are in order only while one listener has them, so a member asks the broker to lock a queue before it
adds it, and releases the lock when it loses the queue. A refused lock leaves the queue for another round.

Two things can go wrong when a queue is lost: its listener may be busy, and messages that arrived may wait for it. Up to
5.1.4 the offset is sent and forgotten in any case; a busy listener keeps the process queue, dropped, in the table, and
waiting messages delay the unlocking by 20 s. From 5.2.0 only a busy listener counts: as long as the lock is young the
queue stays as it is, offset included; after 20 s it is unlocked even under a busy listener.

A process queue that was kept is dead: it is not pulled. When its queue comes back into the share it is not added,
because it is there; only the expiry of its last pull makes room for a new one.
"""

from __future__ import annotations

from functools import cache

from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.broker.lock import Locks
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.member import BROADCASTING, Member
from rocketmq_conformance.models.client.process_queue import ProcessQueue, process_queue
from rocketmq_conformance.models.client.rebalance_round import RebalanceRound, RebalanceRoundModel, round_reason
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "REB-ADD-LOCK",
        "A queue is added only when the broker grants its lock; refused or unanswered, it is left for another round, "
        "which from 5.0.0-PREVIEW is asked for 500 ms later.",
        "RebalanceImpl#updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.0.0-PREVIEW, 5.5.0",
    ),
    Rule(
        "REB-ADD-BORN",
        "A new process queue counts as locked; up to 4.9.4 it does not, although the broker granted the lock, before "
        "the lock is renewed.",
        "RebalanceImpl#updateProcessQueueTableInRebalance @ 4.9.4, 4.9.5, 5.0.0-PREVIEW",
    ),
    Rule(
        "REB-BC-LOCK",
        "Up to 5.3.1 a broadcasting member with an orderly listener locks every queue, so that only one member gets "
        "it, and never unlocks it; from 5.3.2 it locks nothing.",
        "RebalanceImpl#rebalanceByTopic @ 4.9.8, 5.3.1, 5.3.2",
        releases="up to 5.3.1",
    ),
    Rule(
        "REB-REM-2",
        "Dropping a queue sends and forgets its offset; a busy listener keeps the dropped process queue in the table; "
        "otherwise the queue is unlocked, one way: at once, or 20 s later when messages wait for the listener.",
        "RebalancePushImpl#removeUnnecessaryMessageQueue, #unlockDelay @ 4.0.0, 4.9.8, 5.1.4",
        releases="up to 5.1.4",
    ),
    Rule(
        "REB-REM-3",
        "Dropping a queue sends its offset; unless the listener is busy and the lock was confirmed in the last 20 s "
        "it is sent again and forgotten, and the queue is unlocked, one way, and removed. Otherwise the dropped "
        "process queue and the offset stay.",
        "RebalancePushImpl#removeUnnecessaryMessageQueue, #tryRemoveOrderMessageQueue @ 5.2.0, 5.5.0",
        releases="5.2.0+",
    ),
    Rule(
        "REB-DROP-KEPT",
        "A dropped process queue that stayed in the table is tried again in every round that finds it outside of the "
        "share or expired; inside the share it is not balanced, and nothing is added in its place.",
        "RebalanceImpl#updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.5.0",
    ),
)

#: Ms by which unlocking is delayed for waiting messages, and after which a busy listener is not waited for.
UNLOCK_DELAY = 20_000

#: Events of these rounds beside those of every round, by bit.
_EXTRA_EVENTS = (
    ("kept for its listener", ("REB-DROP-KEPT",)),
    ("unlocked by force", ()),
    ("unlocked later", ()),
    ("unlocked", ()),
    ("refused", ("REB-ADD-LOCK",)),
    ("locked", ("REB-ADD-LOCK", "REB-ADD-BORN")),
    ("broadcasting locks", ("REB-BC-LOCK",)),
)
_KEPT, _FORCED, _LATER, _UNLOCKED, _REFUSED, _LOCKED, _BROADCAST = (1 << at for at in range(len(_EXTRA_EVENTS)))
_DROPS = _KEPT | _FORCED | _LATER | _UNLOCKED


@cache
def rebalance_orderly_reason(met: int, events: int, mode: str, reports: bool, idle: bool) -> Reason:
    """The one reason of rounds with these events, by bits of _MET and of the events of every round."""
    every = round_reason(events, mode, reports)
    if not met:
        return every
    found = [name for at, name in enumerate(_EXTRA_EVENTS) if met & 1 << at]
    rules = [rule for _, named in found for rule in named]
    if met & _DROPS:
        rules.append("REB-REM-3" if idle else "REB-REM-2")
    kind = found[0][0]
    return Reason(tuple(dict.fromkeys((*rules, *every.rules))), kind)


class RebalanceOrderlyRound(RebalanceRound):
    """A round, the broker's locks as it goes on, and the delayed unlocks."""

    __slots__ = ("extra_events", "later", "lock_fault", "locks")

    def __init__(
        self,
        member: Member,
        broker: BrokerState,
        now: int,
        fault: str,
        bound_fault: str,
        lock_fault: str,
        locks: Locks,
    ) -> None:
        RebalanceRound.__init__(self, member, broker, now, fault, bound_fault)  # on the hot path: super() costs time
        self.lock_fault = lock_fault
        self.locks = locks
        self.later: tuple[tuple[int, int], ...] = ()
        self.extra_events = 0


class RebalanceOrderlyRoundModel(RebalanceRoundModel[RebalanceOrderlyRound]):
    """The rounds of members with an orderly listener, for one profile; pure but for the round that is under way."""

    __slots__ = ("born_locked", "broadcasts_unlocked", "unlocks_idle")

    def __init__(self, start: StartModel) -> None:
        super().__init__(start)
        self.born_locked = start.client.born_locked
        self.broadcasts_unlocked = start.client.broadcasts_unlocked
        self.unlocks_idle = start.client.unlocks_idle

    def why(self, current: RebalanceOrderlyRound) -> Reason:
        """The reason of a round."""
        return rebalance_orderly_reason(
            current.extra_events, current.events, current.member.mode, self.reports, self.unlocks_idle
        )

    def add(self, current: RebalanceOrderlyRound, queue: int) -> bool:
        """REB-ADD-LOCK, REB-BC-LOCK; False without a lock or a start."""
        if current.member.mode == BROADCASTING:
            if self.broadcasts_unlocked:
                return RebalanceRoundModel.add(self, current, queue)
            current.extra_events |= _BROADCAST
        granted = False
        if current.lock_fault == "answer":
            current.locks, answer, _ = lock.lock(
                current.locks, self.topology.group, current.member.client, self.topology.queues[queue], current.now
            )
            granted = answer is True
        if not granted:
            current.extra_events |= _REFUSED
            return False
        current.extra_events |= _LOCKED
        return RebalanceRoundModel.add(self, current, queue)

    def process_queue(self, current: RebalanceOrderlyRound, offset: int) -> ProcessQueue:
        """REB-ADD-BORN."""
        return process_queue((current.made, offset, current.now, self.born_locked, current.now, False, False, (), -1))

    def drop(self, current: RebalanceOrderlyRound, queue: int) -> None:
        """REB-REM-1 when broadcasting, REB-REM-2, REB-REM-3."""
        if current.member.mode == BROADCASTING:
            super().drop(current, queue)
            return
        owned = current.table[queue]
        busy = current.member.taken.get(queue) == owned.number
        held = self.send(current, queue)
        if self.unlocks_idle:
            if busy and current.now - owned.confirmed <= UNLOCK_DELAY:
                self._keep(current, queue, owned)
                return
            if held:
                self.send(current, queue)
                current.store = self.store.remove(current.store, queue)[0]
            self._unlock(current, queue, _FORCED if busy else _UNLOCKED)
        else:
            if held:
                current.store = self.store.remove(current.store, queue)[0]
            if busy:
                self._keep(current, queue, owned)
                return
            if owned.waiting:
                current.extra_events |= _LATER
                current.later = (*current.later, (current.now + UNLOCK_DELAY, queue))
            else:
                self._unlock(current, queue, _UNLOCKED)
        self.remove(current, queue)

    def _keep(self, current: RebalanceOrderlyRound, queue: int, owned: ProcessQueue) -> None:
        current.extra_events |= _KEPT
        current.table = {**current.table, queue: owned._replace(dropped=True)}

    def _unlock(self, current: RebalanceOrderlyRound, queue: int, event: int) -> None:
        current.extra_events |= event
        if current.lock_fault == "answer":  # a failed one-way request shows nowhere
            current.locks = lock.unlock(
                current.locks, self.topology.group, current.member.client, self.topology.queues[queue]
            )[0]


def is_lock_refused(current: RebalanceOrderlyRound) -> bool:
    """Was a lock refused in the round?"""
    return bool(current.extra_events & _REFUSED)
