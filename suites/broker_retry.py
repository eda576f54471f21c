"""The suite ``broker-retry``: messages that consumers send back, the copies that come again, and dead letters."""

from dataclasses import replace
from typing import Annotated, Any

from rocketmq_conformance.models.broker.broker_retry import (
    FIRST,
    HERE,
    KINDS,
    TIMES,
    BrokerRetryModel,
    RetryState,
    show,
)
from rocketmq_conformance.models.broker.configuration import PERMISSION, SETTINGS
from rocketmq_conformance.models.broker.state import READ, WRITE
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_offsets import CreateTopic, DeleteGroup, DeleteTopic
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import Worded, bare, fields, keyed, plain
from rocketmq_conformance.suites.values import broker as values

#: Most retry queues: the default, more, none, fewer than none.
_RETRY_QUEUES = Values(1, 2, 0, -1, weights=(12, 10, 1, 1))
_LIMIT = Values(16, 1, 0, 2, -1, weights=(4, 3, 2, 2, 1))
#: The limit of a request, and a field that is not sent.
_ANY_LIMIT = Values(16, 1, 0, 2, -1, None, weights=(8, 2, 2, 2, 1, 4))
#: The newest message, older ones, none.
_MESSAGE = Values(0, 1, 2, 4, 99, weights=(8, 3, 2, 1, 1))
#: By the times, at levels that are over at once, after a second, the last one, beyond it, Java's ends, dead at once.
_LEVEL = Values(0, 3, 2, 1, 18, 19, 2**31 - 1, -1, -(2**31), weights=(40, 8, 4, 1, 4, 4, 2, 8, 2))
_ORIGIN = Values(FIRST, HERE, None, weights=(6, 3, 2))
_OLD = Values(False, True, weights=(12, 1))
_TIMES = Values(0, 1, 2, 3, weights=(2, 3, 3, 2))
_COPY_LEVEL = Values(3, 0, 1, 19, weights=(16, 8, 1, 4))
_OWN_QUEUES = Values(1, 2)
#: Times of messages: such as are waited for, such as are over, such as are refused.
_TIME = Values(*TIMES, weights=(4, 4, 4, *[1] * (len(TIMES) - 3)))
_PERM = Values(READ | WRITE, READ, WRITE, weights=(3, 1, 1))


_PROPERTIES = keyed(bare, bare)


def _showed(value: Any) -> Worded:
    """Where a copy showed: retry or dead, its queue and offset, and the error of a pull, or what the message was."""
    of_message = {"times": plain, "properties": _PROPERTIES, "time": plain} if len(value) > 4 else {"pull": plain}
    return fields({"topic": bare, "queue": plain, "offset": plain, **of_message})(value)


@operation(
    "Create a consumer group, or change it: its retry queues, and how often it retries.", side=Side.BROKER, weight=4
)
class SetRetries(Operation):
    group: Annotated[int, values.GROUP]
    queues: Annotated[int, _RETRY_QUEUES]
    most: Annotated[int, _LIMIT]


@operation(
    "Create a group's retry topic, or its topic of dead letters, or change it: its queues, and its permission (bits: 4 "
    "read, 2 write).",
    side=Side.BROKER,
    weight=3,
)
class SetOwnTopic(Operation):
    group: Annotated[int, values.GROUP]
    dead: Annotated[bool, Values(False, True)]
    queues: Annotated[int, _OWN_QUEUES]
    perm: Annotated[int, _PERM]


@operation(
    "Send a message to queue 0: without properties (0), with those of an application (1), or with those of a message "
    "that came back elsewhere (2). Answers its offset.",
    side=Side.BROKER,
    weight=6,
)
class SendOne(Operation):
    topic: Annotated[int, values.TOPIC]
    kind: Annotated[int, Values(*range(len(KINDS)), weights=(4, 3, 1))]


@operation(
    "Send a message back (0 is the newest one), with the name of its first topic, of the topic in which it lies, or "
    "none; `old` is a client before 3.4.9. Answers nothing for a message that is dropped, or where the copy showed: "
    "retry or dead, its queue and offset, then the error of a pull, or its times, its properties and the time until it "
    "showed, in thousandths of that of level 1.",
    side=Side.BROKER,
    weight=24,
    observes=True,
    words=_showed,
)
class SendBack(Operation):
    group: Annotated[int, values.GROUP]
    message: Annotated[int, _MESSAGE]
    level: Annotated[int, _LEVEL]
    most: Annotated[int | None, _ANY_LIMIT]
    origin: Annotated[str | None, _ORIGIN]
    old: Annotated[bool, _OLD]


