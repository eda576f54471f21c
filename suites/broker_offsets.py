"""The suite ``broker-offsets``: topics, groups, messages, commits and queries on one broker."""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_offsets import BrokerOffsetsModel
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import numbers
from rocketmq_conformance.suites.values import broker as values


@operation("Create a topic with so many queues, or change their number.", side=Side.BROKER, weight=2)
class CreateTopic(Operation):
    topic: Annotated[int, values.TOPIC]
    queues: Annotated[int, values.QUEUES]


@operation("Delete a topic.", side=Side.BROKER, weight=1)
class DeleteTopic(Operation):
    topic: Annotated[int, values.TOPIC]


@operation("Create a consumer group.", side=Side.BROKER, weight=2)
class CreateGroup(Operation):
    group: Annotated[int, values.GROUP]


@operation("Delete a consumer group; `flag` is the field that is set to true, if any.", side=Side.BROKER, weight=1)
class DeleteGroup(Operation):
    group: Annotated[int, values.GROUP]
    flag: Annotated[str, values.FLAG]


@operation("Send messages to a queue: answers their offsets.", side=Side.BROKER, weight=5, words=numbers)
class Send(Operation):
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, values.WRITTEN]
    count: Annotated[int, values.COUNT]


@operation(
    "Commit an offset; a missing queue or offset is a field that is not sent.",
    side=Side.BROKER,
    weight=12,
    may_be_indeterminate=True,
)
class Commit(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int | None, values.ANY_QUEUE]
    offset: Annotated[int | None, values.OFFSET]


@operation("Query a group's offset.", side=Side.BROKER, weight=20)
class Query(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int | None, values.ANY_QUEUE]
    set_zero: Annotated[bool | None, values.SET_ZERO]


@operation("Ask for the max offset of a queue.", side=Side.BROKER, weight=2)
class Max(Operation):
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, values.QUEUE]


@operation("Ask for the min offset of a queue.", side=Side.BROKER, weight=2)
class Min(Operation):
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, values.QUEUE]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerOffsetsModel(profile)
    return BoundModel(
        initial_state(),
        {
            CreateTopic: model.create_topic,
            DeleteTopic: model.delete_topic,
            CreateGroup: model.create_group,
            DeleteGroup: model.delete_group,
            Send: model.send,
            Commit: model.commit,
            Query: model.query,
            Max: model.max,
            Min: model.min,
        },
    )


SUITE = Suite(
    name="broker-offsets",
    sentence="Topics, groups, messages, commits and queries on one broker.",
    side=Side.BROKER,
    bind=_bind,
    steps=60,
    show=values.show,
    rules=(
        "BQ-TOPIC-1",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-TOPIC-TIMER",
        "BQ-GROUP-1",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-COM-9",
        "BQ-UPDATE-1",
        "BQ-UPDATE-FIELD",
        "BQ-UPDATE-2",
        "BQ-SEND-1",
        *values.QUERIES,
        "BQ-QUERY-SETZERO",
        "BQ-QUERY-FIELD",
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
    ),
    limits=(values.NO_TIMER,),
)
