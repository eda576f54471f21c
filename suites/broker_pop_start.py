"""The suite ``broker-pop-start``: where a group that pops begins, and where its stored offset goes.

Pops name one queue, since a broker chooses the first queue of a walk at random; those of all queues take all there is.
Nothing waits: what is handed out stays invisible for longer than a case lasts.
"""

from typing import Annotated, Any

from rocketmq_conformance.models.broker.broker_pop_start import BrokerPopStartModel, BrokerPopStartState
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pop import MAX, MIN, MOST
from rocketmq_conformance.models.broker.state import READ, WRITE
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_admin import Pull, ResetQueue, ResetToMax
from rocketmq_conformance.suites.broker_offsets import Commit, DeleteGroup, DeleteTopic, Query
from rocketmq_conformance.suites.broker_polling import SendTags
from rocketmq_conformance.suites.broker_topics import SetGroup
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import bare, fields, keyed, numbers
from rocketmq_conformance.suites.values import broker as values


def pops(profile: Profile) -> bool:
    """Does the broker hand out messages by POP?"""
    return BrokerRules.of(profile).pops


def _few(state: BrokerPopStartState) -> bool:
    """Can a pop take everything that topic 0 has?"""
    return sum(map(len, state.tags.values())) <= MOST


#: How a group begins that has no offset: at the smallest one, at the last message, and by a number that is neither.
MODE = Values(MIN, MAX, 2, weights=(6, 8, 1))
_QUEUE = Values(0, 1, 9, weights=(10, 4, 1))
_SETTINGS = Values(READ | WRITE, WRITE, weights=(5, 1))

#: The offset that a pop begins at, and those of the messages.
POPPED = fields({"begins at": bare, "messages": numbers})


@operation("Create a topic, or change how many queues it has and whether it may be read.", side=Side.BROKER, weight=2)
class ShapeTopic(Operation):
    topic: Annotated[int, values.TOPIC]
    queues: Annotated[int, values.QUEUES]
    perm: Annotated[int, _SETTINGS]


@operation(
    "Pop so many messages from a queue, by tags, and wait until the broker has taken that down: answers the offset "
    "that the pop begins at, and the offsets of the messages.",
    side=Side.BROKER,
    weight=40,
    words=POPPED,
)
class Pop(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    queue: Annotated[int, _QUEUE]
    most: Annotated[int, Values(1, 2, 32, 0, 33, weights=(6, 6, 4, 1, 1))]
    mode: Annotated[int, MODE]
    expression: Annotated[str, Values("*", "A", "C", weights=(8, 3, 1))]


@operation(
    "Pop everything from all queues: answers the offsets of the messages of each queue that gives some.",
    side=Side.BROKER,
    weight=4,
    guard=_few,
    words=keyed(lambda queue: f"queue {queue}", lambda offsets: numbers(offsets), size=2),
)
class PopAll(Operation):
    group: Annotated[int, values.GROUP]
    topic: Annotated[int, values.TOPIC]
    mode: Annotated[int, MODE]


@operation(
    "Pop a message from a new retry topic with so many messages: answers the offset that the pop begins at, or the "
    "response code, the offset of the message, and the offset that is stored then.",
    side=Side.BROKER,
    weight=2,
    words=fields({"begins at": bare, "messages": numbers, "stored": bare}),
)
class PopRetry(Operation):
    count: Annotated[int, Values(0, 1, 3)]
    mode: Annotated[int, MODE]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerPopStartModel(profile)
    return BoundModel(
        BrokerPopStartState(),
        {
            ShapeTopic: model.shape_topic,
            DeleteTopic: model.delete_topic,
            SetGroup: model.set_group,
            DeleteGroup: model.delete_group,
            SendTags: model.send,
            Commit: model.commit,
            Query: model.query,
            Pull: model.pull,
            ResetQueue: model.reset_queue,
            ResetToMax: model.reset_to_max,
            Pop: model.pop,
            PopAll: model.pop_all,
            PopRetry: model.pop_retry,
        },
    )


def _show(state: BrokerPopStartState) -> Any:
    return values.show(state.broker)


SUITE = Suite(
    name="broker-pop-start",
    sentence="Where groups that pop begin, and where their stored offsets go, among commits, pulls and resets.",
    side=Side.BROKER,
    bind=_bind,
    steps=60,
    has=pops,
    show=_show,
    rules=(
        *values.QUERIES,
        "BQ-COM-5",
        "BQ-COM-9",
        "BQ-COM-9-RESETS",
        "BQ-GROUP-1",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-GROUP-ENABLE",
        "BQ-GROUP-LOOKUP",
        "BQ-PULL-1",
        "BQ-PULL-3",
        "BQ-PULL-7",
        "BQ-PULL-8",
        "BQ-PULL-9",
        "BQ-PULL-BROKER",
        "BQ-PULL-ENABLE",
        "BQ-PULL-PERM",
        "BQ-PULL-STATUS",
        "BQ-QUERY-FIELD",
        "BQ-QUERY-SETZERO",
        "BQ-RESET-1",
        "BQ-RESET-2",
        "BQ-RESET-3",
        "BQ-RESET-QUEUE",
        "BQ-RESET-RANGE",
        "BQ-SEND-1",
        "BQ-STORE-MAX",
        "BQ-TOPIC-1",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-TOPIC-RW",
        "BQ-TOPIC-TIMER",
        "BQ-UPDATE-1",
        "BQ-UPDATE-2",
        "BQ-UPDATE-FIELD",
        "BQ-UPDATE-RESET",
        "POP-CHECK",
        "POP-MOVE-1",
        "POP-MOVE-4",
        "POP-NONE",
        "POP-RESET-2",
        "POP-START-1",
        "POP-START-14",
        "POP-START-3",
        "POP-START-4",
        "POP-START-5",
        "POP-START-6",
        "POP-START-7",
        "POP-START-8",
    ),
    limits=(
        values.NO_TIMER,
        values.NOT_READABLE,
        values.members_reset("BQ-RESET-1", "BQ-RESET-QUEUE"),
        values.brokers_reset(
            *("BQ-RESET-2", "BQ-RESET-3", "BQ-RESET-RANGE", "BQ-COM-5", "BQ-COM-9-RESETS"),
            *("BQ-PULL-9", "BQ-UPDATE-RESET", "POP-RESET-2"),
        ),
    ),
)
