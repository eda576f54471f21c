"""The suite ``broker-filters``: messages with tags and properties, and pulls that carry an expression."""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_filters import (
    MESSAGES,
    PROPERTIES,
    BrokerFiltersModel,
    BrokerFiltersState,
    show,
)
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.configuration import PROPERTY_FILTER
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import numbers
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_QUEUE = Values(0, 1, weights=(5, 1))
_SENT = Values(
    *((name,) for name in MESSAGES),
    ("A", "none", "Aa"),
    ("BB", "BB", "A", "A"),
    ("one", "ten", "fraction", "text"),
    weights=(3, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3),
)
TAG, SQL92 = "TAG", "SQL92"
#: Expressions with their language; None is a field that is not sent.
_SUBSCRIPTION = Values(
    ("*", TAG),
    ("A", TAG),
    ("A || Aa", TAG),
    ("Aa", TAG),
    ("BB||none", TAG),
    (" A ", TAG),
    ("|| A", TAG),
    ("A ||", TAG),
    ("||", TAG),
    ("", TAG),
    (" ", TAG),
    (" * ", TAG),
    ("* || B", TAG),
    ("f5a5a608", TAG),
    ("polygenelubricants", TAG),
    ("\u3000A", TAG),
    (None, TAG),
    ("A", None),
    ("A", ""),
    ("*", ""),
    ("", ""),
    (None, SQL92),
    ("", SQL92),
    ("a > 1", SQL92),
    ("a >", SQL92),
    ("a > 1", "sql92"),
    weights=(4, 8, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 1, 1, 2, 1, 1),
)


def _checks(profile: Profile) -> bool:
    return BrokerRules.of(profile).typed_expressions


@operation(
    "Send messages to a queue, one after the other: answers their offsets.", side=Side.BROKER, weight=8, words=numbers
)
class SendNamedMessages(Operation):
    queue: Annotated[int, _QUEUE]
    messages: Annotated[tuple[str, ...], _SENT]


@operation(
    "Pull messages by an expression and its language, with or without the flag of class filters: answers the response "
    "code, the next offset, min, max, and the offsets of the messages.",
    side=Side.BROKER,
    weight=24,
    words=words.BOUNDED,
)
class PullFiltered(Operation):
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 2, 3, 6, 10, -1, weights=(10, 4, 3, 2, 2, 1, 1))]
    most: Annotated[int, Values(32, 1, 2, 3, weights=(6, 2, 2, 1))]
    subscription: Annotated[tuple[str | None, str | None], _SUBSCRIPTION]
    class_filter: Annotated[bool, Values(False, True, weights=(12, 1))]


@operation(
    "Ask whether a client may subscribe by an expression and its language.", side=Side.BROKER, weight=3, offered=_checks
)
class CheckSubscription(Operation):
    subscription: Annotated[tuple[str | None, str | None], _SUBSCRIPTION]


#: Conditions in SQL92, and texts that are none.
_CONDITION = Values(
    "a = 1",
    "a > 1",
    "a >= 2.5",
    "a < 10",
    "a <= 1",
    "a <> 1",
    "a = 1.0",
    "1 < a",
    "10 = a",
    "a > -5",
    "a = -3",
    "a < 4000000000",
    "a = '1'",
    "b = 'x'",
    "b <> 'x'",
    "b = 'it''s'",
    "B = 'x'",
    "TAGS = 'A'",
    "b = TRUE",
    "TRUE = b",
    "a = b",
    "a <> c",
    "a > c",
    "a <= b",
    "c = d",
    "a IS NULL",
    "a is not null",
    "(a = 1) IS NULL",
    "a IN ('1', '10')",
    "a NOT IN ('1', '10')",
    "b In ('x')",
    "a BETWEEN 1 AND 10",
    "a NOT BETWEEN 2 AND 9",
    "a NOT BETWEEN 10 AND 1",
    "a BETWEEN 1 AND -1",
    "a BETWEEN b AND c",
    "TRUE",
    "FALSE",
    "NULL",
    "a",
    "NOT a",
    "NOT a = 1",
    "NOT b = 'x'",
    "2 > 1",
    "1 = 1.0",
    "'x' = 'y'",
    "1 = TRUE",
    "'x' = 1",
    "-a = 1",
    "a > 1 AND b = 'x' OR c = 5",
    "a = 1 b",
    "a =",
    "a > 'x'",
    "a = NULL",
    "a > TRUE",
    "TRUE = 1",
    "1",
    "'x'",
    "a IN (1)",
    "1 IN ('1')",
    "a IN ()",
    "a BETWEEN 10 AND 1",
    "1 < a < 10",
    "a = 99999999999999999999",
    "a = 0.0",
    "a == 1",
    "a # 1",
    "a NOT b",
    "a IS 1",
    "(a = 1",
    "a = 'x",
)
_JOINT = Values("", "AND", "OR", weights=(3, 2, 2))


