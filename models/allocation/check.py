"""The argument checks that strategies share, and the types of their answers (ALLOC-CHK-1).

A member that is not in the member list gets nothing and no error: its rebalance drops every queue it has. Missing
queues are an error instead, and on an error a rebalance keeps what it has.
"""

from __future__ import annotations

from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "ALLOC-CHK-1",
        "In this order: an empty own id, no queues, no members are illegal arguments; an own id that is not among "
        "the members gets nothing, without an error. A blank id is an id.",
        "AbstractAllocateMessageQueueStrategy#check @ 4.9.4, 5.5.0; AllocateMessageQueueAveragely#allocate @ 4.0.0",
    ),
)

Queues = tuple[Queue, ...]
Members = tuple[str, ...]
#: The answer of a strategy: the queues of one member, and the reason.
Shares = tuple[Expected, Reason]

ILLEGAL_ARGUMENT = Err("ILLEGAL_ARGUMENT")

_EMPTY_ID = Reason(("ALLOC-CHK-1",), "own id empty")
_NO_QUEUES = Reason(("ALLOC-CHK-1",), "no queues")
_NO_MEMBERS = Reason(("ALLOC-CHK-1",), "no members")
_NOT_A_MEMBER = Reason(("ALLOC-CHK-1",), "own id missing")


def refusal(me: str, queues: Queues, members: Members) -> Shares | None:
    """The answer when the arguments fail a check; None when they pass."""
    if not me:
        return ILLEGAL_ARGUMENT, _EMPTY_ID
    if not queues:
        return ILLEGAL_ARGUMENT, _NO_QUEUES
    if not members:
        return ILLEGAL_ARGUMENT, _NO_MEMBERS
    if me not in members:
        return (), _NOT_A_MEMBER
    return None
