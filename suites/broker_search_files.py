"""The suite ``broker-search-files``: searches by time in queues whose entries fill several files.

The store's topic is shared by all cases, so they send nothing to it.
"""

from typing import Annotated

from rocketmq_conformance.models.broker import filed_store
from rocketmq_conformance.models.broker.broker_offsets import FILED_TOPIC, BrokerOffsetsModel
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import FILE_ENTRIES
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import broker as values

_TOPIC = Values(FILED_TOPIC)
_QUEUE = Values(*range(len(filed_store.QUEUES)))
#: Both sides of the ends of files, in a queue that has lost nothing and in one that has lost 150 messages.
_ENDS = [end + beside - lost for end in (FILE_ENTRIES, 2 * FILE_ENTRIES) for lost in (0, 150) for beside in (-1, 0, 1)]
_MESSAGE = Values(0, -1, *_ENDS, 10, FILE_ENTRIES - 10, FILE_ENTRIES + 10)
#: Less and more than half of what lies between two messages, to the next second, and past all times of files (ms).
_DELTA = Values(0, 1, -1, 4, 5, 6, -4, -5, -6, 500, 999, 1000, 1001, -1000, 172_800_000, -172_800_000)


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
    weight=30,
)
class Search(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    message: Annotated[int, _MESSAGE]
    delta: Annotated[int, _DELTA]
    boundary: Annotated[str, values.BOUNDARY]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerOffsetsModel(profile)
    return BoundModel(
        filed_store.filed_broker(BrokerRules.of(profile)),
        {Max: model.max, Min: model.min, Earliest: model.earliest, Search: model.search},
    )


SUITE = Suite(
    name="broker-search-files",
    sentence="Searches by time in queues whose entries fill several files, some of them older or newer than they seem.",
    side=Side.BROKER,
    bind=_bind,
    steps=60,
    cases=256,
    show=values.show,
    rules=(
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
        "BQ-MIN-1",
        "BQ-TIME-1",
        "BQ-TIME-2",
        "BQ-TIME-3",
        "BQ-TIME-FILE",
        "BQ-EARLIEST-1",
    ),
)
