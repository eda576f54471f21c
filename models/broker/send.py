"""Sending: the queue a message goes to, and the guarantees about its offset and store time (BQ-SEND-1, BQ-TOPIC-2).

The store time comes from the broker's own clock and cannot be predicted: ``send_observed`` takes the observed times and
checks what can be checked.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.broker.switches import BrokerRules
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-SEND-1",
        "A message gets its queue's max as offset, and a store time not before that of the message in front of it.",
        "CommitLog#asyncPutMessage @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-TOPIC-2",
        "A message for an unknown topic is refused with TOPIC_NOT_EXIST when the default topic that it names does "
        "not exist either; one for a queue beyond the topic's queues with SYSTEM_ERROR, from 5.3.2 INVALID_PARAMETER.",
        "AbstractSendMessageProcessor#msgCheck @ 4.9.7, 5.3.2, 5.5.0",
    ),
)

_NO_TOPIC = Err("TOPIC_NOT_EXIST")
_BAD_QUEUE = {False: Err("SYSTEM_ERROR"), True: Err("INVALID_PARAMETER")}

_REFUSED = {kind: Reason(("BQ-TOPIC-2",), kind) for kind in ("unknown topic", "no such queue")}
_SENT = {
    kind: Reason(("BQ-SEND-1", "BQ-STORE-MAX"), kind)
    for kind in ("first message", "next message", "after everything expired")
}


def send(
    rules: BrokerRules, state: BrokerState, topic: str, queue: int, times: tuple[int, ...], hot: bool = True
) -> Answer[BrokerState]:
    """The offsets of messages stored at ``times`` (ms since the epoch), or the error when they are refused.

    ``hot`` is whether the broker will take message 0 to be in memory.
    """
    known = state.topics.get(topic)
    if known is None:
        return state, _NO_TOPIC, _REFUSED["unknown topic"]
    if queue >= known:
        return state, _BAD_QUEUE[rules.invalid_parameter], _REFUSED["no such queue"]
    log = state.logs.get((topic, queue), ABSENT)
    why = _SENT["next message" if log.times else "after everything expired" if log.first else "first message"]
    longer = log._replace(times=log.times + times, hot=log.hot and hot)
    after = BrokerState(state.topics, state.groups, {**state.logs, (topic, queue): longer}, state.stored, state.pending)
    return after, tuple(range(log.max, longer.max)), why


def send_observed(
    rules: BrokerRules, state: BrokerState, observed: Result, topic: str, queue: int, count: int, hot: bool = True
) -> Answer[BrokerState]:
    """The (offset, store time) pairs of ``count`` messages: the times are those observed, corrected where impossible.

    The expected value equals the observed one if and only if that is acceptable.
    """
    seen = _times(observed, count)
    times: list[int] = []
    log = state.logs.get((topic, queue), ABSENT)
    latest = log.times[-1] if log.times else 0
    for time in seen:
        latest = max(latest, time)
        times.append(latest)
    after, offsets, why = send(rules, state, topic, queue, tuple(times), hot)
    if not isinstance(offsets, tuple):
        return after, offsets, why
    return after, tuple(zip(offsets, times, strict=True)), why


def _times(observed: Result, count: int) -> list[int]:
    """The second item of each pair; 0 where the observation does not look like ``count`` pairs of numbers."""
    if isinstance(observed, tuple) and len(observed) == count:
        pairs = [pair for pair in observed if isinstance(pair, tuple) and len(pair) == 2]
        times = [time for _, time in pairs if type(time) is int]
        if len(times) == count:
            return times
    return [0] * count
