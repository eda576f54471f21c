"""AVG_BY_CIRCLE: queues are dealt in turn, like cards (ALLOC-CIRC-1)."""

from __future__ import annotations

from rocketmq_conformance.models.allocation.check import Members, Queues, Shares, refusal
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "ALLOC-CIRC-1",
        "Queue i belongs to place i modulo the number of members; an id owns the queues of its first place only.",
        "AllocateMessageQueueAveragelyByCircle#allocate @ 4.0.0, 5.5.0",
    ),
)

_DEALT = Reason(("ALLOC-CIRC-1",), "dealt")
_SURPLUS = Reason(("ALLOC-CIRC-1",), "more members than queues")
_TWICE = Reason(("ALLOC-CIRC-1",), "own id twice")


def by_circle(me: str, queues: Queues, members: Members) -> Shares:
    """The queues of ``me``."""
    refused = refusal(me, queues, members)
    if refused:
        return refused
    place = members.index(me)
    why = _TWICE if members.count(me) > 1 else _DEALT if place < len(queues) else _SURPLUS
    return queues[place :: len(members)], why
