"""The suite ``broker-slave``: a master and its slave, asked both, also while the master is down.

Slow on real brokers: a slave asks its master every 10 or 60 s, and a step waits until it has.
"""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_slave import MASTER_NODE, SLAVE_NODE, BrokerSlaveModel, Pair
from rocketmq_conformance.models.broker.configuration import SERVER_RESET, SLAVE_ACTS, SLAVE_READS, STRICT_LOCKS
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import numbers
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_AT = Values(SLAVE_NODE, MASTER_NODE)
_GROUP = Values(0, 1, weights=(4, 1))
_TOPIC = Values(0, 1, weights=(4, 1))
_QUEUE = Values(0, 1, weights=(3, 1))
_OFFSET = Values(0, 1, 2, 3, 100)


@operation("The slave asks its master for topics, offsets and groups.", side=Side.BROKER, weight=9)
class Synchronise(Operation):
    pass


@operation(
    "Stop the master, or kill it once its offsets are on the disk.",
    side=Side.BROKER,
    weight=3,
    guard=lambda pair: pair.up,
)
class End(Operation):
    how: Annotated[str, Values(STOP, KILL)]


@operation(
    "Start the master again: OFFLINE if it does not come online.",
    side=Side.BROKER,
    weight=12,
    guard=lambda pair: not pair.up,
)
class Start(Operation):
    pass


@operation("Send messages to topic 0: answers their offsets.", side=Side.BROKER, weight=8, words=numbers)
class Send(Operation):
    at: Annotated[str, _AT]
    queue: Annotated[int, values.WRITTEN]
    count: Annotated[int, values.COUNT]


@operation("Create topic 1.", side=Side.BROKER, weight=3)
class CreateTopic(Operation):
    at: Annotated[str, _AT]


@operation("Delete topic 1.", side=Side.BROKER, weight=2)
class DeleteTopic(Operation):
    at: Annotated[str, _AT]


@operation("Create a consumer group.", side=Side.BROKER, weight=2)
class CreateGroup(Operation):
    at: Annotated[str, _AT]
    group: Annotated[int, _GROUP]


@operation("Delete a consumer group; `flag` is the field that is set to true, if any.", side=Side.BROKER, weight=2)
class DeleteGroup(Operation):
    at: Annotated[str, _AT]
    group: Annotated[int, _GROUP]
    flag: Annotated[str, values.FLAG]


@operation("Commit an offset.", side=Side.BROKER, weight=24)
class Commit(Operation):
    at: Annotated[str, _AT]
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, _OFFSET]


@operation("Query a group's offset.", side=Side.BROKER, weight=30)
class Query(Operation):
    at: Annotated[str, _AT]
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    set_zero: Annotated[bool | None, values.SET_ZERO]


@operation("Ask for min and max of a queue.", side=Side.BROKER, weight=5, words=words.BOUNDS)
class Bounds(Operation):
    at: Annotated[str, _AT]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]


@operation(
    "Pull without waiting; `commit` is the offset to store, if any.",
    side=Side.BROKER,
    weight=14,
    words=words.PULLED,
)
class Pull(Operation):
    at: Annotated[str, _AT]
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, _OFFSET]
    commit: Annotated[int | None, Values(None, 1, 5, weights=(2, 1, 1))]


@operation("Reset a group in one queue to an offset.", side=Side.BROKER, weight=6, words=words.RESET)
class Reset(Operation):
    at: Annotated[str, _AT]
    group: Annotated[int, _GROUP]
    topic: Annotated[int, _TOPIC]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, _OFFSET]


@operation(
    "Search the offset of a queue of topic 0 for a time after all messages (`late`), or before them.",
    side=Side.BROKER,
    weight=4,
)
class Search(Operation):
    at: Annotated[str, _AT]
    queue: Annotated[int, _QUEUE]
    late: Annotated[bool, Values(True, False)]


@operation(
    "A member locks a queue at the master, then another one at the slave: answers whether either got it, null for a "
    "master that is down.",
    side=Side.BROKER,
    weight=4,
)
class Lock(Operation):
    queue: Annotated[int, _QUEUE]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerSlaveModel(profile)
    return BoundModel(
        model.initial(),
        {
            Synchronise: model.synchronise,
            End: model.end,
            Start: model.start,
            Send: model.send,
            CreateTopic: model.create_topic,
            DeleteTopic: model.delete_topic,
            CreateGroup: model.create_group,
            DeleteGroup: model.delete_group,
            Commit: model.commit,
            Query: model.query,
            Bounds: model.bounds,
            Pull: model.pull,
            Reset: model.reset,
            Search: model.search,
            Lock: model.lock,
        },
    )


