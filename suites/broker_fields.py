"""The suite ``broker-fields``: header fields as texts (unusual, unreadable, missing), and names of every kind."""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_fields import GROUPS, LEFT_OUT, OTHERS, TOPICS, BrokerFieldsModel
from rocketmq_conformance.models.broker.configuration import CREATES_GROUPS
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Subset, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import OFFSETS, numbers
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_ALL_TOPICS = tuple(TOPICS)
_ALL_GROUPS = tuple(GROUPS)
_TOPIC = Values(*_ALL_TOPICS, weights=(8, 6, 1, 1, 1, 1, 1, 1))
#: The same, with one that is blank; and all that take no message, or may take one.
_DELETED = Values(*_ALL_TOPICS, "blank", weights=(8, 6, 1, 1, 1, 1, 1, 2, 2))
_SENT = Values(
    *[topic for topic in (*TOPICS, *OTHERS) if not topic.startswith("retry")],
    weights=(4, 4, 3, 1, 1, 3, *[1] * len(OTHERS), 2),
)
_GROUP = Values(*_ALL_GROUPS, weights=(8, 6, 2, 1, 1, 1, 1, 1, 1))
#: The same, and a field that is not sent.
_ANY_TOPIC = Values("T0", "T0@b", "T.1", None, weights=(12, 6, 1, 1))
_ANY_GROUP = Values(*_ALL_GROUPS, None, weights=(8, 6, 2, 1, 1, 1, 1, 1, 1, 2))
#: Queue ids: 0 and 1 as they are and in other spellings, others, the ends of 32 bits and what lies beyond, other texts.
_QUEUE = Values(
    "0", "1", "+0", "-0", "00", "\u0661", "7", "-1", "2147483647", "-2147483648", "2147483648", "-2147483649",
    "", " 0", "0 ", "0x0", "1_0", "one", "+", "--1", None,
    weights=(30, 10, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2),
)  # fmt: skip
#: Offsets and times: small ones in every spelling, the ends of 64 bits and what lies beyond, other texts.
_OFFSET = Values(
    "1", "0", "5", "+3", "007", "-0", "\uff12", "-7", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "-9223372036854775809", "", " 1", "1 ", "1.0", "1L", "1e1", "1_0", "abc", "-", None,
    weights=(10, 6, 6, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2),
)  # fmt: skip
_MOST = Values("32", "1", "+2", "02", "2147483648", "", "ten", None, weights=(8, 3, 2, 2, 1, 1, 1, 1))
#: Times before and after all messages, in other spellings, and such as cannot be read.
_TIME = Values(
    "0", "4000000000000", "-1", "+4000000000000", "00", "9223372036854775808", "now", "", "1.5", None,
    weights=(5, 5, 1, 2, 2, 1, 1, 1, 1, 1),
)  # fmt: skip
_SET_ZERO = Values(None, "true", "false", "TRUE", "False", "yes", "1", "", " true", weights=(6, 2, 2, 2, 1, 1, 1, 1, 1))
#: Commit offsets of pulls, all of them readable; None is a pull without the commit flag.
_COMMITTED = Values(None, "4", "+6", "-3", "009", weights=(6, 2, 2, 1, 1))


@operation("Create a topic.", side=Side.BROKER, weight=2)
class CreateNamedTopic(Operation):
    topic: Annotated[str, _TOPIC]


@operation("Delete a topic.", side=Side.BROKER, weight=2)
class DeleteNamedTopic(Operation):
    topic: Annotated[str, _DELETED]


@operation(
    "Send a message to queue 0 of a topic, or, where no plan creates the topic, to a queue that it does not have: "
    "answers its offset.",
    side=Side.BROKER,
    weight=3,
    observes=True,
    words=numbers,
)
class SendTo(Operation):
    topic: Annotated[str, _SENT]


@operation(
    "Ask for correction offsets, the smallest that groups stored for a topic, with groups to leave out: answers "
    "(queue, offset) pairs.",
    side=Side.BROKER,
    weight=5,
    words=OFFSETS,
)
class NamedCorrection(Operation):
    topic: Annotated[str, Values("T0", "T0@b", weights=(3, 1))]
    left_out: Annotated[tuple[str, ...], Subset(tuple(LEFT_OUT), 2)]


@operation("Create a consumer group.", side=Side.BROKER, weight=2)
class CreateNamedGroup(Operation):
    group: Annotated[str, _GROUP]


@operation(
    "Delete a consumer group, with the flag that asks to remove its offsets, if any.", side=Side.BROKER, weight=2
)
class DeleteNamedGroup(Operation):
    group: Annotated[str, _GROUP]
    flag: Annotated[str, values.FLAG]


@operation("Send messages to a queue of T0: answers their offsets.", side=Side.BROKER, weight=3, words=numbers)
class SendNamed(Operation):
    queue: Annotated[int, Values(0, 1)]
    count: Annotated[int, values.COUNT]