def _answers_sql(profile: Profile) -> bool:
    return BrokerRules.of(profile).filters_properties


@operation(
    "Send messages with properties to a queue, one after the other: answers their offsets.",
    side=Side.BROKER,
    weight=10,
    offered=_answers_sql,
    words=numbers,
)
class SendProperties(Operation):
    queue: Annotated[int, _QUEUE]
    messages: Annotated[
        tuple[str, ...],
        Values(*((name,) for name in PROPERTIES), tuple(PROPERTIES), ("one", "ten", "fraction", "text")),
    ]


@operation(
    "Pull messages by an expression in SQL92, of two conditions or of the first one alone: answers as pull_filtered.",
    side=Side.BROKER,
    weight=40,
    offered=_answers_sql,
    words=words.BOUNDED,
)
class PullSql(Operation):
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 5, weights=(12, 2, 1))]
    negated: Annotated[bool, Values(False, True, weights=(3, 1))]
    first: Annotated[str, _CONDITION]
    joint: Annotated[str, _JOINT]
    second: Annotated[str, _CONDITION]


@operation(
    "Ask whether a client may subscribe by such an expression.", side=Side.BROKER, weight=6, offered=_answers_sql
)
class CheckSql(Operation):
    negated: Annotated[bool, Values(False, True, weights=(3, 1))]
    first: Annotated[str, _CONDITION]
    joint: Annotated[str, _JOINT]
    second: Annotated[str, _CONDITION]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerFiltersModel(profile)
    return BoundModel(
        BrokerFiltersState(),
        {
            SendNamedMessages: model.send,
            PullFiltered: model.pull,
            CheckSubscription: model.check,
            SendProperties: model.send,
            PullSql: model.pull_sql,
            CheckSql: model.check_sql,
        },
    )


SUITE = Suite(
    name="broker-filters",
    sentence="Pulls by tags and by other expressions, and the messages that pass.",
    side=Side.BROKER,
    bind=_bind,
    steps=40,
    show=show,
    rules=(
        "BQ-CHECK-CLIENT",
        "BQ-PULL-1",
        "BQ-PULL-3",
        "BQ-PULL-7",
        "BQ-PULL-BLANK",
        "BQ-PULL-BROKER",
        "BQ-PULL-CLASS",
        "BQ-PULL-NEGATIVE",
        "BQ-PULL-STATUS",
        "BQ-PULL-SUB",
        "BQ-PULL-TAGS",
        "BQ-SEND-1",
        "BQ-SQL-COMPILE",
        "BQ-SQL-PASS",
        "BQ-SQL-TYPE",
        "BQ-SQL-UNKNOWN",
        "BQ-STORE-MAX",
    ),
    limits=(
        values.NOT_READABLE,
        RuleLimit(
            rules=("BQ-SQL-COMPILE", "BQ-SQL-PASS", "BQ-SQL-TYPE", "BQ-SQL-UNKNOWN"),
            setting=PROPERTY_FILTER,
            values=("true",),
            because="expressions in SQL92 are refused: enablePropertyFilter is off, the default",
        ),
    ),
)