def _show(pair: Pair) -> str:
    return f"master {'up' if pair.up else 'down'}: {values.show(pair.master)}; slave: {values.show(pair.slave)}"


_BY_BROKER = (
    *("BQ-RESET-2", "BQ-RESET-3", "BQ-RESET-RANGE", "BQ-COM-5", "BQ-COM-9-RESETS", "BQ-PULL-9", "BQ-UPDATE-RESET"),
    *("SLV-RESET", "SLV-SYNC-RESETS"),
)

SUITE = Suite(
    name="broker-slave",
    sentence="A master and its slave: what either answers, what the slave takes over, and what is lost.",
    side=Side.BROKER,
    bind=_bind,
    steps=60,
    cases=2,
    show=_show,
    rules=(
        *("SLV-SYNC-OFFSETS", "SLV-SYNC-KEEPS", "SLV-SYNC-TABLES", "SLV-SYNC-RESETS", "SLV-GONE", "SLV-QUERY"),
        *("SLV-UPDATE", "SLV-MESSAGES", "SLV-SEND", "SLV-PULL-BUSY", "SLV-PULL-COMMIT", "SLV-PULL-MOVED"),
        *("SLV-PULL-READ", "SLV-SYNC-PULLED", "SLV-RESET", "SLV-ADMIN", "RUN-DOWN-1", "RUN-RESTART-1"),
        *("SLV-LOCK", "SLV-LOCK-STRICT", "SLV-ACT-SEND", "SLV-ACT-BACK", "SLV-ACT-OFFLINE", *values.SEARCHES[:2]),
        *values.SEARCHES[3:],
        *("BQ-TOPIC-1", "BQ-TOPIC-2", "BQ-TOPIC-3", "BQ-TOPIC-TIMER", "BQ-GROUP-1", "BQ-GROUP-2", "BQ-GROUP-3"),
        *("BQ-COM-5", "BQ-COM-9", "BQ-COM-9-RESETS", "BQ-UPDATE-1", "BQ-UPDATE-2", "BQ-UPDATE-RESET"),
        *values.QUERIES[:1],
        *values.QUERIES[2:],
        *("BQ-QUERY-SETZERO", "BQ-SEND-1", "BQ-STORE-MAX", "BQ-STORE-MIN", "BQ-PULL-1", "BQ-PULL-STATUS"),
        *("BQ-PULL-3", "BQ-PULL-7", "BQ-PULL-8", "BQ-PULL-9", "BQ-PULL-BROKER", "BQ-RESET-1", "BQ-RESET-2"),
        *("BQ-RESET-3", "BQ-RESET-QUEUE", "BQ-RESET-RANGE"),
    ),
    limits=(
        values.NO_TIMER,
        values.NOT_READABLE,
        RuleLimit(
            rules=("SLV-PULL-READ",),
            setting=SLAVE_READS,
            values=("true",),
            because="the slave is not read: slaveReadEnable is off, the default",
        ),
        RuleLimit(
            rules=("SLV-PULL-BUSY",),
            setting=SLAVE_READS,
            values=("false",),
            because="the slave is read: slaveReadEnable is on",
        ),
        RuleLimit(
            rules=("SLV-SEND",),
            broker="all",
            setting=SLAVE_ACTS,
            values=("false",),
            because="the slave may act as master: enableSlaveActingMaster is on",
        ),
        RuleLimit(
            rules=("SLV-ACT-SEND", "SLV-ACT-BACK", "SLV-ACT-OFFLINE", "SLV-LOCK-STRICT"),
            setting=SLAVE_ACTS,
            values=("true",),
            because="the slave does not act as master: enableSlaveActingMaster is off, the default",
        ),
        RuleLimit(
            rules=("SLV-ACT-OFFLINE",),
            setting=SLAVE_READS,
            values=("true",),
            because="the slave is not read: slaveReadEnable is off, the default",
        ),
        RuleLimit(
            rules=("SLV-LOCK-STRICT",),
            setting=STRICT_LOCKS,
            values=("true",),
            because="locks take one broker: lockInStrictMode is off, the default",
        ),
        RuleLimit(
            rules=("BQ-RESET-1", "BQ-RESET-QUEUE"),
            broker="up to 5.1.4",
            setting=SERVER_RESET,
            values=("false",),
            because="the broker makes resets itself: useServerSideResetOffset is on, the default from 5.2.0 on",
        ),
        RuleLimit(
            rules=_BY_BROKER,
            broker="5.2.0+",
            setting=SERVER_RESET,
            values=("true",),
            because="members make resets: useServerSideResetOffset is off, the default before 5.2.0",
        ),
    ),
    ordinary=False,
    case_seconds=120,
)
