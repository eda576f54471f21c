"""The suite ``broker-topics``: topics whose read and written queues differ, permissions, disabled groups, and pulls for
any number of messages."""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_admin import BrokerAdminState
from rocketmq_conformance.models.broker.broker_topics import BEGINNING, END, BrokerTopicsModel
from rocketmq_conformance.models.broker.configuration import SERVER_RESET
from rocketmq_conformance.models.broker.state import READ, WRITE
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_admin import Join, show
from rocketmq_conformance.suites.broker_offsets import Commit, DeleteGroup, DeleteTopic, Max, Min, Query
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import fields, numbers, plain
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_QUEUES = Values(2, 1, 0, 3, weights=(5, 5, 1, 1))
#: Both bits, one of them, none; with the bit of the default topic, with one that means nothing.
_PERM = Values(READ | WRITE, READ, WRITE, 0, READ | WRITE | 1, 8, weights=(8, 2, 3, 1, 5, 1))
#: Groups that pop, and the topics from which they do.
_POPPING, _POPPED = Values(0, 1, weights=(3, 1)), Values(0, 1, weights=(3, 1))
#: Messages of one request: a few, or more than one pull may bring.
_COUNT = Values(1, 2, 33, weights=(9, 5, 1))
_QUEUE = Values(0, 1, 2, 9, -1, weights=(6, 6, 2, 1, 1))
#: What a pull may bring, fewer, 0, negative, one more, and the ends of Java's numbers.
_MOST = Values(32, 33, 1, 2, 0, -1, 2**31 - 1, -(2**31), weights=(3, 3, 1, 1, 1, 2, 1, 1))


@operation(
    "Create a topic, or change it: the queues that are read, those that are written, and its permission (bits: 4 read, "
    "2 write).",
    side=Side.BROKER,
    weight=8,
)
class SetTopic(Operation):
    topic: Annotated[int, values.TOPIC]
    read: Annotated[int, _QUEUES]
    write: Annotated[int, _QUEUES]
    perm: Annotated[int, _PERM]


@operation(
    "Send a message to queue 0 that makes its topic if that is unknown, from a default topic, with so many queues: "
    "answers its offset.",
    side=Side.BROKER,
    weight=8,
    words=numbers,
)
class SendNew(Operation):
    topic: Annotated[int, Values(0, 1, 2)]
    default: Annotated[int, Values(0, 1, 2)]
    queues: Annotated[int, Values(1, 2, 4, 0, -1, weights=(3, 3, 3, 1, 1))]


@operation("Ask for the number of queues in the statistics of a topic.", side=Side.BROKER, weight=3)
class TopicQueues(Operation):
    topic: Annotated[int, values.TOPIC]


@operation(
    "Create the topic in which messages of a topic come again to members of a group that pop.",
    side=Side.BROKER,
    weight=3,
)
class SetPopTopic(Operation):
    group: Annotated[int, _POPPING]
    topic: Annotated[int, _POPPED]


@operation("Ask for the number of queues of that topic.", side=Side.BROKER, weight=3)
class PopQueues(Operation):
    group: Annotated[int, _POPPING]
    topic: Annotated[int, _POPPED]


@operation("Create a consumer group, or change it: whether it may pull.", side=Side.BROKER, weight=4)
class SetGroup(Operation):
    group: Annotated[int, values.GROUP]
    enabled: Annotated[bool, Values(True, False)]


@operation("Send messages to a queue: answers their offsets.", side=Side.BROKER, weight=8, words=numbers)
class Send(Operation):
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, values.WRITTEN]
    count: Annotated[int, _COUNT]


@operation(
    "Send a message to no queue in particular: answers the queue that the broker chose, and the offset.",
    side=Side.BROKER,
    weight=3,
    observes=True,
    words=fields({"queue": plain, "offset": plain}),
)
class SendAnywhere(Operation):
    topic: Annotated[int, values.TOPIC]


@operation(
    "Pull so many messages from a queue, with the commit flag if `commit` is an offset: answers the response code, the "
    "next offset and the offsets of the messages.",
    side=Side.BROKER,
    weight=16,
    words=words.PULLED,
)
class PullMost(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 3, 100, weights=(6, 2, 1, 1))]
    most: Annotated[int, _MOST]
    commit: Annotated[int | None, Values(None, 0, 5, -1, weights=(5, 1, 2, 1))]


