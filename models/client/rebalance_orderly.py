"""A group with orderly listeners: which member has each queue's lock, and which one may consume (REB-LOCK-*).

The broker's lock decides who may consume a queue; it lives for 60 s. A member relies on its lock for 30 s after the
broker last granted it, and renews it every 20 s, for all queues at once, or when a listener finds that the lock is
gone or too old. The 30 s between the two leave time for a member that cannot reach the broker: it stops before another
one may begin.

That holds unless a lock is removed that its holder still relies on. Up to 5.1.4 a member does so itself: it loses a
queue while messages wait, puts the unlocking off, gets the queue back within these 20 s, and the old unlocking removes
the new lock. A broker that restarts forgets all locks, and members with the same client id share theirs.

Time is the plan's. Timers, whether of a client or of the broker, are operations: nothing happens in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.broker.lock import NO_LOCKS, Locks
from rocketmq_conformance.models.client import group_state as group
from rocketmq_conformance.models.client.broadcast import NO_FILES, file_store
from rocketmq_conformance.models.client.effects import AWAITED_UNLOCK
from rocketmq_conformance.models.client.group_state import RebalanceState, rebalance_state, widen
from rocketmq_conformance.models.client.member import BROADCASTING, Member, with_memory, with_queues, with_taken
from rocketmq_conformance.models.client.member_settings import MEMBER_TIME
from rocketmq_conformance.models.client.offset_table import UNFROZEN, updated
from rocketmq_conformance.models.client.process_queue import (
    PULL_REASONS,
    ProcessQueue,
    confirmed,
    pulled_at,
    unlocked,
    with_messages,
)
from rocketmq_conformance.models.client.rebalance import RebalanceModel, pulled
from rocketmq_conformance.models.client.rebalance_orderly_round import (
    RebalanceOrderlyRound,
    RebalanceOrderlyRoundModel,
    is_lock_refused,
)
from rocketmq_conformance.models.client.rebalance_round import NO_MEMBER, listed_members
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "REB-LOCK-1",
        "A process queue may be consumed for 30 s after its lock was granted last; broadcasting members need no lock "
        "to consume.",
        "ProcessQueue#isLockExpired, ConsumeMessageOrderlyService.ConsumeRequest#run @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-LOCK-2",
        "A listener whose lock is gone or too old asks the broker for it, and goes on when it is granted; a refusal or "
        "a failure changes nothing.",
        "ConsumeMessageOrderlyService#tryLockLaterAndReconsume, RebalanceImpl#lock @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-LOCK-3",
        "The timer asks for all locks of the table in one request: those granted are confirmed, the others count as "
        "lost; a failure changes nothing. Dropped queues are left out from 5.0.0-PREVIEW; broadcasting members have "
        "no timer.",
        "RebalanceImpl#lockAll, ConsumeMessageOrderlyService#start @ 4.0.0, 4.9.8, 5.0.0-PREVIEW, 5.5.0",
    ),
    Rule(
        "REB-LOCK-4",
        "A member that shuts down unlocks the queues in its table, before it sends their offsets; dropped ones are "
        "left out from 5.0.0-PREVIEW; a broadcasting member unlocks nothing.",
        "ConsumeMessageOrderlyService#shutdown, RebalanceImpl#unlockAll @ 4.0.0, 4.9.8, 5.0.0-PREVIEW, 5.5.0",
    ),
    Rule(
        "REB-LOCK-DELAY",
        "An unlocking that was put off is done when its time comes, even when the member has locked the queue anew.",
        "RebalancePushImpl#unlockDelay @ 4.0.0, 4.9.8, 5.1.4",
        releases="up to 5.1.4",
    ),
    Rule(
        "PULL-PRE-LOCK",
        "A queue that does not count as locked is not pulled. The first pull of one that does asks for the start once "
        "more and goes by that; from 4.9.0 a failure puts the pull off, before it is pulled from -1.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.8.0, 4.9.0, 5.0.0-ALPHA, 5.5.0",
    ),
    Rule(
        "CONS-ORDER-1",
        "An orderly listener takes the messages of a queue one after the other, one listener at a time, and each "
        "result sets the offset after it, lower or not, unless the process queue was dropped.",
        "ConsumeMessageOrderlyService.ConsumeRequest#run, ConsumeMessageOrderlyService#processConsumeResult "
        "@ 4.0.0, 4.9.8, 5.5.0",
    ),
)

#: Ms that a client relies on a lock after it was granted.
LOCK_EXPIRY = 30_000
#: The client id of a client outside the group that locks queues too.
STRANGER = "10.0.0.9@stranger"

_TURN = reasons_by_kind(("CONS-ORDER-1",), "a listener is busy", "not owned", "dropped", "no member")
_TURN |= reasons_by_kind(("REB-LOCK-1", "CONS-ORDER-1"), "consumed")
_TURN |= reasons_by_kind(("REB-LOCK-1", "REB-LOCK-2"), "locked again", "lock refused")
_FINISH = reasons_by_kind(("CONS-ORDER-1",), "dropped", "nothing taken", "no member")
_FINISH |= reasons_by_kind(("REB-LOCK-1", "CONS-ORDER-1"), "goes on", "done")
_FINISH |= reasons_by_kind(("REB-LOCK-1", "REB-LOCK-2"), "lock refused")
_RECEIVE = reasons_by_kind(("CONS-ORDER-1",), "arrives", "not owned", "no member")
_PULL_LOCKED = reasons_by_kind(("PULL-PRE-LOCK",), "not locked", "no start", "no subscription, start asked")
#: The start is asked for again: by whether there is one, and by whether the member broadcasts.
_PULL_AGAIN = {
    (found, broadcasts): Reason(
        ("PULL-PRE-LOCK", "PULL-COM-BC" if broadcasts else "PULL-COM-1"),
        f"{'start asked again' if found else 'from -1'}{', broadcasting' if broadcasts else ''}",
    )
    for found in (True, False)
    for broadcasts in (True, False)
}
_RENEW = reasons_by_kind(
    ("REB-LOCK-3",), "all granted", "some lost", "failed", "nothing to lock", "broadcasting", "no member"
)
_LEAVE = reasons_by_kind(
    ("REB-LOCK-4", "REB-END-1", "OFF-R-PALL"), "unlocks", "unlocking fails", "nothing to unlock", "broadcasting"
)
_PASSED = Reason(("REB-DROP-EXPIRY",), "time passes")
_UNLOCKED = Reason(("REB-LOCK-DELAY",), "unlocked at last")
_LOCKED = reasons_by_kind(("BQ-LOCK-1", "BQ-LOCK-2"), "a stranger locks", "a stranger is refused")
_FORGOTTEN = Reason(("BQ-LOCK-3",), "the broker forgets all locks")


class RebalanceOrderlyState(NamedTuple):
    """A group, the locks of its broker, and the members' delayed unlocks."""

    group: RebalanceState
    locks: Locks = NO_LOCKS
    #: Of each member: when (ms of the case's clock) it unlocks which queue.
    later: tuple[tuple[tuple[int, int], ...], ...] = ()


