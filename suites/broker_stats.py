"""The suite ``broker-stats``: what operators' tools ask before they decide, of topics and groups that come and go."""

from typing import Annotated, Any

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.broker_stats import RETRY_TOPIC, BrokerStatsModel, BrokerStatsState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_admin
from rocketmq_conformance.suites.broker_admin import Join, Leave, ResetQueue
from rocketmq_conformance.suites.broker_offsets import CreateTopic, DeleteGroup, DeleteTopic
from rocketmq_conformance.suites.broker_search import SendTimed
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import fields, keyed, listed, plain
from rocketmq_conformance.suites.values import broker as values

#: A topic of the case, or the retry topic of the group.
_ANY_TOPIC = Values(0, 1, 2, RETRY_TOPIC, weights=(6, 2, 1, 2))
_POSITION = Values(0, 1, 2, 5, 100, -1, weights=(3, 3, 2, 1, 1, 1))


def _written(state: BrokerStatsState) -> bool:
    return state.written


def _shows_index(profile: Profile) -> bool:
    return BrokerRules.of(profile).shows_index


def _lists_topics(profile: Profile) -> bool:
    return BrokerRules.of(profile).lists_topics


def _span(first: Any, last: Any, consumed: Any, since_1970: Any) -> str:
    delay = ", delay from 1970" if since_1970 else ""
    return f"stored from {first} to {last}, consumed up to {consumed}{delay}"


@operation("Commit an offset, for the retry topic of the group as well.", side=Side.BROKER, weight=12)
class CommitTo(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, _ANY_TOPIC]
    queue: Annotated[int, Values(0, 1, weights=(3, 1))]
    offset: Annotated[int, Values(0, 1, 2, 3, 100, -7, weights=(2, 3, 3, 2, 2, 2))]


@operation(
    "Ask for the statistics of a group, for one topic or for all, its retry topic among them.",
    side=Side.BROKER,
    weight=6,
    words=broker_admin.GroupStats.spec.words,
)
class Lag(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int | None, Values(0, None, 1, 2, RETRY_TOPIC, weights=(3, 4, 2, 1, 1))]


@operation(
    "Ask for the statistics of a topic: answers min, max and the store time of the last message, for each queue.",
    side=Side.BROKER,
    weight=5,
    words=keyed(lambda queue: f"queue {queue}", lambda low, high, time: f"{low} to {high}, stored at {time}", size=4),
)
class TopicStats(Operation):
    topic: Annotated[int, values.TOPIC]


@operation("Ask which groups consume a topic.", side=Side.BROKER, weight=8, words=listed())
class ConsumedBy(Operation):
    topic: Annotated[int, values.TOPIC]


@operation(
    "Ask for the topics of a group.",
    side=Side.BROKER,
    weight=5,
    words=listed(),
    offered=_lists_topics,
)
class TopicsOf(Operation):
    group: Annotated[int, values.GROUP]


@operation(
    "Ask for the time span of a group in a topic: answers the store times of the first message, of the last one and of "
    "the one before the group's offset, and whether the delay is counted from 1970, for each queue.",
    side=Side.BROKER,
    weight=6,
    words=keyed(lambda queue: f"queue {queue}", _span, size=5),
)
class TimeSpan(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, _ANY_TOPIC]


@operation(
    "Ask for entries of the index of queue 0 of topic 0, from a position on: answers min, max and how many there are, "
    "or nothing.",
    side=Side.BROKER,
    weight=5,
    guard=_written,
    offered=_shows_index,
    words=fields({"min": plain, "max": plain, "entries": plain}),
)
class QueueIndex(Operation):
    position: Annotated[int, _POSITION]
    count: Annotated[int, Values(1, 2, 10, 0, weights=(3, 2, 2, 1))]


def bind(profile: Profile) -> BoundModel:
    """The model."""
    model = BrokerStatsModel(profile)
    return BoundModel(
        BrokerStatsState(),
        {
            CreateTopic: model.create_topic,
            DeleteTopic: model.delete_topic,
            DeleteGroup: model.delete_group,
            SendTimed: model.send_timed,
            CommitTo: model.commit_to,
            ResetQueue: model.reset_queue,
            Join: model.join,
            Leave: model.leave,
            Lag: model.lag,
            TopicStats: model.topic_stats,
            ConsumedBy: model.consumed_by,
            TopicsOf: model.topics_of,
            TimeSpan: model.time_span,
            QueueIndex: model.queue_index,
        },
    )


def _show(state: BrokerStatsState) -> str:
    subscribers = [f"{name} to {topic}" for topic, name in sorted(state.subscribers)]
    return f"{broker_admin.show(state.admin)}, index of subscribers {subscribers}"


SUITE = Suite(
    name="broker-stats",
    sentence="What operators' tools ask: how far groups are, who consumes a topic, and how old that is.",
    side=Side.BROKER,
    bind=bind,
    steps=60,
    show=_show,
    rules=(
        "BQ-STATS-GROUP",
        "BQ-STATS-TOPIC",
        "BQ-WHO-TOPIC",
        "BQ-WHO-INDEX",
        "BQ-WHO-GROUP",
        "BQ-SPAN",
        "BQ-INDEX",
        "BQ-INDEX-ZERO",
        "BQ-RESET-1",
        "BQ-RESET-2",
        "BQ-RESET-3",
        "BQ-RESET-QUEUE",
        "BQ-RESET-RANGE",
        "BQ-COM-5",
        "BQ-COM-9",
        "BQ-COM-9-RESETS",
        "BQ-TOPIC-1",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-TOPIC-TIMER",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-GROUP-LOOKUP",
        "BQ-HB-1",
        "BQ-HB-3",
        "BQ-HB-4",
        "BQ-HB-6",
        "BQ-SEND-1",
        "BQ-STORE-MAX",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-UPDATE-RESET",
    ),
    limits=(
        values.NO_TIMER,
        values.members_reset("BQ-RESET-1", "BQ-RESET-QUEUE"),
        values.brokers_reset(
            *("BQ-RESET-2", "BQ-RESET-3", "BQ-RESET-RANGE", "BQ-COM-5", "BQ-COM-9-RESETS", "BQ-UPDATE-RESET")
        ),
    ),
)
