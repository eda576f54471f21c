"""AVG, the default strategy: contiguous blocks, the larger ones first (ALLOC-AVG-1).

With Q queues and C members everyone gets Q // C queues and the first Q % C members one more. Members are counted
by place in the list: when an id occurs twice, both clients that bear it take the first place, and the queues of
the second place have no owner.
"""

from __future__ import annotations

from rocketmq_conformance.models.allocation.check import Members, Queues, Shares, refusal
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "ALLOC-AVG-1",
        "Queues are cut into contiguous blocks in list order, one per place in the member list; sizes differ by at "
        "most one, larger blocks first; an id owns the block of its first place only.",
        "AllocateMessageQueueAveragely#allocate @ 4.0.0, 5.5.0",
    ),
)

_RULE = ("ALLOC-AVG-1",)
_LARGER = Reason(_RULE, "larger block")
_SMALLER = Reason(_RULE, "smaller block")
_EVEN = Reason(_RULE, "all blocks even")
_SURPLUS = Reason(_RULE, "more members than queues")
_TWICE = Reason(_RULE, "own id twice")


def averagely(me: str, queues: Queues, members: Members) -> Shares:
    """The queues of ``me``."""
    refused = refusal(me, queues, members)
    if refused:
        return refused
    place = members.index(me)
    size, larger = divmod(len(queues), len(members))
    if members.count(me) > 1:
        why = _TWICE
    elif not size and place >= larger:
        why = _SURPLUS
    elif not larger:
        why = _EVEN
    else:
        why = _LARGER if place < larger else _SMALLER
    start = place * size + min(place, larger)
    return queues[start : start + size + (place < larger)], why
