"""The suite ``broker-search``: messages sent now, and searches around the store times that the broker gave them."""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_offsets import BrokerOffsetsModel
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_TOPIC = Values(0, 1, weights=(7, 1))
_COUNT = Values(1, 2, 3, 6)
_APART = Values(False, True)


@operation(
    "Send messages to a queue, all at once or some ms apart: answers their (offset, store time) pairs.",
    side=Side.BROKER,
    weight=3,
    observes=True,
    words=words.STORED_AT,
)
class SendTimed(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, values.WRITTEN]
    count: Annotated[int, _COUNT]
    apart: Annotated[bool, _APART]


@operation(
    "Search the offset for the time `delta` ms from the store time of a message (-1: the last one).",
    side=Side.BROKER,
    weight=16,
)
class Search(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, values.WRITTEN]
    message: Annotated[int, values.MESSAGE]
    delta: Annotated[int, values.DELTA]
    boundary: Annotated[str, values.BOUNDARY]


@operation("Ask for the max offset of a queue.", side=Side.BROKER)
class Max(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, values.QUEUE]


@operation("Ask for the min offset of a queue.", side=Side.BROKER)
class Min(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, values.QUEUE]


@operation("Ask for the store time of the earliest message of a queue.", side=Side.BROKER, weight=2)
class Earliest(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, values.QUEUE]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerOffsetsModel(profile)
    return BoundModel(
        initial_state(),
        {
            SendTimed: model.send_timed,
            Search: model.search,
            Max: model.max,
            Min: model.min,
            Earliest: model.earliest,
        },
    )


SUITE = Suite(
    name="broker-search",
    sentence="Searches by time around the store times that a broker gave.",
    side=Side.BROKER,
    bind=_bind,
    steps=40,
    show=values.show,
    rules=(
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
        *values.SEARCHES,
        "BQ-EARLIEST-1",
        "BQ-SEND-1",
        "BQ-TOPIC-2",
    ),
)
