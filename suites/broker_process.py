"""The suite ``broker-process``: a broker that is stopped, killed, frozen and started again between requests.

Slow: a start takes seconds, and so does a request that times out. Every operation observes, because a
broker that was killed or frozen may be in one of several states.
"""

from typing import Annotated

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_process import (
    DOWN,
    FROZEN,
    MAX_PENDING,
    RUNNING,
    BrokerProcessModel,
    BrokerProcessState,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_restart
from rocketmq_conformance.suites.broker_restart import Max, Min, Query, QueryKept
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_OWN = Values(0, 1, weights=(4, 1))
_TOPIC = Values(0, AGED_TOPIC, weights=(3, 2))
_QUEUE = Values(*range(len(aged_store.QUEUES)))


def _runs(life: BrokerProcessState) -> bool:
    return life.status == RUNNING


def _frozen(life: BrokerProcessState) -> bool:
    return life.status == FROZEN


def _down(life: BrokerProcessState) -> bool:
    return life.status == DOWN


def _not_down(life: BrokerProcessState) -> bool:
    return life.status != DOWN


def _has_room(life: BrokerProcessState) -> bool:
    return len(life.pending) < MAX_PENDING


@operation("Stop the broker (SIGTERM).", side=Side.BROKER, weight=12, guard=_not_down, observes=True)
class Stop(Operation):
    pass


@operation("Kill the broker (SIGKILL).", side=Side.BROKER, weight=12, guard=_not_down, observes=True)
class Kill(Operation):
    pass


@operation("Start the broker again.", side=Side.BROKER, weight=60, guard=_down, observes=True)
class Start(Operation):
    pass


@operation("Freeze the broker (SIGSTOP, docker pause).", side=Side.BROKER, weight=14, guard=_runs, observes=True)
class Pause(Operation):
    pass


@operation("Let the frozen broker go on.", side=Side.BROKER, weight=60, guard=_frozen, observes=True)
class Resume(Operation):
    pass


@operation(
    "Wait until stored offsets have been written to disk.", side=Side.BROKER, weight=4, guard=_runs, observes=True
)
class Save(Operation):
    pass


@operation(
    "Send messages: answers their (offset, store time) pairs.",
    side=Side.BROKER,
    weight=12,
    guard=_runs,
    observes=True,
    words=words.STORED_AT,
)
class SendTimed(Operation):
    topic: Annotated[int, _OWN]
    queue: Annotated[int, values.WRITTEN]
    count: Annotated[int, values.COUNT]
    apart: Annotated[bool, Values(False, True)]


@operation("Commit an offset.", side=Side.BROKER, weight=80, guard=_has_room, observes=True)
class Commit(Operation):
    group: Annotated[int, _OWN]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 2, 3, 10, 100, -1)]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerProcessModel(profile)
    return BoundModel(
        model.initial(),
        {
            Stop: model.stop,
            Kill: model.kill,
            Start: model.start,
            Pause: model.pause,
            Resume: model.resume,
            Save: model.save,
            SendTimed: model.send,
            Commit: model.commit,
            Query: model.query,
            QueryKept: model.query_kept,
            Max: model.max,
            Min: model.min,
        },
    )


def _show(life: BrokerProcessState) -> str:
    pending = f", {len(life.pending)} commits under way" if life.pending else ""
    return f"{life.status}{pending}: {broker_restart.SUITE.show(life.broker)}"


SUITE = Suite(
    name="broker-process",
    sentence="A broker that is stopped, killed, frozen and started again, and asked all the while.",
    side=Side.BROKER,
    bind=_bind,
    steps=150,
    cases=2,
    show=_show,
    rules=(
        "RUN-DOWN-1",
        "RUN-FREEZE-1",
        "RUN-FREEZE-2",
        "RUN-RESTART-1",
        "BQ-COM-11",
        "BQ-COM-12",
        *values.QUERIES,
        "BQ-QUERY-SETZERO",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-SEND-1",
        "BQ-TOPIC-2",
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
        "BQ-MIN-1",
        "BQ-MIN-2",
        "BQ-MIN-3",
    ),
    ordinary=False,
    case_seconds=22,
)
