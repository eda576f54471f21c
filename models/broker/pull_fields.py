"""Pulls whose fields are missing or cannot be read (BQ-FIELD*)."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pull import PullMessageRequest, pull
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "BQ-FIELD",
        "A search by time, a pull, or a question for min or max without one of its required fields fails when the "
        "broker comes to the field: SYSTEM_ERROR. The group of a pull is looked up before, and created, and each check "
        "that comes first has its own error.",
        "RemotingCommand#decodeCommandCustomHeader, PullMessageProcessor#processRequest @ 4.0.0, 4.9.7, 5.3.3",
    ),
    Rule(
        "BQ-FIELD-PULL",
        "From 4.9.4 and 5.0.0 a pull with a number that cannot be read fails before anything is looked up: "
        "SYSTEM_ERROR. Before, the number counts as not sent.",
        "PullMessageRequestHeader#decode @ 4.9.4, 5.0.0, 5.3.3; PullMessageRequestHeader @ 4.9.3, 5.0.0-ALPHA",
        releases="4.9.4 – 4.9.8, 5.0.0+",
    ),
)

FAILED = Err("SYSTEM_ERROR")


class PullFields(NamedTuple):
    """What a pull asks for; None is a field that was not sent."""

    group: str | None
    topic: str | None
    queue: int | None
    offset: int | None
    most: int | None


def missing_error(rules: BrokerRules, state: BrokerState, fields: PullFields) -> Err:
    """BQ-FIELD: the error of a pull without one of its fields. Its group, if any, was looked up before."""
    group, topic, queue, _, _ = fields
    if group is None:
        if rules.readable:
            return FAILED
        group = ""
    # what the checks before the missing field say of a pull that reads nothing
    asked = PullMessageRequest(group, "" if topic is None else topic, 0 if queue is None else queue, -1, 1)
    _, result, _ = pull(rules, state, asked, None, ())
    if not isinstance(result, Err) or (topic is None and rules.readable and group in state.groups):
        return FAILED
    return result
