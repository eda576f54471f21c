"""UPDATE_CONSUMER_OFFSET: storing an offset (BQ-UPDATE-*).

No release checks the *value*: an offset beyond max, below the stored one, or negative is stored as it is. The
difference between releases is whether the broker checks the names.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import BrokerState, broker_state
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-UPDATE-1",
        "A commit is checked from 5.3.0 for its group, from 5.0.0 for its topic, in that order; 4.x stores it for "
        "any name. The queue id is never checked.",
        "ConsumerManageProcessor#updateConsumerOffset @ 4.9.7, 5.0.0, 5.3.0, 5.5.0",
    ),
    Rule(
        "BQ-UPDATE-FIELD",
        "A commit without queue id or offset answers SYSTEM_ERROR, from 5.3.2 INVALID_PARAMETER; unknown names are "
        "noticed first.",
        "ConsumerManageProcessor#updateConsumerOffset @ 5.1.0, 5.3.2",
    ),
    Rule(
        "BQ-UPDATE-2",
        "The value is never checked: larger than max, smaller than the stored one and negative ones all overwrite. The "
        "answer is a code, without header fields and without a body.",
        "ConsumerOffsetManager#commitOffset, ConsumerManageProcessor#updateConsumerOffset @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-UPDATE-RESET",
        "While a reset of the queue is pending, a commit that passes the checks is answered with success and not "
        "stored.",
        "ConsumerManageProcessor#updateConsumerOffset @ 5.2.0, 5.5.0",
        releases="5.1.0+",
        needs="useServerSideResetOffset, the default from 5.2.0",
    ),
)

NO_GROUP = Err("SUBSCRIPTION_GROUP_NOT_EXIST")
NO_TOPIC = Err("TOPIC_NOT_EXIST")
SYSTEM_ERROR = Err("SYSTEM_ERROR")
INVALID_PARAMETER = Err("INVALID_PARAMETER")

_GROUP = Reason(("BQ-UPDATE-1",), "unknown group")
_TOPIC = Reason(("BQ-UPDATE-1",), "unknown topic")
_FIELD = Reason(("BQ-UPDATE-FIELD",), "missing field")
_FIRST = Reason(("BQ-UPDATE-2",), "first commit")
_FORWARD = Reason(("BQ-UPDATE-2",), "forward")
_SAME = Reason(("BQ-UPDATE-2",), "same again")
_BACK = Reason(("BQ-UPDATE-2",), "backwards")
_NEGATIVE = Reason(("BQ-UPDATE-2",), "negative")
_UNKNOWN = Reason(("BQ-UPDATE-1", "BQ-UPDATE-2"), "unknown name stored")
_DISCARDED = Reason(("BQ-UPDATE-RESET", "BQ-RESET-3"), "swallowed")


def commit_offset(
    rules: BrokerRules,
    state: BrokerState,
    group: str,
    topic: str,
    queue: int | None,
    offset: int | None,
) -> Answer[BrokerState]:
    """None when stored; otherwise the error code. ``None`` for queue or offset is a field that is not sent."""
    topics, groups = state.topics, state.groups
    if rules.group_checked and group not in groups:
        return state, NO_GROUP, _GROUP
    if rules.topic_checked and topic not in topics:
        return state, NO_TOPIC, _TOPIC
    if queue is None or offset is None:
        return state, INVALID_PARAMETER if rules.invalid_parameter else SYSTEM_ERROR, _FIELD
    key = (group, topic, queue)
    if key in state.pending:
        return state, None, _DISCARDED
    if offset < 0:
        why = _NEGATIVE
    elif group not in groups or topic not in topics:
        why = _UNKNOWN
    else:
        old = state.stored.get(key)
        if offset == old:  # most commits come from a timer, and change nothing
            return state, None, _SAME
        why = _FIRST if old is None else _FORWARD if offset > old else _BACK
    stored = {**state.stored, key: offset}
    return broker_state((topics, groups, state.logs, stored, state.pending, state.disabled)), None, why
