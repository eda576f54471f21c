"""By when whole consumers show what a step leads to, in their own time.

What needs no timer happens at once: a message ends the pull that waits for it, and members that are notified of a
change rebalance. The rest waits for a timer or a pause of the client: a commit for the next 5 s (TIMER-PERSIST), a
correction or a reset for 10 s (WHOLE-MOVED, RST-WAIT), what could not be done for the next round, 20 s (REB-SVC-1), and
a pull that is not answered for its end (WHOLE-SILENT). Of a route that changes (TIMER-ROUTE, 30 s) this counts from the
moment when members have asked for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from rocketmq_conformance.models.client.whole_moves import COMMIT, PULL, SILENT, Fail

#: Seconds of each.
AT_ONCE, RETRY, COMMITS, CORRECTION, ROUND, PULL_END = 0.0, 3.0, 5.0, 10.0, 20.0, 33.0
#: Until what was polled of a lite pull consumer is stored: one timer writes it into memory, and another one sends it.
POLLED_COMMITS = 2 * COMMITS
#: Until a client that has begun persists for the first time.
FIRST_COMMIT = 10.0
#: What late answers, one after the other, may add to a round of five queues.
_LATE_ROUND = 10.0


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
) -> Due:
    """By when a step is seen for which these rules fired, with the requests that failed before it and those that fail
    now; ``late`` is the one whose answers are late, and ``commits`` how long (s) offsets take to be stored."""
    owners = max((_mended(move) for request, move in before.items() if after.get(request) != move), default=AT_ONCE)
    if any(request != COMMIT for request in after):
        # what fails is tried again in every round
        owners += ROUND
    if late:
        owners += _LATE_ROUND
    if "WHOLE-RESET" in rules:
        owners += CORRECTION
    if "WHOLE-MOVED" in rules:
        owners += CORRECTION + ROUND
    return Due(owners, owners + commits)


def _mended(move: Fail) -> float:
    """Until members do what they could not while a request failed."""
    if move.request == PULL:
        return PULL_END if move.fault == SILENT else RETRY
    return AT_ONCE if move.request == COMMIT else ROUND
