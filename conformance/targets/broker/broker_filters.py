"""Plays the suite ``broker-filters`` on a broker: messages with properties, and pulls by expressions, as jobs."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.broker import jobs, requests, responses
from rocketmq_conformance.conformance.targets.broker.case_names import CaseNames
from rocketmq_conformance.conformance.targets.broker.jobs import Requests
from rocketmq_conformance.conformance.targets.broker.part import Part
from rocketmq_conformance.models.broker.broker_filters import MESSAGES, PROPERTIES, expression_of
from rocketmq_conformance.models.broker.subscription import SQL92
from rocketmq_conformance.suites.broker_filters import (
    CheckSql,
    CheckSubscription,
    PullFiltered,
    PullSql,
    SendNamedMessages,
    SendProperties,
)


def send_named(names: CaseNames, queue: int, messages: tuple[str, ...]) -> Requests:
    """Send messages: their offsets, once the queue shows them."""
    return (yield from jobs.send_with(names, 0, queue, [(MESSAGES | PROPERTIES)[name] for name in messages]))


def pull_filtered(
    names: CaseNames,
    queue: int,
    offset: int,
    most: int,
    subscription: tuple[str | None, str | None],
    class_filter: bool,
) -> Requests:
    """Pull by an expression."""
    expression, kind = subscription
    (answer,) = yield [
        requests.pull_by(
            names.used_group(0), names.topic(0), queue, offset, expression, kind, most, class_filter=class_filter
        )
    ]
    return responses.pulled_with_bounds(answer)


def check_subscription(names: CaseNames, subscription: tuple[str | None, str | None]) -> Requests:
    """Ask whether a client may subscribe."""
    (answer,) = yield [requests.check_client(names.client(), names.group(0), names.topic(0), *subscription)]
    return responses.refused(answer)


def pull_sql(names: CaseNames, queue: int, offset: int, negated: bool, first: str, joint: str, second: str) -> Requests:
    """Pull by an expression in SQL92."""
    subscription = (expression_of(negated, first, joint, second), SQL92)
    return (yield from pull_filtered(names, queue, offset, 32, subscription, False))


def check_sql(names: CaseNames, negated: bool, first: str, joint: str, second: str) -> Requests:
    """Ask whether a client may subscribe by such an expression."""
    return (yield from check_subscription(names, (expression_of(negated, first, joint, second), SQL92)))


PART = Part(
    jobs={
        SendNamedMessages: send_named,
        PullFiltered: pull_filtered,
        CheckSubscription: check_subscription,
        SendProperties: send_named,
        PullSql: pull_sql,
        CheckSql: check_sql,
    }
)
