"""The suite ``broker-admin``: resets and clones of offsets, while groups and topics are created and deleted."""

from typing import Annotated, Any

from rocketmq_conformance.models.broker.broker_admin import BrokerAdminModel, BrokerAdminState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_offsets import (
    Commit,
    CreateGroup,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    Max,
    Query,
)
from rocketmq_conformance.suites.broker_search import SendTimed
from rocketmq_conformance.suites.declare.domain import Subset, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import OFFSETS, keyed
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values import words

_BOOL = Values(True, False)
_FORCE = Values(True, False, weights=(1, 2))
#: Below, in, at and beyond the range of a few messages; -1 and no offset at all leave it to the time.
_TARGET = Values(0, 1, 2, 3, 4, 5, 100, -7, -1, None, weights=(4, 4, 3, 3, 2, 2, 1, 1, 1, 2))


@operation("Register a member of a group, which subscribes to these topics.", side=Side.BROKER, weight=6)
class Join(Operation):
    group: Annotated[int, values.GROUP]
    topics: Annotated[tuple[int, ...], Subset((0, 1), 2)]


@operation("Unregister the member of a group.", side=Side.BROKER, weight=2)
class Leave(Operation):
    group: Annotated[int, values.GROUP]


@operation(
    "Pull from a queue, with the commit flag if `commit` is an offset: answers the response code, the next offset and "
    "the offsets of the messages.",
    side=Side.BROKER,
    weight=6,
    words=words.PULLED,
)
class Pull(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, Values(0, 1, 9, weights=(6, 3, 1))]
    offset: Annotated[int, Values(0, 1, 3, 100)]
    commit: Annotated[int | None, Values(None, 0, 5, -1, weights=(5, 1, 1, 1))]


@operation(
    "Pull from queue 0 by an expression and its language: answers the response code.",
    side=Side.BROKER,
    weight=5,
)
class PullBy(Operation):
    group: Annotated[int, Values(0, 1, weights=(3, 1))]
    topic: Annotated[int, Values(0, 1, 2, weights=(6, 1, 1))]
    expression: Annotated[str, Values("A", "||", "", weights=(6, 1, 1))]
    kind: Annotated[str, Values("SQL92", "TAG", weights=(3, 1))]


