"""QUERY_CONSUMER_OFFSET: what a broker says of the offset that a group stored (BQ-QUERY-*).

A stored offset is answered as it is. Without one the broker may still answer 0, "start at the first message",
when it believes that message 0 is still in memory. What it believes of an *empty* queue turned around in 5.1.0,
and that is the most important difference between brokers:

=====================  =================  ==================
no stored offset       3.2.0 … 5.0.0      5.1.0 and later
=====================  =================  ==================
queue empty or absent  0                  QUERY_NOT_FOUND
message 0 in memory    0                  0
message 0 cold         QUERY_NOT_FOUND    QUERY_NOT_FOUND
min > 0                QUERY_NOT_FOUND    QUERY_NOT_FOUND
=====================  =================  ==================
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.broker.switches import BrokerRules
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Rule, Why

RULES = (
    Rule(
        "BQ-QUERY-1",
        "A stored offset of 0 or more is answered as it is: unclamped, whether or not topic, group and queue exist.",
        "ConsumerManageProcessor#queryConsumerOffset @ 5.5.0",
    ),
    Rule(
        "BQ-QUERY-4",
        "Without a stored offset, brokers up to 5.0.0 answer 0 when min <= 0 and entry 0 is not judged to be on "
        "disk; an empty or absent queue counts as not on disk.",
        "ConsumerManageProcessor#queryConsumerOffset @ 4.9.7",
        releases="3.2.0 – 5.0.0",
    ),
    Rule(
        "BQ-QUERY-G3",
        "Without a stored offset, brokers from 5.1.0 answer 0 only when min <= 0 and entry 0 exists and is in "
        "memory; an empty or absent queue answers QUERY_NOT_FOUND.",
        "ConsumerManageProcessor#queryConsumerOffset @ 5.1.0, 5.5.0",
        releases="5.1.0+",
    ),
    Rule(
        "BQ-QUERY-SETZERO",
        "setZeroIfNotFound=false turns every missing offset into QUERY_NOT_FOUND; absent and true are the same. "
        "Brokers of 4.x do not look at it.",
        "ConsumerManageProcessor#queryConsumerOffset @ 5.0.0, 5.5.0",
        releases="5.0.0-ALPHA+",
    ),
)

NOT_FOUND = Err("QUERY_NOT_FOUND")

_STORED = Why(("BQ-QUERY-1",), "stored")
_STORED_ZERO = Why(("BQ-QUERY-1",), "stored 0")
_SET_ZERO = Why(("BQ-QUERY-SETZERO",), "no zero wanted")
_OLD = {kind: Why(("BQ-QUERY-4",), kind) for kind in ("expired", "empty", "hot", "cold")}
_NEW = {kind: Why(("BQ-QUERY-G3",), kind) for kind in ("expired", "empty", "hot", "cold")}


def query_offset(
    rules: BrokerRules,
    state: BrokerState,
    group: str,
    topic: str,
    queue: int,
    set_zero: bool | None = None,
) -> Answer[BrokerState]:
    """The offset (messages), or ``Err("QUERY_NOT_FOUND")``."""
    stored = state.stored.get((group, topic, queue), -1)
    if stored >= 0:
        return state, stored, _STORED if stored else _STORED_ZERO
    if set_zero is False and rules.set_zero:
        return state, NOT_FOUND, _SET_ZERO
    log = state.logs.get((topic, queue), ABSENT)
    why = _NEW if rules.empty_is_unknown else _OLD
    if log.min > 0:
        return state, NOT_FOUND, why["expired"]
    if log.first > 0 or not log.times:  # entry 0 is not there
        return state, NOT_FOUND if rules.empty_is_unknown else 0, why["empty"]
    if log.hot or rules.always_resident:
        return state, 0, why["hot"]
    return state, NOT_FOUND, why["cold"]
