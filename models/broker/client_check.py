"""CHECK_CLIENT_CONFIG: may a client subscribe by an expression (BQ-CHECK-CLIENT)?"""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.property_filter import compiled
from rocketmq_conformance.models.broker.subscription import NO_FILTER, SQL92, UNREADABLE, names_tags
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "BQ-CHECK-CLIENT",
        "A client that asks whether it may subscribe (CHECK_CLIENT_CONFIG, from 4.1.0) is told SUCCESS for tags, "
        "whatever the expression is, and SYSTEM_ERROR for any other language unless the broker has "
        "enablePropertyFilter: then SUBSCRIPTION_PARSE_FAILED if it cannot compile the expression.",
        "ClientManageProcessor#checkClientConfig @ 4.1.0, 4.9.7, 5.3.3",
        releases="4.1.0+",
    ),
)

_CHECK = {kind: Reason(("BQ-CHECK-CLIENT",), kind) for kind in ("tags", "no filter for such expressions")}
_COMPILED = {kind: Reason(("BQ-CHECK-CLIENT", "BQ-SQL-COMPILE"), kind) for kind in ("compiled", "not compiled")}


def check_client(rules: BrokerRules, expression: str | None, kind: str | None) -> tuple[Err | None, Reason]:
    """BQ-CHECK-CLIENT: None, or the error. ``kind`` is the language of the expression, None when it is not sent."""
    if names_tags(rules, kind):
        return None, _CHECK["tags"]
    if not rules.filters_properties:
        return NO_FILTER, _CHECK["no filter for such expressions"]
    if expression and kind == SQL92 and compiled(expression) is not None:
        return None, _COMPILED["compiled"]
    return UNREADABLE, _COMPILED["not compiled"]