_state = maker(RebalanceOrderlyState)


def initial_state(topology: Topology) -> RebalanceOrderlyState:
    """The initial state: new members, and no locks."""
    return RebalanceOrderlyState(group.initial_state(topology), later=((),) * len(topology.clients))


def relies_on_lock(queue: ProcessQueue, now: int) -> bool:
    """REB-LOCK-1: does the client rely on its lock?"""
    return queue.locked and now - queue.confirmed <= LOCK_EXPIRY


class RebalanceOrderlyModel:
    """The operations of a group with orderly listeners, for one profile; every method is pure."""

    __slots__ = ("checked", "group", "rebalancing", "skips_dropped", "start", "topology")
    #: An operation that has nothing to do with locks.
    of_group = staticmethod(widen(_state))

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.topology = topology
        self.group = RebalanceModel(profile, topology)
        self.start = self.group.rebalancing.start
        self.rebalancing = RebalanceOrderlyRoundModel(self.start)
        self.checked = self.start.client.checked_start
        self.skips_dropped = self.start.client.skips_dropped

    # --- operations of members ----------------------------------------------------------------------------

    def rebalance(
        self, state: RebalanceOrderlyState, member: int, list_fault: str, fault: str, bound_fault: str, lock_fault: str
    ) -> Answer[RebalanceOrderlyState]:
        """REB-DO-1: (owned queues, dispatched (queue, offset), balanced or None, asks for another round?,
        commits (queue, offset)), or None for no member."""
        before, locks, later = state
        broker, routes, listed, now, members, files = before
        who = members[member]
        if who is None:
            return state, None, NO_MEMBER
        current = RebalanceOrderlyRound(who, broker, now, fault, bound_fault, lock_fault, locks)
        current.files = files.get(who.client, NO_FILES)
        owned, dispatched, balanced, commits = self.rebalancing.run(current, routes, listed_members(listed, list_fault))
        another_round = self.start.client.requests_round and is_lock_refused(current)
        answer = (owned, dispatched, balanced, another_round, commits)
        who_after = current.after()
        if who_after is who and current.locks is locks:
            return state, answer, self.rebalancing.why(current)
        members = replaced(members, member, who_after)
        files = group.files_after(files, current)
        after = rebalance_state((current.store.broker, routes, listed, now, members, files))
        if current.later:
            later = replaced(later, member, (*later[member], *current.later))
        return _state((after, current.locks, later)), answer, self.rebalancing.why(current)

    def join(
        self, state: RebalanceOrderlyState, member: int, twin: bool, mode: str, where: str, strategy: str
    ) -> Answer[RebalanceOrderlyState]:
        """REB-BEGIN-1: a running one is gone at once, without unlocking."""
        after, result, why = self.group.join(state.group, member, twin, mode, where, strategy)
        return RebalanceOrderlyState(after, state.locks, replaced(state.later, member, ())), result, why

    def leave(self, state: RebalanceOrderlyState, member: int, lock_fault: str) -> Answer[RebalanceOrderlyState]:
        """REB-LOCK-4: the commits that reach the broker, and whether an unlocking does that is waited for."""
        who = state.group.members[member]
        after, sent, why = self.group.leave(state.group, member)
        if who is None:
            return state, sent, why
        assert isinstance(sent, tuple)
        mine = self._renewed(who)
        locks = state.locks
        if who.mode == BROADCASTING:
            why = _LEAVE["broadcasting"]
        elif not mine:
            why = _LEAVE["nothing to unlock"]
        elif lock_fault != "answer":
            why = _LEAVE["unlocking fails"]
        else:
            locks = lock.unlock_batch(locks, self.topology.group, who.client, self._named(mine))[0]
            sent, why = (*sent, AWAITED_UNLOCK), _LEAVE["unlocks"]
        return RebalanceOrderlyState(after, locks, replaced(state.later, member, ())), sent, why

    def renew(self, state: RebalanceOrderlyState, member: int, lock_fault: str) -> Answer[RebalanceOrderlyState]:
        """REB-LOCK-3: the queues that then count as locked, or None for no member."""
        who = state.group.members[member]
        if who is None:
            return state, None, _RENEW["no member"]
        mine = () if who.mode == BROADCASTING else self._renewed(who)
        if not mine or lock_fault != "answer":
            kind = "broadcasting" if who.mode == BROADCASTING else "failed" if mine else "nothing to lock"
            return state, _locked_queues(who), _RENEW[kind]
        now = state.group.now
        queues = self.topology.queues
        locks, granted, _ = lock.lock_batch(state.locks, self.topology.group, who.client, self._named(mine), now)
        assert isinstance(granted, tuple)  # no member is without client id
        table = {**who.table}
        for queue in mine:
            owned = table[queue]
            table[queue] = confirmed(owned, now) if queues[queue] in granted else unlocked(owned)
        why = _RENEW["all granted" if len(granted) == len(mine) else "some lost"]
        who = with_queues(who, who.memory, table)
        return _with(state, member, who, locks), _locked_queues(who), why

    def _named(self, queues: Sequence[int]) -> list[MessageQueue]:
        """Queues as the broker knows them."""
        return [self.topology.queues[queue] for queue in queues]

    def _renewed(self, who: Member) -> Sequence[int]:
        """The queues whose locks are renewed, and released in the end."""
        return [queue for queue, owned in who.table.items() if not (owned.dropped and self.skips_dropped)]

    def pull(
        self, state: RebalanceOrderlyState, member: int, queue: int, fault: str, bound_fault: str
    ) -> Answer[RebalanceOrderlyState]:
        """PULL-PRE-DROP, PULL-PRE-LOCK: (offset that the member asks for, offset that the pull carries, is it to be
        committed?), or None when it does not ask."""
        before, locks, later = state
        who = before.members[member]
        owned = None if who is None else who.table.get(queue)
        if who is None or owned is None or owned.dropped:
            return state, None, PULL_REASONS["no member" if who is None else "dropped"]
        owned = pulled_at(owned, before.now)
        if not owned.locked:
            return _with(state, member, _with_queue(who, queue, owned), locks), None, _PULL_LOCKED["not locked"]
        why: Reason | None = None
        if not owned.corrected:
            memory, offset = self._asked_again(before, who, queue, fault, bound_fault)
            who = with_memory(who, memory)
            if isinstance(offset, Err):
                after = _with(state, member, _with_queue(who, queue, owned), locks)
                return after, None, _PULL_LOCKED["no start"]
            assert isinstance(offset, int)
            owned = owned._replace(offset=offset, corrected=True)
            why = _PULL_AGAIN[offset >= 0, who.mode == BROADCASTING]
        who = _with_queue(who, queue, owned)
        after = _state((group.with_member(before, member, who), locks, later))
        if self.topology.topic_of[queue] not in who.topics:
            return after, None, PULL_REASONS["no subscription"]
        answer, plain = pulled(who, queue, owned.offset)
        return after, answer, why or plain

    def _asked_again(
        self, state: RebalanceState, who: Member, queue: int, fault: str, bound_fault: str
    ) -> tuple[Mapping[int, int], Expected]:
        """PULL-PRE-LOCK: the memory afterwards, and the start of a queue that is pulled for the first time."""
        if who.mode == BROADCASTING:
            local = file_store(who.memory, state.files.get(who.client, NO_FILES))
            local, offset, _ = self.start.push_from_file(
                local, state.broker, queue, who.where, *MEMBER_TIME, self.checked, bound_fault
            )
            return local.memory, offset
        store = RemoteStore(who.memory, UNFROZEN, state.broker)
        store, offset, _ = self.start.push(store, queue, who.where, *MEMBER_TIME, self.checked, fault, bound_fault)
        return store.memory, offset

    # --- operations of listeners --------------------------------------------------------------------------

    def receive(
        self, state: RebalanceOrderlyState, member: int, queue: int, offset: int
    ) -> Answer[RebalanceOrderlyState]:
        """A message arrives in the queue's process queue: is there one?"""
        who = state.group.members[member]
        if who is None:
            return state, None, _RECEIVE["no member"]
        if queue not in who.table:
            return state, False, _RECEIVE["not owned"]
        after = _with_changed_queue(who, queue, _arrived(who, queue, offset))
        return _with(state, member, after, state.locks), True, _RECEIVE["arrives"]

    def consume(
        self, state: RebalanceOrderlyState, member: int, queue: int, offset: int, lock_fault: str
    ) -> Answer[RebalanceOrderlyState]:
        """CONS-ORDER-1: (offsets consumed, offset in memory afterwards or -1), or None for no member."""
        who = state.group.members[member]
        if who is None:
            return state, None, _TURN["no member"]
        owned = _arrived(who, queue, offset)
        locks, able, why = self._turn(state, who, queue, owned, lock_fault)
        if able is None:
            return (
                _with(state, member, _with_changed_queue(who, queue, owned), locks),
                ((), who.memory.get(queue, -1)),
                why,
            )
        return self._consumed(state, member, who, queue, able, locks, why)

    def take(
        self, state: RebalanceOrderlyState, member: int, queue: int, offset: int, lock_fault: str
    ) -> Answer[RebalanceOrderlyState]:
        """CONS-ORDER-1: the offset of the message that the listener is busy with from now on, or None."""
        who = state.group.members[member]
        if who is None:
            return state, None, _TURN["no member"]
        owned = _arrived(who, queue, offset)
        locks, able, why = self._turn(state, who, queue, owned, lock_fault)
        if able is None:
            return _with(state, member, _with_changed_queue(who, queue, owned), locks), None, why
        taken = able.waiting[0]
        owned = with_messages(able, able.waiting[1:], taken)
        who = with_taken(who, who.memory, {**who.table, queue: owned}, {**who.taken, queue: owned.number})
        return _with(state, member, who, locks), taken, why

    def finish(
        self, state: RebalanceOrderlyState, member: int, queue: int, lock_fault: str
    ) -> Answer[RebalanceOrderlyState]:
        """CONS-ORDER-1: the listener is done, and goes on with the waiting messages: as ``consume``."""
        who = state.group.members[member]
        if who is None:
            return state, None, _FINISH["no member"]
        held = who.memory.get(queue, -1)
        number = who.taken.get(queue)
        if number is None:
            return state, ((), held), _FINISH["nothing taken"]
        taken = {other: kept for other, kept in who.taken.items() if other != queue}
        owned = who.table.get(queue)
        if owned is None or owned.number != number or owned.dropped:
            who = with_taken(who, who.memory, who.table, taken)
            return _with(state, member, who, state.locks), ((), held), _FINISH["dropped"]
        memory, _ = updated(who.memory, UNFROZEN, queue, owned.taking + 1, False)
        who = with_taken(who, memory, who.table, taken)
        locks, able, why = self._turn(state, who, queue, owned, lock_fault)
        if able is None:
            return _with(state, member, who, locks), ((), owned.taking + 1), _FINISH["lock refused"]
        why = _FINISH["goes on" if able.waiting else "done"]
        return self._consumed(state, member, who, queue, able, locks, why)

    def _turn(
        self, state: RebalanceOrderlyState, who: Member, queue: int, owned: ProcessQueue | None, lock_fault: str
    ) -> tuple[Locks, ProcessQueue | None, Reason]:
        """REB-LOCK-2: the process queue, if it may be consumed now, and the broker's locks then."""
        locks = state.locks
        if queue in who.taken:
            return locks, None, _TURN["a listener is busy"]
        if owned is None or owned.dropped:
            return locks, None, _TURN["dropped" if owned else "not owned"]
        now = state.group.now
        if who.mode == BROADCASTING or relies_on_lock(owned, now):
            return locks, owned, _TURN["consumed"]
        if lock_fault == "answer":
            locks, granted, _ = lock.lock(locks, self.topology.group, who.client, self.topology.queues[queue], now)
            if granted is True:
                return locks, confirmed(owned, now), _TURN["locked again"]
        return locks, None, _TURN["lock refused"]

    def _consumed(
        self,
        state: RebalanceOrderlyState,
        member: int,
        who: Member,
        queue: int,
        owned: ProcessQueue,
        locks: Locks,
        why: Reason,
    ) -> Answer[RebalanceOrderlyState]:
        """All waiting messages are consumed."""
        memory, waiting = who.memory, owned.waiting
        if waiting:
            memory, _ = updated(memory, UNFROZEN, queue, waiting[-1] + 1, False)
            owned = with_messages(owned, (), owned.taking)
        who = with_queues(who, memory, {**who.table, queue: owned})
        return _with(state, member, who, locks), (waiting, memory.get(queue, -1)), why

    # --- time, and operations of the environment ----------------------------------------------------------

    def tick(self, state: RebalanceOrderlyState, millis: int) -> Answer[RebalanceOrderlyState]:
        """REB-LOCK-DELAY: time passes for all members, and delayed unlocks that are due are done."""
        before, locks, later = state
        now = before.now + millis
        after = before._replace(now=now)
        if not any(later):
            return _state((after, locks, later)), None, _PASSED
        why = _PASSED
        left = []
        for who, tasks in zip(before.members, later, strict=True):
            for due, queue in tasks:
                if due <= now:
                    assert who is not None  # a member that ends has no delayed unlocks any more
                    locks = lock.unlock(locks, self.topology.group, who.client, self.topology.queues[queue])[0]
                    why = _UNLOCKED
            left.append(tuple([task for task in tasks if task[0] > now]))
        return _state((after, locks, tuple(left))), None, why

    def forget_locks(self, state: RebalanceOrderlyState) -> Answer[RebalanceOrderlyState]:
        """The broker restarts: it remembers no locks."""
        return RebalanceOrderlyState(state.group, NO_LOCKS, state.later), None, _FORGOTTEN

    def lock_elsewhere(
        self, state: RebalanceOrderlyState, queue: int, restarted: bool
    ) -> Answer[RebalanceOrderlyState]:
        """Another client of the group asks for a lock, of a broker that may have just restarted."""
        before = NO_LOCKS if restarted else state.locks
        locks, granted, _ = lock.lock(
            before, self.topology.group, STRANGER, self.topology.queues[queue], state.group.now
        )
        why = _LOCKED["a stranger locks" if granted is True else "a stranger is refused"]
        return _state((state.group, locks, state.later)), None, why


