"""The suite ``broker-cold``: a broker whose messages are evicted from memory between queries.

It has its broker to itself: what other cases send and read would bring evicted messages back into memory.
"""

from typing import Annotated

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_cold import BrokerColdModel, BrokerColdState
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import bare, fields, numbers, plain
from rocketmq_conformance.suites.values import broker as values

_OWN = Values(0)
_GROUP = Values(0, 1, weights=(5, 1))
_TOPIC = Values(0, AGED_TOPIC, weights=(3, 2))
_QUEUE = Values(*range(len(aged_store.QUEUES)), weights=(8, 4, 2, 1, 2, 1, 1))


@operation(
    "Put the messages of all queues out of memory, as a system does that needs room.", side=Side.BROKER, weight=8
)
class Evict(Operation):
    pass


@operation("Send messages to a queue: answers their offsets.", side=Side.BROKER, weight=6, words=numbers)
class Send(Operation):
    topic: Annotated[int, _OWN]
    queue: Annotated[int, values.WRITTEN]
    count: Annotated[int, values.COUNT]


@operation(
    "Pull the messages of a queue from 0: answers their offsets, 32 at most.", side=Side.BROKER, weight=6, words=numbers
)
class Read(Operation):
    topic: Annotated[int, _OWN]
    queue: Annotated[int, Values(0, 1)]


@operation("Commit an offset.", side=Side.BROKER, weight=3)
class Commit(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 3, -1)]


@operation(
    "Query a group's offset: answers it, or the error's name, and whether the system has message 0 in memory.",
    side=Side.BROKER,
    weight=24,
    observes=True,
    words=fields({"answer": bare, "in memory": plain}),
)
class QueryPages(Operation):
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    set_zero: Annotated[bool | None, values.SET_ZERO]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerColdModel(profile)
    return BoundModel(
        model.initial(),
        {
            Evict: model.evict,
            Send: model.send,
            Read: model.read,
            Commit: model.commit,
            QueryPages: model.query_pages,
        },
    )


def _show(state: BrokerColdState) -> str:
    return ("out of memory: " if state.out else "") + values.show(state.broker)


SUITE = Suite(
    name="broker-cold",
    sentence="A broker whose messages are put out of memory while it is asked for offsets.",
    side=Side.BROKER,
    bind=_bind,
    steps=40,
    cases=8,
    show=_show,
    rules=(
        "BQ-MEM-1",
        "BQ-SEND-1",
        "BQ-TOPIC-2",
        "BQ-STORE-MAX",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-PULL-STATUS",
        *values.QUERIES,
        "BQ-QUERY-SETZERO",
    ),
    limits=(
        RuleLimit(
            rules=("BQ-MEM-1",),
            newest_java=13,
            because="on Java 14 and later a broker takes every page to be in memory",
        ),
    ),
    ordinary=False,
)
