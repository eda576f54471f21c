"""The suite ``broker-pop-ack``: what a group popped is acknowledged, hidden for longer or shorter, and comes back.

A case takes as long as its waits, and many cases wait at once. No operation asks how soon a message comes back; see
the model for what is asked instead.
"""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_pop_ack import (
    AT_ONCE,
    FOREVER,
    SHORTLY,
    WAYS,
    BrokerPopAckModel,
    BrokerPopAckState,
    show,
)
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pop_flight import ACK, CHANGE, FAULTS, OF_BATCHES
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_pop_start import pops
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import fields, keyed, numbers, plain


def _batches(profile: Profile) -> bool:
    return BrokerRules.of(profile).pop_batches


_MESSAGE = Values(0, 1, 2, 3, 4)


def _came_back(times: int, own: bool, seen: int) -> str:
    return f"reconsumeTimes {times}, in {'its own' if own else 'the retry'} topic, seen at {seen}"


@operation(
    "Send so many messages and pop them, for a short time or for good: answers the messages, and when the pop was "
    "sent, in thousandths of the short time.",
    side=Side.BROKER,
    weight=10,
    observes=True,
    words=fields({"messages": numbers, "sent": plain}),
)
class HandOut(Operation):
    count: Annotated[int, Values(1, 2, 3)]
    hidden: Annotated[int, Values(SHORTLY, FOREVER, weights=(4, 1))]


@operation(
    "Acknowledge a message by the handle that it had last, or by one that is not right: answers when that was "
    "answered.",
    side=Side.BROKER,
    weight=12,
    observes=True,
)
class Acknowledge(Operation):
    message: Annotated[int, _MESSAGE]
    way: Annotated[str, Values(*WAYS, weights=(6, 2, 2, 2, 2))]


@operation(
    "Acknowledge several messages by one request, perhaps with bits of messages that no pop brought: answers when that "
    "was answered.",
    side=Side.BROKER,
    weight=5,
    observes=True,
    offered=_batches,
)
class AcknowledgeBatch(Operation):
    messages: Annotated[tuple[int, ...], Values((0, 1), (0, 2), (1,), (1, 2, 3), (0, 1, 2, 3, 4))]
    more: Annotated[bool, Values(False, True)]


@operation(
    "Change how long a message is hidden: answers when that was sent, and when it was answered.",
    side=Side.BROKER,
    weight=6,
    observes=True,
    words=fields({"sent": plain, "answered": plain}),
)
class Change(Operation):
    message: Annotated[int, _MESSAGE]
    hidden: Annotated[int, Values(FOREVER, SHORTLY, AT_ONCE, weights=(3, 3, 1))]


@operation(
    "Wait until everything is visible again that is not acknowledged, and pop it for good: answers, for each message "
    "that came back, its reconsumeTimes, whether it has the name of its own topic, and when it was seen.",
    side=Side.BROKER,
    weight=4,
    observes=True,
    words=keyed(lambda message: f"message {message}", _came_back, size=4),
)
class AwaitReturns(Operation):
    pass


@operation(
    "Acknowledge a message, or change how long it is hidden, by a request that is wrong.", side=Side.BROKER, weight=3
)
class AskBadly(Operation):
    fault: Annotated[str, Values(*FAULTS)]
    request: Annotated[str, Values(ACK, CHANGE)]


@operation("Acknowledge several messages by a request that is wrong.", side=Side.BROKER, offered=_batches)
class BatchBadly(Operation):
    fault: Annotated[str, Values(*OF_BATCHES)]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerPopAckModel(profile)
    return BoundModel(
        BrokerPopAckState(),
        {
            HandOut: model.hand_out,
            Acknowledge: model.ack,
            AcknowledgeBatch: model.ack_batch,
            Change: model.change,
            AwaitReturns: model.await_returns,
            AskBadly: model.ask_badly,
            BatchBadly: model.batch_badly,
        },
    )


SUITE = Suite(
    name="broker-pop-ack",
    sentence="What groups popped is acknowledged, hidden for longer or shorter, and comes back.",
    side=Side.BROKER,
    bind=_bind,
    has=pops,
    steps=14,
    cases=128,
    case_seconds=14,
    show=show,
    repeatable=False,
    rules=(
        "POP-ACK-0",
        "POP-ACK-1",
        "POP-ACK-12",
        "POP-ACK-5",
        "POP-ACK-8",
        "POP-ACK-BAD",
        "POP-BACK",
        "POP-HIDDEN",
        "POP-MOVE-1",
    ),
)
