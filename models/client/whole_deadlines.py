"""By when whole consumers show what a step leads to, in their own time.

What needs no timer happens at once: a message ends the pull that waits for it, and members that are notified of a
change rebalance. The rest waits for a timer or a pause of the client: a commit for the next 5 s (TIMER-PERSIST), a
correction or a reset for 10 s (WHOLE-MOVED, RST-WAIT), what could not be done for the next round, 20 s (REB-SVC-1), and
a pull that is not answered for its end (WHOLE-SILENT). Of a route that changes (TIMER-ROUTE, 30 s) this counts from the
moment when members have asked for it.

Orderly consumers wait for locks, too: for their lock timer, 20 s, when the lock of a queue that they have was lost, and
for another member that keeps it. Up to 4.9.8 who was refused a lock asks again in the next round (REB-ADD-LOCK).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.whole import BROADCAST, ORDERLY
from rocketmq_conformance.models.client.whole_moves import COMMIT, PULL, SILENT, Fail

#: Seconds of each.
AT_ONCE, RETRY, COMMITS, CORRECTION, ROUND, PULL_END = 0.0, 3.0, 5.0, 10.0, 20.0, 33.0
#: Until the lock timer asks for all locks, and until a queue is pulled that waited for that.
LOCK_TIMER = 20.0
LOCKED = LOCK_TIMER + RETRY
#: Until the lock of a queue that was lost with messages is given back up to 5.1.4 (REB-REM-2), and from 5.2.0 on at the
#: latest (REB-REM-3), once a round has found that the listener holds one.
UNLOCKED, FORCED = 20.0, ROUND
#: Until those who subscribe to a topic have its queues: one round learns the route, and the next one takes them.
SUBSCRIBED = 2 * ROUND
#: Until what was polled of a lite pull consumer is stored: one timer writes it into memory, and another one sends it.
POLLED_COMMITS = 2 * COMMITS
#: Until a client that has begun persists for the first time.
FIRST_COMMIT = 10.0
#: What late answers, one after the other, may add to a round of five queues.
_LATE_ROUND = 10.0
#: What rules add for consumers of every kind.
WAITS: Mapping[str, float] = MappingProxyType(
    {
        "WHOLE-RESET": CORRECTION,
        "WHOLE-MOVED": CORRECTION + ROUND,
        "WHOLE-ANS-LATE": PULL_END,
        # pulls over a connection that was closed have no answer either
        "WHOLE-BACK-ALONE": PULL_END,
    }
)


class Due(NamedTuple):
    """Seconds until it is seen who has which queue and was given what, and until offsets are stored."""

    owners: float
    stored: float


def due(
    before: Mapping[str, Fail],
    after: Mapping[str, Fail],
    late: str,
    rules: Collection[str],
    commits: float = COMMITS,
    waits: Mapping[str, float] = WAITS,
) -> Due:
    """By when a step is seen for which these rules fired, with the requests that failed before it and those that fail
    now; ``late`` is the one whose answers are late, ``commits`` how long (s) offsets take to be stored, ``waits`` what
    rules add."""
    owners = max((_mended(move) for request, move in before.items() if after.get(request) != move), default=AT_ONCE)
    if any(request != COMMIT for request in after):
        # what fails is tried again in every round
        owners += ROUND
    if late:
        owners += _LATE_ROUND
    owners += sum(seconds for rule, seconds in waits.items() if rule in rules)
    return Due(owners, owners + commits)


def waits_of(kind: str, client: ClientRules, listens: bool = False) -> Mapping[str, float]:
    """What rules add for consumers of a kind; ``listens``: do listeners fail or hold?"""
    if kind == BROADCAST and not client.file_merges:
        # they begin by their file again, and are corrected twice before it has the offset
        return {**WAITS, "WHOLE-MOVED": 2 * WAITS["WHOLE-MOVED"]}
    if kind != ORDERLY:
        return WAITS
    # a queue that was just taken is pulled once the lock timer has confirmed its lock
    taken = AT_ONCE if client.born_locked else LOCKED
    again = taken + (AT_ONCE if client.requests_round else ROUND)
    locks = {rule: seconds + taken for rule, seconds in WAITS.items()}
    # locks that have expired are confirmed by the lock timer alone, and a pull that waits for one is tried again
    locks |= {"REB-LOCK-3": LOCK_TIMER + taken, "PULL-PRE-LOCK": RETRY + again}
    # what is given may be of a queue that was just taken
    locks |= {"WHOLE-LOCK": taken, "WHOLE-SHARE": again, "CONS-ORDER-1": taken}
    if listens and client.unlocks_idle:
        locks["REB-REM-3"] = FORCED + again
    elif listens:
        locks |= {"WHOLE-SHARE": UNLOCKED + again, "REB-LOCK-4": UNLOCKED + again, "REB-REM-2": again}
        # a round finds that the listener has returned
        locks["WHOLE-BUSY"] = ROUND + UNLOCKED + again
    return locks


def _mended(move: Fail) -> float:
    """Until members do what they could not while a request failed."""
    if move.request == PULL:
        return PULL_END if move.fault == SILENT else RETRY
    return AT_ONCE if move.request == COMMIT else ROUND