@operation(
    "Reset a group to the time `delta` ms from the store time of a message of queue 0 (-1: the last one): answers the "
    "(queue, offset) pairs, and those that the members were notified of.",
    side=Side.BROKER,
    weight=10,
    words=words.RESET,
)
class ResetByTime(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    message: Annotated[int, values.MESSAGE]
    delta: Annotated[int, values.DELTA]
    force: Annotated[bool, _FORCE]


@operation("Reset a group by a negative time: -1 is max.", side=Side.BROKER, weight=6, words=words.RESET)
class ResetToMax(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    timestamp: Annotated[int, Values(-1, -2, weights=(3, 1))]
    force: Annotated[bool, _FORCE]


@operation(
    "Reset a group in one queue to an offset, or to max without one.", side=Side.BROKER, weight=8, words=words.RESET
)
class ResetQueue(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, Values(0, 1, 9, -1, weights=(6, 3, 1, 1))]
    offset: Annotated[int | None, _TARGET]


@operation(
    "A client in this language resets a group to max: answers the (queue, offset) pairs, those that the members were "
    "notified of, and whether these got them as a list or a table, null for none.",
    side=Side.BROKER,
    weight=4,
    words=words.RESET_FORM,
)
class ResetFrom(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, Values(0, 1, 2, weights=(6, 1, 1))]
    language: Annotated[str, Values("CPP", "JAVA", "GO")]


@operation(
    "Clone the offsets of a group for another one; a missing topic is a field that is not sent.",
    side=Side.BROKER,
    weight=6,
)
class Clone(Operation):
    source: Annotated[int, values.GROUP]
    destination: Annotated[int, Values(1, 0, 2, weights=(3, 2, 1))]
    topic: Annotated[int | None, Values(0, 1, 2, None, weights=(6, 2, 1, 1))]
    offline: Annotated[bool, _BOOL]


@operation(
    "Ask for correction offsets, the smallest that groups stored for a topic: answers (queue, offset) pairs. "
    "filterGroups leaves groups out, and compareGroup names one to compare with.",
    side=Side.BROKER,
    weight=6,
    words=OFFSETS,
)
class Correction(Operation):
    topic: Annotated[int, values.TOPIC]
    left_out: Annotated[tuple[int, ...], Subset((0, 1, 2), 2)]
    compared: Annotated[int, values.GROUP]


def _stats(high: Any, offset: Any, following: Any, time: Any) -> str:
    return f"max {high}, offset {offset}, pulls go on at {following}, stored at {time}"


@operation(
    "Ask for the statistics of a group, for one topic or for all: answers, for each queue, the topic, the queue id, "
    "max, the group's offset, where its pulls go on, and the store time of the message before the offset.",
    side=Side.BROKER,
    weight=6,
    words=keyed(lambda topic, queue: f"queue {queue} of topic {topic}", _stats, size=6, keys=2),
)
class GroupStats(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int | None, Values(0, 1, 2, None, weights=(5, 2, 1, 2))]


def bind(profile: Profile) -> BoundModel:
    """The model."""
    model = BrokerAdminModel(profile)
    return BoundModel(
        BrokerAdminState(),
        {
            CreateTopic: model.create_topic,
            DeleteTopic: model.delete_topic,
            CreateGroup: model.create_group,
            DeleteGroup: model.delete_group,
            SendTimed: model.send_timed,
            Commit: model.commit,
            Query: model.query,
            Max: model.max,
            Join: model.join,
            Leave: model.leave,
            Pull: model.pull,
            PullBy: model.pull_by,
            ResetByTime: model.reset_by_time,
            ResetToMax: model.reset_to_max,
            ResetQueue: model.reset_queue,
            Clone: model.clone,
            Correction: model.correction,
            GroupStats: model.stats,
            ResetFrom: model.reset_from,
        },
    )


def show(state: BrokerAdminState) -> str:
    """The state in one line."""
    pending = {f"{group}:{topic}/{queue}": offset for (group, topic, queue), offset in state.broker.pending.items()}
    online = {name: sorted(group.subscriptions) for name, group in state.members.items()}
    return f"{values.show(state.broker)}, pending {pending}, members {online}"


SUITE = Suite(
    name="broker-admin",
    sentence="Offsets that are reset and cloned, of groups and topics that come and go.",
    side=Side.BROKER,
    bind=bind,
    steps=80,
    show=show,
    rules=(
        "BQ-RESET-1",
        "BQ-RESET-2",
        "BQ-RESET-3",
        "BQ-RESET-QUEUE",
        "BQ-RESET-CPP",
        "BQ-RESET-RANGE",
        "BQ-COM-5",
        "BQ-COM-9-RESETS",
        "BQ-PULL-9",
        "BQ-UPDATE-RESET",
        "BQ-CLONE-1",
        "BQ-CLONE-BLANK",
        "BQ-CLONE-ONLINE",
        "BQ-CORRECT-1",
        "BQ-CORRECT-COMPARE",
        "BQ-COM-10",
        "BQ-STATS-GROUP",
        "BQ-STATS-PULLED",
        "BQ-TOPIC-1",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-TOPIC-TIMER",
        "BQ-GROUP-1",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-GROUP-LOOKUP",
        "BQ-COM-9",
        "BQ-HB-1",
        "BQ-HB-3",
        "BQ-HB-4",
        "BQ-HB-6",
        "BQ-PULL-1",
        "BQ-PULL-BROKER",
        "BQ-PULL-3",
        "BQ-PULL-7",
        "BQ-PULL-8",
        "BQ-PULL-STATUS",
        "BQ-PULL-SUB",
        "BQ-PULL-TAGS",
        "BQ-SQL-PASS",
        "BQ-SEND-1",
        "BQ-STORE-MAX",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-UPDATE-FIELD",
        "BQ-QUERY-FIELD",
        *values.QUERIES,
        "BQ-QUERY-SETZERO",
    ),
    limits=(
        values.NOT_READABLE,
        values.NO_TIMER,
        values.NO_SQL,
        values.members_reset("BQ-RESET-1", "BQ-RESET-QUEUE", "BQ-RESET-CPP"),
        values.brokers_reset(
            *("BQ-RESET-2", "BQ-RESET-3", "BQ-RESET-RANGE", "BQ-COM-5", "BQ-COM-9-RESETS"),
            *("BQ-PULL-9", "BQ-UPDATE-RESET"),
        ),
    ),
)