def _arrived(who: Member, queue: int, offset: int) -> ProcessQueue | None:
    """The process queue when a message has arrived, if there is one for it."""
    owned = who.table.get(queue)
    if owned is None or offset in owned.waiting:
        return owned
    return with_messages(owned, tuple(sorted((*owned.waiting, offset))), owned.taking)


def _with_queue(who: Member, queue: int, owned: ProcessQueue) -> Member:
    return with_queues(who, who.memory, {**who.table, queue: owned})


def _with_changed_queue(who: Member, queue: int, owned: ProcessQueue | None) -> Member:
    """The member with a process queue that a message changed, if it did."""
    return who if owned is None or owned is who.table.get(queue) else _with_queue(who, queue, owned)


def _with(state: RebalanceOrderlyState, member: int, who: Member, locks: Locks) -> RebalanceOrderlyState:
    if who is state.group.members[member] and locks is state.locks:
        return state
    return _state((group.with_member(state.group, member, who), locks, state.later))


def _locked_queues(who: Member) -> tuple[int, ...]:
    """The queues that count as locked."""
    return tuple(sorted([queue for queue, owned in who.table.items() if owned.locked]))


# --- the group as a whole ---------------------------------------------------------------------------------------


def relying_members(state: RebalanceOrderlyState) -> dict[int, tuple[int, ...]]:
    """The clustering members, by number, that rely on the lock of each queue that any member relies on."""
    found: dict[int, tuple[int, ...]] = {}
    for number, who in enumerate(state.group.members):
        if who is None or who.mode == BROADCASTING:
            continue
        for queue, owned in who.table.items():
            if not owned.dropped and relies_on_lock(owned, state.group.now):
                found[queue] = (*found.get(queue, ()), number)
    return found


def lock_holders(topology: Topology, state: RebalanceOrderlyState) -> dict[int, str]:
    """The holder of each queue's lock at the broker, by client id, expired or not."""
    return {topology.queues.index(queue): kept.client or "no client" for (_, queue), kept in state.locks.items()}
