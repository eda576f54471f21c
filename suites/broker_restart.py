"""The suite ``broker-restart``: a broker that is stopped, killed and started again on an aged store.

Slow: a restart takes seconds. Every operation observes, because a killed broker may be in one of several states.
"""

from typing import Annotated

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_restart import BrokerRestartModel
from rocketmq_conformance.models.broker.broker_upgrade import BrokerUpgradeModel
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP, UncertainBroker
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Handler, Suite
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_OWN = Values(0, 1, weights=(4, 1))
_TOPIC = Values(0, AGED_TOPIC, 1, weights=(5, 5, 1))
_QUEUE = Values(*range(len(aged_store.QUEUES)))
_BOOL = Values(False, True)
#: The rules of compiled expressions.
FILTERS = ("BQ-FILTER-STOP", "BQ-HB-FILTER", "BQ-PULL-FILTER")


@operation("Stop or kill the broker and start it again.", side=Side.BROKER, weight=6, observes=True)
class Restart(Operation):
    how: Annotated[str, Values(STOP, KILL)]


@operation("Wait until stored offsets have been written to disk.", side=Side.BROKER, weight=1, observes=True)
class Save(Operation):
    pass


@operation(
    "Set accessMessageInMemoryMaxRatio to 0 (not hot), or back to its default.",
    side=Side.BROKER,
    weight=5,
    observes=True,
)
class Memory(Operation):
    hot: Annotated[bool, _BOOL]


@operation(
    "Subscribe as a new group by an expression in SQL92, of version 2, stop the broker, start it, subscribe again, and "
    "pull by that: answers the response code, the next offset and the offsets of the messages.",
    side=Side.BROKER,
    weight=2,
    observes=True,
    words=words.PULLED,
)
class SubscribeAgain(Operation):
    version: Annotated[int, Values(1, 2, 3)]
    expression: Annotated[str, Values("TAGS = 'B'", "TAGS =", "")]


@operation("Create a topic with so many queues.", side=Side.BROKER, weight=3, observes=True)
class CreateTopic(Operation):
    topic: Annotated[int, _OWN]
    queues: Annotated[int, values.QUEUES]


@operation("Delete a topic.", side=Side.BROKER, weight=1, observes=True)
class DeleteTopic(Operation):
    topic: Annotated[int, _OWN]


@operation("Create a consumer group.", side=Side.BROKER, weight=3, observes=True)
class CreateGroup(Operation):
    group: Annotated[int, _OWN]


@operation("Delete a consumer group; `flag` is the field that is set to true.", side=Side.BROKER, observes=True)
class DeleteGroup(Operation):
    group: Annotated[int, _OWN]
    flag: Annotated[str, values.FLAG]


@operation(
    "Send messages: answers their (offset, store time) pairs.",
    side=Side.BROKER,
    weight=20,
    observes=True,
    words=words.STORED_AT,
)
class SendTimed(Operation):
    topic: Annotated[int, _OWN]
    queue: Annotated[int, values.WRITTEN]
    count: Annotated[int, values.COUNT]
    apart: Annotated[bool, _BOOL]


@operation("Commit an offset.", side=Side.BROKER, weight=70, observes=True)
class Commit(Operation):
    group: Annotated[int, _OWN]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 2, 3, 10, 100, -1)]


@operation("Query a group's offset.", side=Side.BROKER, weight=100, observes=True)
class Query(Operation):
    group: Annotated[int, _OWN]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    set_zero: Annotated[bool | None, values.SET_ZERO]


@operation("Query the offset of the group that the aged store holds offsets of.", side=Side.BROKER, observes=True)
class QueryKept(Operation):
    queue: Annotated[int, _QUEUE]
    set_zero: Annotated[bool | None, values.SET_ZERO]


@operation("Ask for the max offset of a queue.", side=Side.BROKER, weight=15, observes=True)
class Max(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


@operation("Ask for the min offset of a queue.", side=Side.BROKER, weight=15, observes=True)
class Min(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


@operation("Ask for the store time of the earliest message of a queue.", side=Side.BROKER, weight=10, observes=True)
class Earliest(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


@operation(
    "Search the offset for the time `delta` ms from the store time of a message (-1: the last one).",
    side=Side.BROKER,
    weight=25,
    observes=True,
)
class Search(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    message: Annotated[int, values.MESSAGE]
    delta: Annotated[int, values.DELTA]
    boundary: Annotated[str, values.BOUNDARY]


def on_store(model: BrokerRestartModel | BrokerUpgradeModel) -> dict[type[Operation], Handler]:
    """The handlers of what is written to a store and read from it."""
    return {
        CreateTopic: model.create_topic,
        DeleteTopic: model.delete_topic,
        CreateGroup: model.create_group,
        DeleteGroup: model.delete_group,
        SendTimed: model.send,
        Commit: model.commit,
        Query: model.query,
        QueryKept: model.query_kept,
        Max: model.max,
        Min: model.min,
        Earliest: model.earliest,
        Search: model.search,
    }


def _bind(profile: Profile) -> BoundModel:
    model = BrokerRestartModel(profile)
    return BoundModel(
        model.initial(),
        {
            Restart: model.restart,
            Save: model.save,
            Memory: model.memory,
            SubscribeAgain: model.subscribe_again,
            **on_store(model),
        },
    )


def _show(state: UncertainBroker) -> str:
    more = f", or {len(state.possible) - 1} other states" if len(state.possible) > 1 else ""
    return values.show(state.possible[0]) + more


SUITE = Suite(
    name="broker-restart",
    sentence="A broker that is stopped, killed and started again, with expired, cold and young queues.",
    side=Side.BROKER,
    bind=_bind,
    steps=150,
    cases=2,
    show=_show,
    rules=(
        "RUN-RESTART-1",
        "RUN-DYN-1",
        "BQ-COM-9",
        "BQ-COM-11",
        "BQ-COM-12",
        *values.QUERIES,
        "BQ-QUERY-SETZERO",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-TOPIC-1",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-TOPIC-TIMER",
        "BQ-TOPIC-5",
        "BQ-GROUP-1",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-SEND-1",
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
        "BQ-MIN-1",
        "BQ-MIN-2",
        "BQ-MIN-3",
        *values.SEARCHES,
        "BQ-EARLIEST-1",
        *FILTERS,
    ),
    ordinary=False,
    case_seconds=20,
    limits=(values.NO_TIMER,),
)
