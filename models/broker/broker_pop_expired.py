"""The broker of suite broker-pop-expired: a group pops from the queues of an aged store, whose head has expired.

Only there does it show where a group begins: elsewhere the last message of a new queue is in memory with all others.
"""

from __future__ import annotations

from typing import cast

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import BrokerOffsetsModel
from rocketmq_conformance.models.broker.fixtures import GROUPS
from rocketmq_conformance.models.broker.pop import PopRequest, Taken, pop
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.broker.subscription import StoredEntry
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer

#: What a filter sees of a message that passes every limit.
_SMALL_ENTRY = StoredEntry(0)


class BrokerPopExpiredModel(BrokerOffsetsModel):
    """The rules of suite broker-pop-expired; every method is pure. All is about group 0 and the aged topic."""

    __slots__ = ()

    def pop(self, state: BrokerState, queue: int, most: int, mode: int) -> Answer[BrokerState]:
        """POP-START-*: (the offset that it begins at, offsets of the messages), or the error."""
        asked = PopRequest(GROUPS[0], aged_store.TOPIC, queue, most, mode)

        def entries(topic: str, number: int) -> list[StoredEntry]:
            return [_SMALL_ENTRY] * len(state.logs.get((topic, number), ABSENT).times)

        after, result, why = pop(self.rules, state, asked, None, entries)
        if isinstance(result, Err):
            return after, result, why
        ((_, _, start, offsets),) = cast("tuple[Taken, ...]", result)
        return after, (start, offsets), why
