"""QUERY_CONSUMER_OFFSET: the broker's answer about the offset that a group stored (BQ-QUERY-*).

A stored offset is answered as it is. Without one the broker may still answer 0, "start at the first message", when it
believes that message 0 is still in memory. Its belief about an *empty* queue was reversed in 5.1.0, and that is the
most important difference between brokers:

===========================  =================  ==================
no stored offset             3.2.0 … 5.0.0      5.1.0 and later
===========================  =================  ==================
queue empty or absent        0                  QUERY_NOT_FOUND
message 0 in memory          0                  0
message 0 cold               QUERY_NOT_FOUND    QUERY_NOT_FOUND
min > 0                      QUERY_NOT_FOUND    QUERY_NOT_FOUND
all expired, min still 0     0                  (min is max there)
===========================  =================  ==================
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Origin, Reason, Rule

RULES = (
    Rule(
        "BQ-QUERY-1",
        "A stored offset of 0 or more is answered as it is: unclamped, whether or not topic, group and queue exist.",
        "ConsumerManageProcessor#queryConsumerOffset @ 5.5.0",
    ),
    Rule(
        "BQ-COM-3",
        "Offsets are kept by topic, group and queue; a stored negative one counts as none.",
        "ConsumerOffsetManager#queryOffset @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-QUERY-4",
        "Without a stored offset, brokers up to 5.0.0 answer 0 when min <= 0 and entry 0 is not judged to be on "
        "disk; an empty or absent queue counts as not on disk.",
        "ConsumerManageProcessor#queryConsumerOffset @ 4.9.7",
        releases="up to 5.0.0",
    ),
    Rule(
        "BQ-DISK-1",
        "Up to 5.0.0 entry 0 is judged to be on disk when more than accessMessageInMemoryMaxRatio percent of the "
        "machine's memory was written after it, whatever is really in memory, and even if its message expired.",
        "DefaultMessageStore#checkInDiskByConsumeOffset @ 4.9.7, 5.0.0",
        releases="up to 5.0.0",
    ),
    Rule(
        "BQ-QUERY-G3",
        "Without a stored offset, brokers from 5.1.0 answer 0 only when min <= 0 and entry 0 exists and is in "
        "memory; an empty or absent queue answers QUERY_NOT_FOUND.",
        "ConsumerManageProcessor#queryConsumerOffset @ 5.1.0, 5.5.0",
        releases="5.1.0+",
    ),
    Rule(
        "BQ-MEM-2",
        "From 5.1.0 the broker asks the system whether the message's pages are in memory; on Java 14 and later it "
        "cannot, and takes them to be.",
        "DefaultMappedFile#isLoaded @ 5.1.0, 5.5.0",
        releases="5.1.0+",
    ),
    Rule(
        "BQ-QUERY-SETZERO",
        "setZeroIfNotFound=false turns every missing offset into QUERY_NOT_FOUND; absent and true are the same. "
        "Brokers of 4.x do not look at it.",
        "ConsumerManageProcessor#queryConsumerOffset @ 5.0.0, 5.5.0",
        releases="5.0.0-ALPHA+",
    ),
    Rule(
        "BQ-QUERY-FIELD",
        "A query without queue id fails inside the broker: SYSTEM_ERROR.",
        "ConsumerManageProcessor#queryConsumerOffset @ 4.9.7, 5.5.0",
        origin=Origin.OBSERVED,
    ),
)

NOT_FOUND = Err("QUERY_NOT_FOUND")
SYSTEM_ERROR = Err("SYSTEM_ERROR")

_PENDING = Reason(("BQ-RESET-3",), "reset, not yet sent")
_STORED = Reason(("BQ-QUERY-1",), "stored")
_STORED_ZERO = Reason(("BQ-QUERY-1",), "stored 0")
_SET_ZERO = Reason(("BQ-QUERY-SETZERO",), "no zero wanted")
_FIELD = Reason(("BQ-QUERY-FIELD",), "missing field")


def _reasons(rule: str, memory: str) -> tuple[dict[str, Reason], dict[str, Reason]]:
    """Reasons when nothing is stored, and when the stored offset is negative."""
    plain = {kind: Reason((rule,), kind) for kind in ("expired", "empty")}
    plain |= {kind: Reason((rule, memory), kind) for kind in ("hot", "cold", "stale", "stale, cold")}
    return plain, {kind: Reason((*why.rules, "BQ-COM-3"), f"negative stored, {kind}") for kind, why in plain.items()}


_OLD = _reasons("BQ-QUERY-4", "BQ-DISK-1")
_NEW = _reasons("BQ-QUERY-G3", "BQ-MEM-2")


def query_offset(
    rules: BrokerRules,
    state: BrokerState,
    group: str,
    topic: str,
    queue: int | None,
    set_zero: bool | None = None,
) -> Answer[BrokerState]:
    """The offset (messages), or ``Err("QUERY_NOT_FOUND")``; ``Err("SYSTEM_ERROR")`` when ``queue`` is missing."""
    if queue is None:
        return state, SYSTEM_ERROR, _FIELD
    key = (group, topic, queue)
    if state.pending and key in state.pending:
        return state, state.pending[key], _PENDING
    stored = state.stored.get(key)
    if stored is not None and stored >= 0:
        return state, stored, _STORED if stored else _STORED_ZERO
    if set_zero is False and rules.set_zero:
        return state, NOT_FOUND, _SET_ZERO
    log = state.logs.get((topic, queue), ABSENT)
    why = (_NEW if rules.empty_is_unknown else _OLD)[stored is not None]
    if log.min > 0:
        return state, NOT_FOUND, why["expired"]
    if log.first > 0:  # message 0 is gone, but min does not show it (BQ-MIN-2)
        if rules.empty_is_unknown or not log.hot:
            return state, NOT_FOUND, why["stale, cold"]
        return state, 0, why["stale"]
    if not log.times:
        return state, NOT_FOUND if rules.empty_is_unknown else 0, why["empty"]
    if log.hot or rules.always_resident:
        return state, 0, why["hot"]
    return state, NOT_FOUND, why["cold"]
