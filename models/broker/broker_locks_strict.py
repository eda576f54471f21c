"""Locks in strict mode: an unlock is answered before it is done (BQ-LOCK-STRICT).

A broker in strict mode asks every broker of its name to unlock, itself among them, and answers at once. So after the
response to an unlock it is uncertain when the lock is gone, and there is more than one *guess* of a queue's holder:
with and without the lock. Unlocks have no order, as they only remove locks. The answer to a request to lock rules
guesses out; when none is left, no moment at which the unlocks were done explains the answer. Queues are guessed
one by one: a broker may do an unlock between its looks at the queues of one request to lock.

The uncertainty has an end: an unlock is done ``UNLOCK_LIMIT`` after its response, in thousandths of the lease.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker import broker_locks
from rocketmq_conformance.models.broker.broker_locks import CLIENTS, LEASE, BrokerLocksState
from rocketmq_conformance.models.outcome import Err, Result, agrees
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-LOCK-STRICT",
        "With lockInStrictMode (off by default) an unlock is answered with success at once, whatever becomes of it, "
        "and done a little later: the broker sends the request on to itself. Until then the queue is still locked, and "
        "a lock that its owner takes meanwhile goes with it.",
        "AdminBrokerProcessor#unlockBatchMQ @ 5.0.0, 5.5.0",
        releases="5.0.0+",
        needs="lockInStrictMode, off by default",
    ),
)

#: The longest time from the response to an unlock until it is done, in thousandths of the lease.
UNLOCK_LIMIT = LEASE // 2

_STRICT = ("BQ-LOCK-STRICT",)
_LATER, _NOTHING = Reason(_STRICT, "answered, done later"), Reason(_STRICT, "answered, and nothing to be done")


class PendingUnlock(NamedTuple):
    """An unlock by a client that was answered; ``since`` is a moment after that (-1: not known yet)."""

    client: int
    since: int = -1


class HolderGuess(NamedTuple):
    """The possible holders of one queue, if these unlocks of it are still to be done."""

    leases: BrokerLocksState = BrokerLocksState()
    open: tuple[PendingUnlock, ...] = ()


_CERTAIN = (HolderGuess(),)


class BrokerLocksStrictState(NamedTuple):
    """Every guess that explains the answers so far, by group and queue; ``since`` is when the last request was sent."""

    since: int = 0
    possible: Mapping[tuple[int, int], tuple[HolderGuess, ...]] = MappingProxyType({})


def pass_time(state: BrokerLocksStrictState, share: int) -> Answer[BrokerLocksStrictState]:
    """BQ-LOCK-2: None."""
    return state, *broker_locks.pass_time(BrokerLocksState(), share)[1:]


def unlock_queues(
    state: BrokerLocksStrictState, group: int, client: int | None, queues: tuple[int, ...]
) -> Answer[BrokerLocksStrictState]:
    """BQ-LOCK-STRICT: None."""
    if client is None or not queues:  # removes nothing, now or later; that it may fail shows nowhere
        return state, None, _NOTHING
    possible = dict(state.possible)
    for queue in queues:
        guesses = possible.get((group, queue), _CERTAIN)
        possible[group, queue] = tuple(guess._replace(open=(*guess.open, PendingUnlock(client))) for guess in guesses)
    return state._replace(possible=possible), None, _LATER


def lock_queues(
    state: BrokerLocksStrictState, observed: Result, group: int, client: int | None, queues: tuple[int, ...]
) -> Answer[BrokerLocksStrictState]:
    """BQ-LOCK-1 for every guess: (queues granted, when the request was sent, when it was answered), or the error."""
    seen_granted, sent, answered = broker_locks.read_observation(BrokerLocksState(since=state.since), observed)
    possible = dict(state.possible)
    granted: list[int] = []
    reasons: list[Reason] = []
    for queue in queues:
        alone = ((queue,) if queue in seen_granted else (), sent, answered) if isinstance(observed, tuple) else observed
        answer = []
        before = [_at_moment(guess, group, queue, sent) for guess in possible.get((group, queue), _CERTAIN)]
        for guess in _at_any_time(before, group, queue):
            held = guess.leases._replace(since=state.since)
            after, result, why = broker_locks.lock_queues(held, alone, group, client, (queue,))
            answer.append((guess._replace(leases=after), result, why))
        right = [each for each in answer if agrees(each[1], alone)] or answer
        possible[group, queue] = _distinct(guess for guess, _, _ in right)
        _, expected, why = right[0]
        if isinstance(expected, Err):  # never beside other queues
            return BrokerLocksStrictState(sent, possible), expected, why
        if expected == ((queue,), sent, answered):
            granted.append(queue)
        reasons.append(why)
    return (
        BrokerLocksStrictState(sent, possible),
        (tuple(granted), sent, answered),
        broker_locks.combined_reason(granted, reasons),
    )


def show(state: BrokerLocksStrictState) -> str:
    """The holder of each group and queue, in every guess."""
    lines = []
    for (group, queue), guesses in state.possible.items():
        each = []
        for held, waiting in guesses:
            holders = [f"{entry.client} at {entry.confirmed}" for entry in held.early.values()] or ["no client"]
            each.append(f"{holders[0]}" + "".join(f", {CLIENTS[one.client]} unlocks" for one in waiting))
        lines.append(f"G{group}/{queue}: {' or '.join(each)}")
    return f"at {state.since}: {'; '.join(lines) or 'no locks'}"


def _at_moment(guess: HolderGuess, group: int, queue: int, now: int) -> HolderGuess:
    """The guess at a later moment: old unlocks are done, and the others were answered before ``now``."""
    held, waiting = guess.leases, []
    for one in guess.open:
        if one.since >= 0 and now - one.since > UNLOCK_LIMIT:
            held = _unlocked(held, group, queue, one)
        else:
            waiting.append(one if one.since >= 0 else one._replace(since=now))
    return HolderGuess(held, tuple(waiting))


def _at_any_time(guesses: Iterable[HolderGuess], group: int, queue: int) -> tuple[HolderGuess, ...]:
    """Each guess, and each guess with some of its unlocks done meanwhile; those with most done come first."""
    found: list[HolderGuess] = []
    for guess in guesses:
        some = [guess]
        for one in guess.open:
            some += [
                HolderGuess(
                    _unlocked(each.leases, group, queue, one), tuple(other for other in each.open if other is not one)
                )
                for each in some
            ]
        found += reversed(some)
    return _distinct(found)


def _unlocked(held: BrokerLocksState, group: int, queue: int, one: PendingUnlock) -> BrokerLocksState:
    return broker_locks.unlock_queues(held, group, one.client, (queue,))[0]


def _distinct(guesses: Iterable[HolderGuess]) -> tuple[HolderGuess, ...]:
    """Each guess once; they hold mappings, which cannot be hashed."""
    return tuple({repr(guess): guess for guess in guesses}.values())
