"""Where a consumer that pops starts in a queue: its broker decides, by what the group stored and what the pop asks for.

A push consumer in POP mode asks for MIN with CONSUME_FROM_FIRST_OFFSET, and for MAX otherwise. The gRPC proxy asks for
MAX, whatever its clients want.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.conformance.predict.facts import BrokerFacts, QueueFacts
from rocketmq_conformance.conformance.predict.model_state import ModelQueue, broker_profile, is_hot, model_queue
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pop import MAX, MIN, PopRequest, begin, pop_queue
from rocketmq_conformance.models.broker.subscription import StoredEntry

#: What decides a start besides the stored offset and 0: the last message, or the smallest offset.
LAST_MESSAGE, SMALLEST = "last message", "min"
#: Why a broker gives a consumer that pops nothing.
UNKNOWN_POPS = "the broker does not know pops"
REFUSED_POPS = "the broker refuses pops without a timer wheel (timerWheelEnable=false)"
_SOURCES = {
    "POP-START-1": "stored",
    "POP-RESET-2": "stored",
    "POP-START-3": SMALLEST,
    "POP-START-4": LAST_MESSAGE,
    "POP-START-5": "0",
    "POP-START-7": SMALLEST,
}


class PopStart(NamedTuple):
    """Where a pop starts, and the first message that it gives or waits for; offsets in messages."""

    start: int
    first: int
    source: str
    #: The rule that decides, the one by which the offset is corrected ("" when it is not), and all that take part.
    rule: str
    moved_by: str
    rules: tuple[str, ...]


def refused_pops(broker: BrokerFacts) -> tuple[str, str]:
    """Why a broker gives nothing to pops, and the rule; two empty texts when it does."""
    rules = BrokerRules.of(broker_profile(broker))
    if not rules.pops:
        return UNKNOWN_POPS, "POP-CHECK"
    return (REFUSED_POPS, "POP-CHECK") if rules.pop_needs_timers else ("", "")


def unknown_pops(broker: BrokerFacts) -> str:
    """Why it is not known where pops start; "" when it is."""
    if broker.keeps_pops:
        return f"{broker.name} keeps pops where the model does not see them ({broker.keeps_pops})"
    return f"the master of {broker.name} is gone, and what its slave gives to pops is not known" if broker.slave else ""


def pop_start(broker: BrokerFacts, group: str, queue: QueueFacts, first: bool, time: int | None) -> PopStart | None:
    """The start of a pop that asks for MIN (``first``) or MAX; None when the model does not expect what its broker
    answers about the group. A group that stored nothing is taken to have nothing in flight."""
    rules, mapped, key = BrokerRules.of(broker_profile(broker)), model_queue(queue), (group, queue.topic, queue.queue)
    mode = MIN if first else MAX
    hot = is_hot(rules, mapped, key, time)
    if hot is None and queue.stored is None and mode == MAX and rules.pop_checks_memory:
        return None
    state = mapped.broker(key, time, hot is not False)
    begun = begin(rules, state, key, mode)
    asked = PopRequest(*key, 1, mode)
    after, taken, why = pop_queue(rules, state, asked, None, lambda topic, number: _entries(mapped))
    found = after.stored.get(key, begun.offset) if taken is None else taken.offsets[0]
    rule = next(each for each in why.rules if each in _SOURCES)
    given = mapped.offset(found)
    source = _SOURCES[rule]
    return PopStart(
        start=mapped.offset(begun.offset),
        first=given,
        source="max" if source == LAST_MESSAGE and given >= queue.max else source,
        rule=rule,
        moved_by="POP-START-8" if "POP-START-8" in why.rules else "",
        rules=why.rules,
    )


def _entries(mapped: ModelQueue) -> list[StoredEntry]:
    return [StoredEntry(0)] * len(mapped.offsets)
