"""The suite ``broker-tables``: the files of topics, offsets and groups, damaged while the broker is down.

Slow: a start takes seconds, and the timer that writes offsets ten.
"""

from typing import Annotated

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_tables import BrokerTablesModel, BrokerTablesState
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.broker.table_files import BACKUP, DAMAGES, MAIN, OFFSETS, TABLES, Copy
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import fields, numbers, plain
from rocketmq_conformance.suites.values import broker as values

_OWN = Values(0, 1, weights=(3, 1))
_TOPIC = Values(0, 1, AGED_TOPIC, weights=(5, 1, 2))
_QUEUE = Values(0, 1)


def _runs(state: BrokerTablesState) -> bool:
    return state.running


def _down(state: BrokerTablesState) -> bool:
    return not state.running


@operation(
    "Stop or kill the broker: answers whether its timer had written the offsets before that.",
    side=Side.BROKER,
    weight=16,
    guard=_runs,
    observes=True,
)
class End(Operation):
    how: Annotated[str, Values(STOP, KILL, weights=(3, 1))]


@operation(
    "Damage a file of the broker, or its backup (.bak): remove it, empty it, cut it in the middle, fill it with zeros, "
    "or make it an empty object.",
    side=Side.BROKER,
    weight=60,
    guard=_down,
)
class Damage(Operation):
    table: Annotated[str, Values(*(OFFSETS, *(table for table in TABLES if table != OFFSETS)), weights=(3, 2, 2))]
    copy: Annotated[str, Values(MAIN, BACKUP, weights=(3, 1))]
    how: Annotated[str, Values(*DAMAGES)]


@operation(
    "Start the broker again: an error when it does not start, which may write its files all the same.",
    side=Side.BROKER,
    weight=40,
    guard=_down,
)
class Start(Operation):
    pass


@operation(
    "Watch until the broker writes its offsets by a timer: answers which write it was, if it was in time.",
    side=Side.BROKER,
    weight=2,
    guard=_runs,
    observes=True,
)
class Watch(Operation):
    pass


@operation("Create a topic with so many queues.", side=Side.BROKER, weight=5, guard=_runs)
class CreateTopic(Operation):
    topic: Annotated[int, _OWN]
    queues: Annotated[int, values.QUEUES]


@operation("Create a consumer group.", side=Side.BROKER, weight=5, guard=_runs)
class CreateGroup(Operation):
    group: Annotated[int, _OWN]


@operation(
    "Ask for all topics: answers which of the case's there are, and whether that of the aged store is.",
    side=Side.BROKER,
    weight=12,
    guard=_runs,
    words=fields({"of the case": numbers, "of the aged store": plain}),
)
class Topics(Operation):
    pass


@operation(
    "Ask for all groups: answers which of the case's there are.",
    side=Side.BROKER,
    weight=12,
    guard=_runs,
    words=numbers,
)
class Groups(Operation):
    pass


@operation("Send messages to a queue: answers their offsets.", side=Side.BROKER, weight=6, guard=_runs, words=numbers)
class Send(Operation):
    topic: Annotated[int, _OWN]
    queue: Annotated[int, _QUEUE]
    count: Annotated[int, values.COUNT]


@operation("Commit an offset.", side=Side.BROKER, weight=30, guard=_runs)
class Commit(Operation):
    group: Annotated[int, _OWN]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 2, 3, 100, -1)]


@operation("Query a group's offset.", side=Side.BROKER, weight=30, guard=_runs)
class Query(Operation):
    group: Annotated[int, _OWN]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


@operation(
    "Query the offset of the group that the aged store holds offsets of.", side=Side.BROKER, weight=8, guard=_runs
)
class QueryKept(Operation):
    queue: Annotated[int, Values(*range(len(aged_store.QUEUES)))]


@operation("Ask for the max offset of a queue.", side=Side.BROKER, weight=6)
class Max(Operation):
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerTablesModel(profile)
    return BoundModel(
        model.initial(),
        {
            End: model.end,
            Damage: model.damage,
            Start: model.start,
            Watch: model.watch,
            CreateTopic: model.create_topic,
            CreateGroup: model.create_group,
            Topics: model.topics,
            Groups: model.groups,
            Send: model.send,
            Commit: model.commit,
            Query: model.query,
            QueryKept: model.query_kept,
            Max: model.max,
        },
    )


def _shown(copy: Copy) -> str:
    return copy.state or ("{}" if not copy.table else "a table")


def _show(state: BrokerTablesState) -> str:
    files = ", ".join(
        f"{table} {_shown(file.main)} ({_shown(file.backup)})"
        for table, file in zip(state.disk._fields, state.disk, strict=True)
    )
    return f"{'running' if state.running else 'down'}: {values.show(state.broker)}; files {files}"


SUITE = Suite(
    name="broker-tables",
    sentence="A broker whose files of topics, offsets and groups are cut, emptied, lost or restored from the backup.",
    side=Side.BROKER,
    bind=_bind,
    steps=60,
    cases=2,
    show=_show,
    rules=(
        "RUN-DOWN-1",
        "RUN-RESTART-1",
        "BQ-FILE-LOAD",
        "BQ-FILE-FORGET",
        "BQ-FILE-REFUSE",
        "BQ-FILE-REFUSED-WRITES",
        "BQ-FILE-BACKUP",
        "BQ-FILE-DELETE",
        "BQ-FILE-START",
        "BQ-FILE-STOP",
        "BQ-COM-11",
        "BQ-COM-12",
        *values.QUERIES,
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-TOPIC-1",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-GROUP-1",
        "BQ-SEND-1",
        "BQ-STORE-MAX",
    ),
    ordinary=False,
    case_seconds=24,
)
