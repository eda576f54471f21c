"""The suite ``broker-expired``: a broker that started on an aged store, whose older messages have expired.

The store's topic is shared by all cases, so they send nothing to it; their groups are their own.
"""

from typing import Annotated

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC, BrokerOffsetsModel
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import broker as values

_TOPIC = Values(AGED_TOPIC)
_GROUP = Values(0, 1, weights=(5, 1))
#: Every queue of the aged topic, and two that it does not have.
_QUEUE = Values(*range(len(aged_store.QUEUES)), 9, -1)
#: Below, at and above every min and max of the store.
_OFFSET = Values(0, 1, 3, 4, 10, 12, 15, 18, 9999, -7)
_DELTA = Values(0, 1, -1, 2, -2, 3, 5, -5, 8, 86_400_000, -86_400_000)


@operation("Commit an offset for a queue of the aged topic.", side=Side.BROKER, weight=4)
class Commit(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, _OFFSET]


@operation("Query a group's offset in a queue of the aged topic.", side=Side.BROKER, weight=8)
class Query(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    set_zero: Annotated[bool | None, values.SET_ZERO]


@operation("Query the offset of the group that the aged store holds offsets of.", side=Side.BROKER, weight=3)
class QueryKept(Operation):
    queue: Annotated[int, _QUEUE]
    set_zero: Annotated[bool | None, values.SET_ZERO]


@operation("Ask for the max offset of a queue.", side=Side.BROKER)
class Max(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


@operation("Ask for the min offset of a queue.", side=Side.BROKER)
class Min(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


@operation("Ask for the store time of the earliest message of a queue.", side=Side.BROKER)
class Earliest(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


@operation(
    "Search the offset for the time `delta` ms from the store time of a message (-1: the last one).",
    side=Side.BROKER,
    weight=8,
)
class Search(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    message: Annotated[int, values.MESSAGE]
    delta: Annotated[int, _DELTA]
    boundary: Annotated[str, values.BOUNDARY]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerOffsetsModel(profile)
    return BoundModel(
        aged_store.aged_broker(BrokerRules.of(profile)),
        {
            Commit: model.commit,
            Query: model.query,
            QueryKept: model.query_kept,
            Max: model.max,
            Min: model.min,
            Earliest: model.earliest,
            Search: model.search,
        },
    )


SUITE = Suite(
    name="broker-expired",
    sentence="Queries, commits and searches on queues whose head, or everything, has expired.",
    side=Side.BROKER,
    bind=_bind,
    steps=60,
    show=values.show,
    rules=(
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
        "BQ-MIN-1",
        "BQ-MIN-2",
        "BQ-MIN-3",
        *values.SEARCHES,
        "BQ-EARLIEST-1",
        "BQ-COM-11",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        *values.QUERIES,
        "BQ-QUERY-SETZERO",
    ),
)
