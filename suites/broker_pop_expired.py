"""The suite ``broker-pop-expired``: where a group that pops begins in queues whose head, or everything, has expired.

The store's topic is shared by all cases, so they send nothing to it; the group is the case's own.
"""

from typing import Annotated

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_pop_expired import BrokerPopExpiredModel
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_pop_start
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import broker as values

_GROUP, _TOPIC = Values(0), Values(AGED_TOPIC)
#: Every queue of the aged topic, and one that it does not have.
_QUEUE = Values(*range(len(aged_store.QUEUES)), 9)


@operation("Commit an offset for a queue of the aged topic.", side=Side.BROKER, weight=2)
class Commit(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 3, 4, 10, 12, 9999, -7)]


@operation("Query the group's offset in a queue of the aged topic.", side=Side.BROKER, weight=5)
class Query(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    set_zero: Annotated[bool | None, values.SET_ZERO]


@operation(
    "Pop so many messages from a queue of the aged topic: answers the offset that the pop begins at, and the offsets "
    "of the messages.",
    side=Side.BROKER,
    weight=8,
    words=broker_pop_start.POPPED,
)
class PopAged(Operation):
    queue: Annotated[int, _QUEUE]
    most: Annotated[int, Values(1, 2, 32)]
    mode: Annotated[int, broker_pop_start.MODE]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerPopExpiredModel(profile)
    return BoundModel(
        aged_store.aged_broker(BrokerRules.of(profile)),
        {Commit: model.commit, Query: model.query, PopAged: model.pop},
    )


SUITE = Suite(
    name="broker-pop-expired",
    sentence="Where a group that pops begins in queues whose head, or everything, has expired.",
    side=Side.BROKER,
    bind=_bind,
    has=broker_pop_start.pops,
    steps=30,
    show=values.show,
    rules=(
        *values.QUERIES,
        "BQ-QUERY-SETZERO",
        "BQ-UPDATE-2",
        "POP-CHECK",
        "POP-MOVE-1",
        "POP-NONE",
        "POP-START-1",
        "POP-START-3",
        "POP-START-4",
        "POP-START-5",
        "POP-START-6",
        "POP-START-8",
    ),
)