@operation(
    "Send a copy of a message, consumed again so many times, to the retry topic, as a client does that cannot send it "
    "back. Answers where it showed.",
    side=Side.BROKER,
    weight=7,
    observes=True,
    words=_showed,
)
class SendCopy(Operation):
    group: Annotated[int, values.GROUP]
    times: Annotated[int, _TIMES]
    most: Annotated[int | None, _ANY_LIMIT]
    level: Annotated[int, _COPY_LEVEL]
    old: Annotated[bool, _OLD]


@operation(
    "Lock a queue for a new group, or lock and unlock it, and send a copy of a message to the group's retry topic, "
    "consumed again once. Answers where it showed.",
    side=Side.BROKER,
    weight=3,
    observes=True,
    words=_showed,
)
class SendLockedCopy(Operation):
    holds: Annotated[bool, Values(True, False, weights=(2, 1))]
    level: Annotated[int, Values(0, 3, 19, weights=(4, 2, 1))]


@operation(
    "Send a message with a time of its own, perhaps a delay level, too, to queue 0, and wait for it. Answers its "
    "offset, its properties, and how much too early it came (ms).",
    side=Side.BROKER,
    weight=4,
    words=fields({"offset": plain, "properties": _PROPERTIES, "too early (ms)": plain}),
)
class SendLater(Operation):
    topic: Annotated[int, values.TOPIC]
    time: Annotated[str, _TIME]
    level: Annotated[int | None, Values(None, 0, 1, weights=(8, 1, 1))]


@operation(
    "Ask for the number of queues of a group's retry topic, or of its topic of dead letters.",
    side=Side.BROKER,
    weight=4,
)
class OwnQueues(Operation):
    group: Annotated[int, values.GROUP]
    dead: Annotated[bool, Values(False, True)]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerRetryModel(profile)
    return BoundModel(
        RetryState(),
        {
            CreateTopic: model.create_topic,
            DeleteTopic: model.delete_topic,
            SetRetries: model.set_group,
            DeleteGroup: model.delete_group,
            SetOwnTopic: model.set_own_topic,
            SendOne: model.send_one,
            SendBack: model.back,
            SendCopy: model.copy,
            SendLockedCopy: model.locked_copy,
            SendLater: model.timed,
            OwnQueues: model.own_queues,
        },
    )


SUITE = Suite(
    name="broker-retry",
    sentence="Messages that consumers send back, the copies that come again, and dead letters.",
    side=Side.BROKER,
    bind=_bind,
    steps=40,
    cases=256,
    case_seconds=1.7,
    show=show,
    rules=(
        "BQ-TOPIC-1",
        "BQ-TOPIC-RW",
        "BQ-TOPIC-2",
        "BQ-TOPIC-3",
        "BQ-GROUP-1",
        "BQ-GROUP-2",
        "BQ-GROUP-3",
        "BQ-GROUP-LOOKUP",
        "BQ-SEND-1",
        "BQ-STORE-MAX",
        "BQ-BACK-BROKER",
        "BQ-BACK-DROP",
        "BQ-BACK-TOPIC",
        "BQ-BACK-PERM",
        "BQ-BACK-LOOK",
        "BQ-BACK-FENCE",
        "BQ-BACK-LEVEL",
        "BQ-BACK-TIME",
        "BQ-BACK-QUEUE",
        "BQ-BACK-COPY",
        "BQ-BACK-MOST",
        "BQ-BACK-STATS",
        "BQ-DEAD-1",
        "BQ-DEAD-READ",
        "BQ-DEAD-LEVEL",
        "BQ-DEAD-ID",
        "BQ-DEAD-UNNAMED",
        "BQ-COPY-1",
        "BQ-COPY-LOCKED",
        "BQ-COPY-MOST",
        "BQ-COPY-DEAD",
        "BQ-TIMER-1",
        "BQ-TIMER-LEVEL",
        "BQ-TIMER-ILLEGAL",
        "BQ-TIMER-COPY",
        "BQ-TIMER-OFF",
        "BQ-TOPIC-TIMER",
    ),
    limits=(
        values.NO_TIMER,
        replace(values.NO_TIMER, rules=("BQ-TIMER-OFF",)),
        RuleLimit(
            rules=("BQ-BACK-BROKER",),
            setting=PERMISSION,
            values=tuple(value for value in SETTINGS[PERMISSION].values if not int(value) & WRITE),
            because="the broker may be written: brokerPermission has the bit 2, as by default",
        ),
    ),
)
