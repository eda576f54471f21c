"""The suite ``pull-result``: one pull of each kind of consumer, its request, and what comes of the answer."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.pull_result import (
    ANY_BYTES,
    FAILS,
    FIRST,
    LAST,
    PLAIN,
    REPLACES,
    TIMED,
    WAITING,
    PullResultModel,
    PullResultState,
)
from rocketmq_conformance.models.client.subscription import SQL92, TAG
from rocketmq_conformance.models.client.switches import LIMITS_BYTES, LITE_PULL, PULLS_BY_SELECTOR, WAITS_BY_SELECTOR
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, arguments, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import OFFSET_OR_NONE, keyed
from rocketmq_conformance.suites.values.words import TAGGED

#: Messages (offset, tag) of an answer.
MESSAGES = Values(
    ((5, "A"),),
    ((5, "A"), (6, "B")),
    ((6, "B"),),
    ((5, ""), (7, "A"), (8, "B")),
    ((8, ""),),
    ((7, "C"), (9, "A")),
    words=TAGGED,
)
CODE = Values(
    *("SUCCESS", "PULL_NOT_FOUND", "PULL_RETRY_IMMEDIATELY", "PULL_OFFSET_MOVED"),
    *("SYSTEM_ERROR", "SUBSCRIPTION_NOT_LATEST", "FLOW_CONTROL", "no-field", "silent", "cut"),
    weights=(10, 2, 2, 2, 1, 1, 1, 1, 1, 1),
)
TAGS = Values("A", "*", "A || B", "", weights=(4, 2, 2, 1))
QUEUE, OFFSET = Values(0, 1, 2), Values(5, 0, 7)
#: Also offsets, numbers and expressions that are refused.
ANY_OFFSET, ANY_NUMBER = Values(5, 0, 7, -1, weights=(6, 3, 3, 1)), Values(32, 1, 10, 0, -1, weights=(8, 3, 3, 1, 1))
ANY_TAGS = Values("A", "*", "A || B", "", None, "||", weights=(6, 3, 3, 2, 1, 1))
SQL = Values("a > 1", "b = 'x'", "", weights=(5, 3, 1))
_SENT = {
    "request": ("PULL-ASK-LITE",),
    "node": ("PULL-NODE-1",),
    "timeout": ("PULL-ASK-WAIT",),
    **dict.fromkeys(("group", "topic", "queue id", "offset", "number", "flag", "offset to commit", "suspend"), ()),
    "expression": (),
    "version": ("PULL-ASK-VERSION",),
    **dict.fromkeys(("type", "bytes", "broker"), ()),
}
_RESULT = {
    "status": ("PULL-STATUS", "PULL-STATUS-FAIL"),
    "next": ("PULL-STATUS",),
    "min": ("PULL-STATUS",),
    "max": ("PULL-STATUS",),
    "messages": ("PULL-MSG-BOUNDS", "PULL-FND-1"),
}
_ANSWERED = (
    " Answers the request: its name, the node that it goes to, the ms until it is given up, group, topic, queue id, "
    "offset, number, flag, offset to commit, suspendTimeoutMillis, expression, version (0, or the word time for the "
    "ms of the moment at which the subscription was made), type of the expression, bytes, and the broker's name, with "
    "null for a field that is not sent; and then "
)
_GETS = (
    "what the application gets: the status (the code of the answer of one that is refused, and the words no answer for "
    "one without an answer or without its fields), the next offset, min and max, and of each message its offset and "
    "the numbers in its properties MIN_OFFSET and MAX_OFFSET; null for what it does not get. A pull that is not sent: "
    "the error CLIENT."
)


@arguments
class Answered(Operation):
    code: Annotated[str, CODE]
    next_offset: Annotated[int, Values(8, 10, 3, 0)]
    low: Annotated[int, Values(2, 0, 6)]
    high: Annotated[int, Values(11, 14, 6)]
    messages: Annotated[tuple[tuple[int, str], ...], MESSAGES]
    suggested: Annotated[int, Values(0, 1, weights=(3, 1))]


_WORDS = {
    "offset to commit": OFFSET_OR_NONE,
    "messages": keyed(lambda at: f"offset {at}", lambda low, high: f"min {low}, max {high}", size=3),
}


@operation(
    "The application pulls by tags: plain, timed (with a timeout of 700 ms), or waiting for messages; with a "
    "callback or without. `code`, the offsets and the messages are the broker's answer." + _ANSWERED + _GETS,
    weight=12,
    answer={**_SENT, **_RESULT},
    words=_WORDS,
)
class Pull(Answered):
    way: Annotated[str, Values(PLAIN, WAITING, TIMED, weights=(3, 3, 1))]
    by_callback: Annotated[bool, Values(False, True)]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, ANY_OFFSET]
    most: Annotated[int, ANY_NUMBER]
    expression: Annotated[str | None, ANY_TAGS]


def _limits_bytes(profile: Profile) -> bool:
    return LIMITS_BYTES.on(profile.client)


@operation(
    "The application pulls 32 messages by * and a callback, with a timeout of 700 ms, and takes so many bytes."
    + _ANSWERED
    + _GETS,
    weight=2,
    offered=_limits_bytes,
    answer={**_SENT, **_RESULT},
    words=_WORDS,
)
class PullSized(Answered):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, ANY_OFFSET]
    size: Annotated[int, Values(1000, 1, ANY_BYTES, 0, -1)]


@operation(
    "The application pulls by an SQL92 expression, plain or timed." + _ANSWERED + _GETS,
    weight=4,
    offered=lambda profile: PULLS_BY_SELECTOR.on(profile.client),
    answer={**_SENT, **_RESULT},
    words=_WORDS,
)
class Select(Answered):
    way: Annotated[str, Values(PLAIN, TIMED)]
    by_callback: Annotated[bool, Values(False, True)]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, ANY_OFFSET]
    most: Annotated[int, ANY_NUMBER]
    expression: Annotated[str, SQL]


@operation(
    "The application pulls by an SQL92 expression, and waits for messages." + _ANSWERED + _GETS,
    weight=2,
    offered=lambda profile: WAITS_BY_SELECTOR.on(profile.client),
    answer={**_SENT, **_RESULT},
    words=_WORDS,
)
class SelectWaiting(Answered):
    by_callback: Annotated[bool, Values(False, True)]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, ANY_OFFSET]
    most: Annotated[int, ANY_NUMBER]
    expression: Annotated[str, SQL]


@operation(
    "The pull task of a lite pull consumer pulls." + _ANSWERED + _GETS,
    weight=6,
    offered=lambda profile: LITE_PULL.on(profile.client),
    answer={**_SENT, **_RESULT},
    words=_WORDS,
)
class PullLite(Answered):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, ANY_OFFSET]
    most: Annotated[int, Values(10, 1)]
    kind: Annotated[str, Values(TAG, SQL92, weights=(3, 1))]
    expression: Annotated[str, Values("A", "A || B", "B")]


@operation(
    "A push consumer that subscribes to the queue's topic by tags pulls so many messages; `held` is the offset of the "
    "queue in memory, -1 for none, and `posts` whether the expression goes with a pull."
    + _ANSWERED
    + "of each message that the listener is given its offset and the numbers in its properties MIN_OFFSET and "
    "MAX_OFFSET.",
    weight=6,
    answer={**_SENT, "messages": ("PULL-MSG-BOUNDS", "PULL-FND-1")},
    words=_WORDS,
)
class PullPush(Answered):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]
    most: Annotated[int, Values(32, 1)]
    held: Annotated[int, Values(-1, 0, 7)]
    expression: Annotated[str, TAGS]
    posts: Annotated[bool, Values(False, True)]


@operation(
    "A push consumer that subscribes to the queue's topic by a class pulls 32 messages. `servers` are the nodes for "
    "which the topic's route names two filter servers each, null without a route."
    + _ANSWERED
    + "of each message that the listener is given its offset and the numbers in its properties MIN_OFFSET and "
    "MAX_OFFSET. The node is the one whose filter server is asked, whichever of the two. A pull that is not sent: "
    "null.",
    weight=4,
    answer={**_SENT, "node": ("PULL-CLASS",), "messages": ("PULL-MSG-BOUNDS", "PULL-FND-1")},
    words=_WORDS,
)
class PullClass(Answered):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]
    held: Annotated[int, Values(-1, 0, 7)]
    posts: Annotated[bool, Values(False, True)]
    servers: Annotated[tuple[int, ...] | None, Values((0, 1), (0,), (1,), (), None, weights=(6, 3, 2, 1, 1))]


@operation(
    "The application registers hooks at its pull consumer and its push consumer, in place of earlier ones. In their "
    "order they take the first or the last message out of the list, fail, or put an empty list in its place.",
    weight=3,
)
class Hook(Operation):
    hooks: Annotated[
        tuple[str, ...],
        Values((FIRST,), (), (FIRST, LAST), (FAILS, LAST), (REPLACES,), (LAST, REPLACES, FIRST)),
    ]


@operation(
    "The application sets the times of its pull consumer (ms): brokerSuspendMaxTimeMillis, "
    "consumerTimeoutMillisWhenSuspend and consumerPullTimeoutMillis; and the latter two of its lite pull consumer.",
    weight=2,
)
class SetTimes(Operation):
    suspend: Annotated[int, Values(20_000, 5_000)]
    waiting: Annotated[int, Values(30_000, 12_000)]
    plain: Annotated[int, Values(10_000, 3_000)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = PullResultModel(profile, topology)
    return BoundModel(
        PullResultState(),
        {
            Pull: model.pull,
            PullSized: model.pull_sized,
            Select: model.select,
            SelectWaiting: model.select_waiting,
            PullLite: model.pull_lite,
            PullPush: model.pull_push,
            PullClass: model.pull_class,
            Hook: model.hook,
            SetTimes: model.set_times,
        },
    )


def show(state: PullResultState) -> str:
    """The settings, and the nodes to ask."""
    suggested = {f"{who} of {queue}": node for (who, queue), node in state.suggested.items()}
    return f"{state.times}; suggested {suggested}; hooks {list(state.hooks)}"


SUITE = Suite(
    name="pull-result",
    sentence="One pull of each kind of consumer: the whole request, and what comes of the answer.",
    beginning=(
        "When a case begins, a pull consumer, a lite pull consumer and a push consumer of group G run with standard "
        "settings, and know the broker's master (0) and a slave (1)."
    ),
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=30,
    cases=300,  # every answer is decided within a step
    show=show,
    rules=(
        "PULL-ASK-1",
        "PULL-ASK-WAIT",
        "PULL-ASK-CHECK",
        "PULL-ASK-VERSION",
        "PULL-ASK-LITE",
        "PULL-ASK-PUSH",
        "PULL-STATUS",
        "PULL-STATUS-FAIL",
        "PULL-MSG-BOUNDS",
        "PULL-HOOK",
        "PULL-CLASS",
        "PULL-FND-1",
        "PULL-NODE-1",
        "PULL-COM-1",
        "PULL-SUB-3",
    ),
)
