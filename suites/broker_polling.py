"""The suite ``broker-polling``: pulls that a broker holds until a message passes, or until their time is up.

A case takes as long as its waits: a broker checks held pulls every 5 s. What a broker is too slow for must not count
against it, so no operation asks how soon an answer comes; see the model for what is asked instead.
"""

from typing import Annotated, Any

from rocketmq_conformance.models.broker.broker_polling import (
    CHANGES,
    FOREVER,
    HELD,
    SLOTS,
    WAYS,
    BrokerPollingModel,
    BrokerPollingState,
    show,
)
from rocketmq_conformance.models.broker.configuration import BROADCAST, LONG_POLLING
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values, Whole
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import Worded, bare, fields, plain
from rocketmq_conformance.suites.values import broker as values
from rocketmq_conformance.suites.values.words import PULLED

_SLOT = Whole(0, SLOTS - 1)
_QUEUE = Values(0, 1, weights=(6, 1))


def _outcome(value: Any) -> Worded:
    """That a pull is held, or what it is answered."""
    return value if value == HELD else PULLED(value)


#: The outcome of a pull, when it was sent, and when that was seen (thousandths of the interval).
_SEEN = fields({"pull": _outcome, "sent": plain, "seen": plain})


@operation(
    "Send messages with these tags to a queue, one after the other: answers their offsets.", side=Side.BROKER, weight=10
)
class SendTags(Operation):
    queue: Annotated[int, _QUEUE]
    tags: Annotated[tuple[str, ...], Values(("A",), ("B",), ("B", "A"), ("",), ("B", "B"), weights=(4, 5, 2, 1, 1))]


@operation(
    "Pull over the connection of a slot, from so many messages beyond max, by tags, waiting for so many thousandths of "
    "the time between two checks, with the flag that lets the broker hold the pull or without. Answers 'held', or the "
    "response code, the next offset and the offsets of the messages; then when it was sent, and when that was seen.",
    side=Side.BROKER,
    weight=12,
    observes=True,
    words=_SEEN,
)
class HoldPull(Operation):
    slot: Annotated[int, _SLOT]
    queue: Annotated[int, _QUEUE]
    distance: Annotated[int, Values(0, 1, -1, weights=(12, 1, 1))]
    expression: Annotated[str, Values("*", "A", "A || C", "C", weights=(3, 6, 2, 2))]
    wait: Annotated[int, Values(FOREVER, 0, 300, 1400, -1000, weights=(10, 8, 2, 1, 2))]
    suspends: Annotated[bool, Values(True, False, weights=(12, 1))]


@operation(
    "See whether the pull of a slot is answered: the same.",
    side=Side.BROKER,
    weight=12,
    observes=True,
    words=_SEEN,
)
class LookAtPull(Operation):
    slot: Annotated[int, _SLOT]


@operation(
    "Wait until the pull of a slot is answered, or a check did not answer it: the same.",
    side=Side.BROKER,
    weight=6,
    observes=True,
    words=_SEEN,
)
class AwaitPull(Operation):
    slot: Annotated[int, _SLOT]


@operation(
    "Hold a pull, send a message that passes its filter, and one to another queue, where a pull with another filter "
    "waits: answers the response as if from offset 0, and whether it came before that of the other pull.",
    side=Side.BROKER,
    weight=2,
    words=fields({"pull": PULLED, "before the other pull": plain}),
)
class WakePull(Operation):
    expression: Annotated[str, Values("*", "A || C", weights=(1, 2))]
    tag: Annotated[str, Values("A", "C")]


@operation(
    "Hold a pull of a new group, let something change, and send a message that passes the filter that the pull was "
    "held with: answers the response as if from offset 0.",
    side=Side.BROKER,
    weight=2,
    words=PULLED,
)
class ChangeHeld(Operation):
    change: Annotated[str, Values(*CHANGES)]


@operation(
    "The two members of a new group pull from queue 0 of a new topic, in some way and by (member, offset), and the "
    "broker has the time to look at that: answers the offset of the group's broadcast name, or the error's code, and "
    "the smallest offset that is stored for the topic.",
    side=Side.BROKER,
    weight=1,
    words=fields({"offset by the broadcast name": bare, "smallest offset of the topic": plain}),
)
class PullBroadcasting(Operation):
    way: Annotated[str, Values(*WAYS, weights=(6, 1, 1, 1, 1, 1, 1, 1))]
    pulls: Annotated[
        tuple[tuple[int, int], ...],
        Values(
            *(((0, 2),), ((0, 2), (1, 1)), ((0, 1), (1, 2)), ((0, 2), (0, 1)), ((0, 1), (0, 2))),
            *(((0, 9),), ((0, 9), (1, 2)), ((0, 3),), ((0, -1),)),
        ),
    ]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerPollingModel(profile)
    return BoundModel(
        BrokerPollingState(),
        {
            SendTags: model.send,
            HoldPull: model.hold,
            LookAtPull: model.look,
            AwaitPull: model.wait,
            WakePull: model.wake,
            ChangeHeld: model.change,
            PullBroadcasting: model.broadcast,
        },
    )


SUITE = Suite(
    name="broker-polling",
    sentence="Pulls that are held until a message passes, or until their time is up.",
    side=Side.BROKER,
    bind=_bind,
    steps=12,
    cases=64,
    case_seconds=14,
    show=show,
    rules=(
        "BQ-BROADCAST-1",
        "BQ-BROADCAST-2",
        "BQ-CORRECT-1",
        "BQ-PULL-10",
        "BQ-PULL-AGAIN",
        "BQ-PULL-3",
        "BQ-PULL-7",
        "BQ-PULL-BROKER",
        "BQ-PULL-CHECK",
        "BQ-PULL-SHORT",
        "BQ-PULL-STATUS",
        "BQ-PULL-TAGS",
        "BQ-SEND-1",
        "BQ-STORE-MAX",
    ),
    repeatable=False,
    limits=(
        values.NOT_READABLE,
        RuleLimit(
            rules=("BQ-PULL-SHORT",),
            setting=LONG_POLLING,
            values=("false",),
            because="pulls are held for the time they ask for: longPollingEnable is on, the default",
        ),
        RuleLimit(
            rules=("BQ-BROADCAST-1", "BQ-BROADCAST-2"),
            setting=BROADCAST,
            values=("true",),
            because="no offsets are kept of groups that broadcast: enableBroadcastOffsetStore is off",
        ),
    ),
)
