"""Locks in strict mode: an unlock is answered before it is done (BQ-LOCK-STRICT).

A broker in strict mode asks every broker of its name to unlock, itself among them, and answers at once. So after the
response to an unlock it is uncertain when the lock is gone, and there is more than one *guess* of a queue's holder:
with and without the lock. Unlocks have no order, as they only remove locks. The answer to a request to lock rules
guesses out; when none is left, no moment at which the unlocks were done explains the answer. Queues are guessed
one by one: a broker may do an unlock between its looks at the queues of one request to lock.

The uncertainty has an end: an unlock is done ``SOON`` after its response, in thousandths of the lease.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker import broker_locks
from rocketmq_conformance.models.broker.broker_locks import CLIENTS, LEASE, Leases
from rocketmq_conformance.models.outcome import Err, Result, agrees
from rocketmq_conformance.models.rule import Answer, Rule, Why

RULES = (
    Rule(
        "BQ-LOCK-STRICT",
        "With lockInStrictMode (off by default) an unlock is answered with success at once, whatever becomes of it, "
        "and done a little later: the broker sends the request on to itself. Until then the queue is still locked, and "
        "a lock that its owner takes meanwhile goes with it.",
        "AdminBrokerProcessor#unlockBatchMQ @ 5.0.0, 5.5.0",
        releases="5.0.0+",
    ),
)

#: The longest time from the response to an unlock until it is done, in thousandths of the lease.
SOON = LEASE // 2

_STRICT = ("BQ-LOCK-STRICT",)
_LATER, _NOTHING = Why(_STRICT, "answered, done later"), Why(_STRICT, "answered, and nothing to be done")


class Unlocking(NamedTuple):
    """An unlock by a client that was answered; ``since`` is a moment after that (-1: not known yet)."""

    client: int
    since: int = -1


class Guess(NamedTuple):
    """The possible holders of one queue, if these unlocks of it are still to be done."""

    leases: Leases = Leases()
    open: tuple[Unlocking, ...] = ()


_KNOWN = (Guess(),)


class Late(NamedTuple):
    """Every guess that explains the answers so far, by group and queue; ``since`` is when the last request was sent."""

    since: int = 0
    possible: Mapping[tuple[int, int], tuple[Guess, ...]] = MappingProxyType({})


def pass_time(state: Late, share: int) -> Answer[Late]:
    """BQ-LOCK-2: None."""
    return state, *broker_locks.pass_time(Leases(), share)[1:]


def unlock_queues(state: Late, group: int, client: int | None, queues: tuple[int, ...]) -> Answer[Late]:
    """BQ-LOCK-STRICT: None."""
    if client is None or not queues:  # removes nothing, now or later; that it may fail shows nowhere
        return state, None, _NOTHING
    possible = dict(state.possible)
    for queue in queues:
        guesses = possible.get((group, queue), _KNOWN)
        possible[group, queue] = tuple(guess._replace(open=(*guess.open, Unlocking(client))) for guess in guesses)
    return state._replace(possible=possible), None, _LATER


def lock_queues(state: Late, observed: Result, group: int, client: int | None, queues: tuple[int, ...]) -> Answer[Late]:
    """BQ-LOCK-1 for every guess: (queues granted, when the request was sent, when it was answered), or the error."""
    seen_granted, sent, answered = broker_locks.seen(Leases(since=state.since), observed)
    possible = dict(state.possible)
    granted: list[int] = []
    reasons: list[Why] = []
    for queue in queues:
        alone = ((queue,) if queue in seen_granted else (), sent, answered) if isinstance(observed, tuple) else observed
        answer = []
        before = [_done(guess, group, queue, sent) for guess in possible.get((group, queue), _KNOWN)]
        for guess in _at_any_time(before, group, queue):
            held = guess.leases._replace(since=state.since)
            after, result, why = broker_locks.lock_queues(held, alone, group, client, (queue,))
            answer.append((guess._replace(leases=after), result, why))
        right = [each for each in answer if agrees(each[1], alone)] or answer
        possible[group, queue] = _distinct(guess for guess, _, _ in right)
        _, expected, why = right[0]
        if isinstance(expected, Err):  # never beside other queues
            return Late(sent, possible), expected, why
        if expected == ((queue,), sent, answered):
            granted.append(queue)
        reasons.append(why)
    return Late(sent, possible), (tuple(granted), sent, answered), broker_locks.reason(granted, reasons)


def show(state: Late) -> str:
    """The holder of each group and queue, in every guess."""
    lines = []
    for (group, queue), guesses in state.possible.items():
        each = []
        for held, waiting in guesses:
            holders = [f"{entry.client} at {entry.confirmed}" for entry in held.early.values()] or ["nobody"]
            each.append(f"{holders[0]}" + "".join(f", {CLIENTS[one.client]} unlocks" for one in waiting))
        lines.append(f"G{group}/{queue}: {' or '.join(each)}")
    return f"at {state.since}: {'; '.join(lines) or 'no locks'}"


def _done(guess: Guess, group: int, queue: int, now: int) -> Guess:
    """The guess at a later moment: old unlocks are done, and the others were answered before ``now``."""
    held, waiting = guess.leases, []
    for one in guess.open:
        if one.since >= 0 and now - one.since > SOON:
            held = _unlocked(held, group, queue, one)
        else:
            waiting.append(one if one.since >= 0 else one._replace(since=now))
    return Guess(held, tuple(waiting))


def _at_any_time(guesses: Iterable[Guess], group: int, queue: int) -> tuple[Guess, ...]:
    """Each guess, and each guess with some of its unlocks done meanwhile; those with most done come first."""
    found: list[Guess] = []
    for guess in guesses:
        some = [guess]
        for one in guess.open:
            some += [
                Guess(
                    _unlocked(each.leases, group, queue, one), tuple(other for other in each.open if other is not one)
                )
                for each in some
            ]
        found += reversed(some)
    return _distinct(found)


def _unlocked(held: Leases, group: int, queue: int, one: Unlocking) -> Leases:
    return broker_locks.unlock_queues(held, group, one.client, (queue,))[0]


def _distinct(guesses: Iterable[Guess]) -> tuple[Guess, ...]:
    """Each guess once; they hold mappings, which cannot be hashed."""
    return tuple({repr(guess): guess for guess in guesses}.values())
