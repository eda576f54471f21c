"""Process queues: a member's record of each queue that it owns, from gaining to dropping it (REB-DROP-EXPIRY).

A process queue is made when a rebalance adds the queue, and dropped when one takes it away. A queue that comes back
gets a new one, so that a holder of the old one (a pull under way, a busy listener) finds it dropped: a late result must
not move the offset of a queue that another member may have gone on with.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.fast_tuples import maker
from rocketmq_conformance.models.rule import Rule, reasons_by_kind

RULES = (
    Rule(
        "REB-DROP-EXPIRY",
        "An owned queue that was not pulled for more than 120 s is dropped like one that is lost, and added anew in "
        "the same round; only of push consumers.",
        "RebalanceImpl#updateProcessQueueTableInRebalance, ProcessQueue#isPullExpired @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "PULL-PRE-DROP",
        "A pull request ends when its process queue was dropped; otherwise the time of the last pull is set first, and "
        "without a subscription the pull is put off.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-DROP",
        "The offset of a listener's result is written (increase-only) unless the process queue that the messages came "
        "from was dropped in the meantime.",
        "ConsumeMessageConcurrentlyService#processConsumeResult @ 4.0.0, 4.9.8, 5.5.0",
    ),
)

#: Ms without a pull that a queue survives; one more and it is dropped.
PULL_EXPIRY = 120_000


class ProcessQueue(NamedTuple):
    """One owned queue."""

    #: Its place among the member's process queues: the first has number 1.
    number: int
    #: Offset in messages that its pull request asks for.
    offset: int
    #: When it was last pulled, or made: ms of the case's clock.
    pulled: int
    #: The rest is for listeners that take messages in order. Does the client take it for locked?
    locked: bool = True
    #: When a broker last granted the lock, or when the process queue was made: ms of the case's clock.
    confirmed: int = 0
    #: Was it dropped, and is it in the table only because its listener is busy?
    dropped: bool = False
    #: Was its start asked for again at the first pull?
    corrected: bool = False
    #: Offsets of the messages that arrived and that no listener has taken yet, in order.
    waiting: tuple[int, ...] = ()
    #: The offset of the message that a listener is busy with.
    taking: int = -1


process_queue = maker(ProcessQueue)

PULL_REASONS = reasons_by_kind(("PULL-PRE-DROP", "PULL-COM-1"), "pulled, commits", "pulled, nothing to commit")
PULL_REASONS |= reasons_by_kind(("PULL-PRE-DROP", "PULL-COM-BC"), "pulled, broadcasting")
PULL_REASONS |= reasons_by_kind(("PULL-PRE-DROP",), "dropped", "no subscription", "no member")
RESULT_REASONS = reasons_by_kind(("CONS-DROP", "OFF-UPD-1"), "first", "raised", "kept")
UPDATE_REASONS = reasons_by_kind(("OFF-UPD-1",), "owned", "not owned", "no member")
DROPPED_REASONS = reasons_by_kind(("CONS-DROP",), "dropped", "dropped and added anew", "nothing taken", "no member")
TAKE_REASONS = reasons_by_kind(("CONS-DROP",), "taken", "not owned", "no such member")


def is_expired(queue: ProcessQueue, now: int) -> bool:
    """REB-DROP-EXPIRY: has it gone without a pull for too long?"""
    return now - queue.pulled > PULL_EXPIRY


def confirmed(queue: ProcessQueue, now: int) -> ProcessQueue:
    """REB-LOCK-1: its lock was granted."""
    number, offset, pulled, _, _, dropped, corrected, waiting, taking = queue
    return process_queue((number, offset, pulled, True, now, dropped, corrected, waiting, taking))


def with_messages(queue: ProcessQueue, waiting: tuple[int, ...], taking: int) -> ProcessQueue:
    """The process queue with other messages: those that wait, and the one that a listener is busy with."""
    number, offset, pulled, locked, since, dropped, corrected, _, _ = queue
    return process_queue((number, offset, pulled, locked, since, dropped, corrected, waiting, taking))


def unlocked(queue: ProcessQueue) -> ProcessQueue:
    """The broker answered that another client has the lock."""
    number, offset, pulled, _, since, dropped, corrected, waiting, taking = queue
    return process_queue((number, offset, pulled, False, since, dropped, corrected, waiting, taking))


def pulled_at(queue: ProcessQueue, now: int) -> ProcessQueue:
    """PULL-PRE-DROP: the time of its last pull is set."""
    number, offset, _, locked, since, dropped, corrected, waiting, taking = queue
    return process_queue((number, offset, now, locked, since, dropped, corrected, waiting, taking))