@operation("Commit an offset; fields are texts, None is not sent.", side=Side.BROKER, weight=12)
class CommitTexts(Operation):
    group: Annotated[str | None, _ANY_GROUP]
    topic: Annotated[str, _TOPIC]
    queue: Annotated[str | None, _QUEUE]
    offset: Annotated[str | None, _OFFSET]


@operation("Query the stored offset; fields are texts, None is not sent.", side=Side.BROKER, weight=12)
class QueryTexts(Operation):
    group: Annotated[str | None, _ANY_GROUP]
    topic: Annotated[str | None, _ANY_TOPIC]
    queue: Annotated[str | None, _QUEUE]
    set_zero: Annotated[str | None, _SET_ZERO]


@operation(
    "Pull messages, with the commit flag if `commit` is not None; fields are texts, None is not sent: answers the "
    "response code, the next offset and the offsets of the messages.",
    side=Side.BROKER,
    weight=9,
    words=words.PULLED,
)
class PullTexts(Operation):
    group: Annotated[str | None, _ANY_GROUP]
    topic: Annotated[str | None, _ANY_TOPIC]
    queue: Annotated[str | None, _QUEUE]
    offset: Annotated[str | None, _OFFSET]
    most: Annotated[str | None, _MOST]
    commit: Annotated[str | None, _COMMITTED]


@operation("Ask for max; fields are texts, None is not sent.", side=Side.BROKER, weight=4)
class MaxTexts(Operation):
    topic: Annotated[str | None, _ANY_TOPIC]
    queue: Annotated[str | None, _QUEUE]


@operation("Ask for min; fields are texts, None is not sent.", side=Side.BROKER, weight=2)
class MinTexts(Operation):
    topic: Annotated[str | None, _ANY_TOPIC]
    queue: Annotated[str | None, _QUEUE]


@operation(
    "Search the offset for a time before, or after, all messages; fields are texts, None is not sent.",
    side=Side.BROKER,
    weight=4,
)
class SearchTexts(Operation):
    topic: Annotated[str | None, _ANY_TOPIC]
    queue: Annotated[str | None, _QUEUE]
    timestamp: Annotated[str | None, _TIME]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerFieldsModel(profile)
    return BoundModel(
        initial_state(),
        {
            CreateNamedTopic: model.create_topic,
            DeleteNamedTopic: model.delete_topic,
            CreateNamedGroup: model.create_group,
            DeleteNamedGroup: model.delete_group,
            SendNamed: model.send,
            SendTo: model.send_to,
            NamedCorrection: model.correction,
            CommitTexts: model.commit,
            QueryTexts: model.query,
            PullTexts: model.pull,
            MaxTexts: model.max,
            MinTexts: model.min,
            SearchTexts: model.search,
        },
    )


SUITE = Suite(
    name="broker-fields",
    sentence="Numbers in every spelling, fields that cannot be read or are missing, and names that are not allowed.",
    side=Side.BROKER,
    bind=_bind,
    steps=60,
    show=values.show,
    rules=(
        "BQ-NUMBER",
        "BQ-NUMBER-LOST",
        "BQ-FIELD",
        "BQ-FIELD-PULL",
        "BQ-SETZERO-TEXT",
        "BQ-NAME-TOPIC",
        "BQ-NAME-DELETE",
        "BQ-NAME-BLANK",
        "BQ-NAME-SYSTEM",
        "BQ-NAME-SEND",
        "BQ-GROUP-SYSTEM",
        "BQ-NAME-LOOKUP",
        "BQ-NAME-GROUP",
        "BQ-NAME-NULL",
        "BQ-COM-AT",
        "BQ-COM-9",
        "BQ-COM-10",
        "BQ-CORRECT-1",
        "BQ-GROUP-1",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-GROUP-LOOKUP",
        "BQ-PULL-1",
        "BQ-PULL-3",
        "BQ-PULL-7",
        "BQ-PULL-8",
        "BQ-PULL-STATUS",
        *values.QUERIES,
        "BQ-QUERY-FIELD",
        "BQ-QUERY-SETZERO",
        "BQ-SEND-1",
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
        "BQ-TIME-1",
        "BQ-TIME-2",
        "BQ-TIME-CLAMP",
        "BQ-TOPIC-1",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-UPDATE-FIELD",
        "BQ-PULL-BROKER",
        "BQ-TOPIC-TIMER",
    ),
    limits=(
        values.NOT_READABLE,
        values.NO_TIMER,
        RuleLimit(
            rules=("BQ-GROUP-SYSTEM",),
            setting=CREATES_GROUPS,
            values=("false",),
            because="the broker creates every group that it looks up: autoCreateSubscriptionGroup is on, the default",
        ),
    ),
)