@operation("Search the offset for a time before, or after, all messages of a queue.", side=Side.BROKER, weight=3)
class SearchEnd(Operation):
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, _QUEUE]
    timestamp: Annotated[int, Values(BEGINNING, END)]


@operation(
    "Reset a group in all queues of a topic, by force, to max (-1) or to a time before, or after, all messages: "
    "answers the (queue, offset) pairs, and those that the members were notified of.",
    side=Side.BROKER,
    weight=8,
    words=words.RESET,
)
class ResetTopic(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    timestamp: Annotated[int, Values(-1, BEGINNING, END)]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerTopicsModel(profile)
    return BoundModel(
        BrokerAdminState(),
        {
            SetTopic: model.set_topic,
            SetGroup: model.set_group,
            DeleteTopic: model.delete_topic,
            DeleteGroup: model.delete_group,
            Send: model.send,
            SendAnywhere: model.send_anywhere,
            SendNew: model.send_new,
            TopicQueues: model.topic_queues,
            SetPopTopic: model.set_pop_topic,
            PopQueues: model.pop_queues,
            PullMost: model.pull_most,
            Commit: model.commit,
            Query: model.query,
            Max: model.max,
            Min: model.min,
            SearchEnd: model.search_end,
            Join: model.join,
            ResetTopic: model.reset_topic,
        },
    )


SUITE = Suite(
    name="broker-topics",
    sentence="Topics with fewer queues to read or to write, permissions, disabled groups, and pulls of any size.",
    side=Side.BROKER,
    bind=_bind,
    steps=60,
    show=show,
    rules=(
        "BQ-TOPIC-1",
        "BQ-TOPIC-RW",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-TOPIC-TIMER",
        "BQ-TOPIC-APART",
        "BQ-TOPIC-INHERIT",
        "BQ-TOPIC-POP",
        "BQ-STATS-QUEUES",
        "BQ-GROUP-1",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-GROUP-ENABLE",
        "BQ-GROUP-LOOKUP",
        "BQ-COM-5",
        "BQ-COM-9",
        "BQ-COM-9-RESETS",
        "BQ-HB-1",
        "BQ-HB-3",
        "BQ-HB-4",
        "BQ-SEND-1",
        "BQ-SEND-BOUNDS",
        "BQ-SEND-ANY",
        "BQ-PULL-1",
        "BQ-PULL-BROKER",
        "BQ-PULL-READ",
        "BQ-PULL-PERM",
        "BQ-PULL-ENABLE",
        "BQ-PULL-MOST",
        "BQ-PULL-3",
        "BQ-PULL-7",
        "BQ-PULL-8",
        "BQ-PULL-9",
        "BQ-PULL-STATUS",
        "BQ-RESET-1",
        "BQ-RESET-2",
        "BQ-RESET-3",
        "BQ-RESET-QUEUES",
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
        "BQ-TIME-1",
        "BQ-TIME-2",
        "BQ-TIME-CLAMP",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-UPDATE-FIELD",
        "BQ-UPDATE-RESET",
        "BQ-QUERY-FIELD",
        *values.QUERIES,
        "BQ-QUERY-SETZERO",
    ),
    limits=(
        values.NOT_READABLE,
        values.NO_TIMER,
        RuleLimit(
            rules=("BQ-RESET-1",),
            broker="up to 5.1.4",
            setting=SERVER_RESET,
            values=("false",),
            because="the broker makes resets itself: useServerSideResetOffset is on, the default from 5.2.0 on",
        ),
        RuleLimit(
            rules=("BQ-RESET-2", "BQ-RESET-3", "BQ-COM-5", "BQ-COM-9-RESETS", "BQ-PULL-9", "BQ-UPDATE-RESET"),
            broker="5.2.0+",
            setting=SERVER_RESET,
            values=("true",),
            because="members make resets: useServerSideResetOffset is off, the default before 5.2.0",
        ),
    ),
)
