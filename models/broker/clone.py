"""CLONE_GROUP_OFFSET: one group takes over the offsets of another (BQ-CLONE-1).

No request is refused, so the caller does not notice when nothing was cloned.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "BQ-CLONE-1",
        "Cloning replaces all that the destination stored for the topic by what the source stored for it, whether or "
        "not either group exists, negative offsets and queues beyond the topic's too. Without such offsets, or "
        "without the topic, nothing happens. The answer is always success. Pending resets are not cloned.",
        "AdminBrokerProcessor#cloneGroupOffset, ConsumerOffsetManager#cloneOffset @ 4.7.1, 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-CLONE-BLANK",
        "Without a topic nothing is cloned, although the request then means all topics.",
        "AdminBrokerProcessor#cloneGroupOffset @ 4.7.1, 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-CLONE-ONLINE",
        "Unless the request says offline, a source whose members subscribe to something, but not to the topic, is "
        "passed over; from 5.1.0 having pulled from the topic is as good as a subscription. A pull counts that carries "
        "an expression which can be read, even when it is refused for its language.",
        "AdminBrokerProcessor#cloneGroupOffset, ConsumerManager#findSubscriptionData @ 4.7.1, 5.1.0, 5.5.0",
    ),
)

_CLONE = reasons_by_kind(
    ("BQ-CLONE-1",), "unknown topic", "nothing to clone", "to a group without offsets", "offsets replaced"
)
_BLANK = Reason(("BQ-CLONE-BLANK",), "no topic")
_NOT_SUBSCRIBED = Reason(("BQ-CLONE-ONLINE",), "not subscribed")


def clone_offsets(
    state: BrokerState, source: str, destination: str, topic: str, passed_over: bool
) -> Answer[BrokerState]:
    """None. ``topic`` may be blank; ``passed_over``: do the source's members subscribe to other topics only, and
    does the request not say offline (BQ-CLONE-ONLINE)?"""
    if not topic:
        return state, None, _BLANK
    if topic not in state.topics:
        return state, None, _CLONE["unknown topic"]
    if passed_over:
        return state, None, _NOT_SUBSCRIBED
    cloned = {
        (destination, topic, key[2]): offset for key, offset in state.stored.items() if key[:2] == (source, topic)
    }
    if not cloned:
        return state, None, _CLONE["nothing to clone"]
    kept = {key: offset for key, offset in state.stored.items() if key[:2] != (destination, topic)}
    why = _CLONE["offsets replaced" if len(kept) < len(state.stored) else "to a group without offsets"]
    return state._replace(stored={**kept, **cloned}), None, why
