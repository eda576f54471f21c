"""The broker of suite broker-locks: queues are locked and unlocked, and the broker's clock is not visible (BQ-LOCK-*).

A request is handled at some moment between its sending and its response, so whether a lock had expired by then is
certain outside of that span only. The model therefore keeps two tables of locks, confirmed as early and as late as
possible, and asks both: where they agree the answer is certain, and where they do not, the observed answer decides
which of them is right.

Times are thousandths of the broker's lease (``rocketmq.broker.rebalance.lockMaxLiveTime``) since the case began.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker import lock
from rocketmq_conformance.models.broker.fixtures import GROUPS
from rocketmq_conformance.models.broker.lock import NO_LOCKS, Lock, Locks
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.rule import Answer, Reason, reasons_by_kind

#: The lease, in thousandths of itself.
LEASE = 1000
#: Queues by index: each differs from the first in one part.
QUEUES: tuple[Queue, ...] = (("T0", "b0", 0), ("T0", "b0", 1), ("T1", "b0", 0), ("T0", "b1", 0))
#: The queue that may be locked without an owner. It is never asked for together with others: when one queue of a
#: request fails, the fate of the others depends on the order in which the broker looks at them.
OWNERLESS = 3
#: Client ids by index.
CLIENTS = ("one", "two", "three")

_PASSED = Reason(("BQ-LOCK-2",), "time passed")
_MANY = reasons_by_kind(("BQ-LOCK-1",), "nothing asked", "all granted", "some granted", "none granted")
_TAKEN_OVER = reasons_by_kind(("BQ-LOCK-1", "BQ-LOCK-2"), "all granted, one expired", "some granted, one expired")
_OPEN = {
    True: Reason(("BQ-LOCK-2",), "about to expire, taken over"),
    False: Reason(("BQ-LOCK-2",), "about to expire, still held"),
}
_EXPIRED = "of another, expired"


class BrokerLocksState(NamedTuple):
    """The locks, confirmed as early and as late as possible; ``since`` is when the last request was sent."""

    early: Locks = NO_LOCKS
    late: Locks = NO_LOCKS
    since: int = 0


def pass_time(state: BrokerLocksState, share: int) -> Answer[BrokerLocksState]:
    """BQ-LOCK-2: None. How much time has passed shows in the next request to lock."""
    return state, None, _PASSED


def lock_queues(
    state: BrokerLocksState, observed: Result, group: int, client: int | None, queues: tuple[int, ...]
) -> Answer[BrokerLocksState]:
    """BQ-LOCK-1: (indexes of the queues granted, when the request was sent, when it was answered), or the error.

    The times are the observed ones, corrected where they are impossible. No client is a field that is not sent.
    """
    seen_granted, sent, answered = read_observation(state, observed)
    early, late = state.early, state.late
    name = None if client is None else CLIENTS[client]
    granted: list[int] = []
    reasons: list[Reason] = []
    for index in queues:
        key = GROUPS[group], QUEUES[index]
        # a lock has expired the sooner, the earlier it was confirmed and the later the request is handled
        after, may, _ = lock.lock(early, GROUPS[group], name, QUEUES[index], answered, LEASE)
        later, must, why = lock.lock(late, GROUPS[group], name, QUEUES[index], sent, LEASE)
        if must is lock.FAILED:
            return BrokerLocksState(after, later, state.since), must, why
        if may and not must:
            may = index in seen_granted
            why = _OPEN[may]
        if may:
            granted.append(index)
            early, late = {**early, key: Lock(name, sent)}, {**late, key: Lock(name, answered)}
        reasons.append(why)
    return BrokerLocksState(early, late, sent), (tuple(granted), sent, answered), combined_reason(granted, reasons)


def unlock_queues(
    state: BrokerLocksState, group: int, client: int | None, queues: tuple[int, ...]
) -> Answer[BrokerLocksState]:
    """BQ-LOCK-3: None, or the error."""
    name = None if client is None else CLIENTS[client]
    named = [QUEUES[index] for index in queues]
    early, _, _ = lock.unlock_batch(state.early, GROUPS[group], name, named)
    late, result, why = lock.unlock_batch(state.late, GROUPS[group], name, named)
    return BrokerLocksState(early, late, state.since), result, why


def combined_reason(granted: list[int], reasons: list[Reason]) -> Reason:
    """The reason of one queue's answer, or the reason that sums up several."""
    if len(reasons) == 1:
        return reasons[0]
    if not granted:
        return _MANY["none granted" if reasons else "nothing asked"]
    kind = "all granted" if len(granted) == len(reasons) else "some granted"
    expired = any(why.kind == _EXPIRED for why in reasons)
    return _TAKEN_OVER[f"{kind}, one expired"] if expired else _MANY[kind]


def read_observation(state: BrokerLocksState, observed: Result) -> tuple[tuple[object, ...], int, int]:
    """The queues granted, when the request was sent, when answered: as observed, or the earliest possible."""
    if isinstance(observed, tuple) and len(observed) == 3:
        granted, sent, answered = observed
        if isinstance(granted, tuple) and type(sent) is int and type(answered) is int:
            sent = max(sent, state.since)
            return granted, sent, max(answered, sent)
    return (), state.since, state.since
