"""One pull of each kind of consumer: what it sends, and what comes of the broker's answer (PULL-ASK-*, PULL-STATUS-*).

Four callers send a pull, and each fills the same header in its own way:

================  ==========  ===========  ======================  ===============  =================
caller            flag        offset to    version                 suspended        gives up
                              commit                               at most          after
================  ==========  ===========  ======================  ===============  =================
pull              4           0            0                       20 s             10 s, or as given
pull that waits   4 + 2       0            0                       20 s             30 s
lite pull         4 + 2 + 16  0            0                       20 s             30 s
push              2 (+1, +4)  as in        the subscription's      15 s             30 s
                              memory
================  ==========  ===========  ======================  ===============  =================

The version of an SQL92 expression is the time of the subscription in every case. Whether the broker may hold a pull
is bit 2 alone: the time that it may hold it is sent either way.

A push consumer may subscribe by a class, which a filter server runs: it pulls there, and not from the broker
(PULL-CLASS). Hooks of an application take messages out before they are given (PULL-HOOK).

The application that pulls is given a status, three offsets and, when messages were found, a list of these; every
message carries the bounds of the answer that brought it. The node that the answer suggests is asked next.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.pull_request import EXPRESSION, SUSPEND, KnownBroker, ask, node_to_ask
from rocketmq_conformance.models.client.subscription import SQL92, Subscription, by_sql, by_tags
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "PULL-ASK-1",
        "A pull of the application (DefaultMQPullConsumer) carries its offset and number, the expression with flag 4, "
        "flag 2 when it waits for messages (pullBlockIfNotFound), 0 as the offset to commit without its flag, and "
        "brokerSuspendMaxTimeMillis (20 s), whether it waits or not; the type of its expression from 4.1.0, the "
        "broker's name from 4.9.5 and 5.0.0, and from 5.0.0-ALPHA the bytes that it takes: as given, or 2^31-1.",
        "DefaultMQPullConsumerImpl#pullSyncImpl, #pullAsyncImpl, PullAPIWrapper#pullKernelImpl @ 4.0.0, 4.1.0, 4.9.8, "
        "5.3.3",
    ),
    Rule(
        "PULL-ASK-WAIT",
        "A pull of the application gives up after consumerPullTimeoutMillis (10 s) or the timeout that it is given, "
        "and one that waits after consumerTimeoutMillisWhenSuspend (30 s).",
        "DefaultMQPullConsumerImpl#pullSyncImpl, #pull, #pullBlockIfNotFound @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-ASK-CHECK",
        "A pull by an offset below 0, of fewer than one message or one byte, or by an expression that is refused, is "
        "not sent: MQClientException, also of one with a callback.",
        "DefaultMQPullConsumerImpl#pullSyncImpl, #pullAsyncImpl @ 4.0.0, 4.9.8, 5.3.3; #getSubscriptionData "
        "@ 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-ASK-VERSION",
        "The version in a pull is 0 for tags and the time of its subscription (ms) for SQL92; that of a push consumer "
        "is always the time.",
        "DefaultMQPullConsumerImpl#pullSyncImpl, DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.4.0, "
        "4.6.0, 5.3.3; DefaultLitePullConsumerImpl#pullSyncImpl @ 4.6.0, 5.3.3",
    ),
    Rule(
        "PULL-ASK-LITE",
        "A lite pull consumer sends what a pull that waits would, with the flag 16 besides from 4.6.1 on, and "
        "as a request LITE_PULL_MESSAGE from 5.0.0 on; the broker may hold it for 20 s, which cannot be set.",
        "DefaultLitePullConsumerImpl#pullSyncImpl, MQClientAPIImpl#pullMessage @ 4.6.0, 4.6.1, 4.9.8, 5.0.0, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "PULL-ASK-PUSH",
        "A pull of a push consumer asks for pullBatchSize messages, lets the broker hold it for 15 s, and gives up "
        "after 30 s; from 5.0.0-ALPHA it takes 256 KiB.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 5.0.0-ALPHA, 5.3.3; "
        "DefaultMQPushConsumer#pullBatchSizeInBytes @ 5.0.0-ALPHA, 5.3.3",
    ),
    Rule(
        "PULL-STATUS",
        "SUCCESS is FOUND to the application, PULL_NOT_FOUND NO_NEW_MSG, PULL_RETRY_IMMEDIATELY NO_MATCHED_MSG, and "
        "PULL_OFFSET_MOVED OFFSET_ILLEGAL; the next offset, min and max are those of the answer. There is a list of "
        "messages, perhaps an empty one, only when FOUND.",
        "MQClientAPIImpl#processPullResponse, PullAPIWrapper#processPullResult @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-STATUS-FAIL",
        "Any other code is thrown, or given to the callback, as MQBrokerException with the code; a pull without an "
        "answer, or by one without its fields, is one of the other exceptions, and no status.",
        "MQClientAPIImpl#processPullResponse, #pullMessageAsync @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-MSG-BOUNDS",
        "Every message that a listener or an application is given has the min and the max of the answer that brought "
        "it as its properties MIN_OFFSET and MAX_OFFSET.",
        "PullAPIWrapper#processPullResult @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-HOOK",
        "The hooks of a pull or push consumer (FilterMessageHook) get the list of messages that its subscription "
        "accepts, in the order of their registration: what they take out is not given, and the next offset stays. One "
        "that fails is passed over, and a list put in place of that one is seen by later hooks alone. A lite pull "
        "consumer has none: nothing registers them.",
        "PullAPIWrapper#processPullResult, #executeHook @ 4.0.0, 4.9.8, 5.3.3; "
        "DefaultMQPushConsumerImpl#registerFilterMessageHook @ 4.0.0, 5.3.3",
    ),
    Rule(
        "PULL-CLASS",
        "A push consumer that subscribes by a class pulls from one of the filter servers that the topic's route has "
        "for the address of the node to be asked, with flag 8 and never with an expression. Without a route or a "
        "filter server nothing is sent, and the pull is put off as after any failure.",
        "PullAPIWrapper#computPullFromWhichFilterServer @ 4.0.0; PullAPIWrapper#computePullFromWhichFilterServer @ "
        "4.9.8, 5.3.3; DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.8, 5.3.3",
    ),
)

#: The flag of lite pull consumers.
LITE_FLAG = 16
#: The flag of a subscription by a class.
CLASS_FLAG = 8
#: What the hook of an application does: it takes out the first or the last message, fails, or puts another list there.
FIRST, LAST, FAILS, REPLACES = "first", "last", "fails", "replaces"
#: The version of a subscription that is the time of its making.
TIME = "time"
PLAIN, TIMED, WAITING, SIZED = "plain", "timed", "waiting", "sized"
LITE, PUSH, CLASS, APPLICATION = "lite", "push", "class", "application"
#: The timeout (ms) that a timed pull is given, and the standard bytes of pulls.
GIVEN_TIMEOUT = 700
ANY_BYTES, PUSH_BYTES = (1 << 31) - 1, 1 << 18
#: How long a lite pull consumer lets its pulls be held; that cannot be set (ms).
LITE_SUSPEND = 20_000
#: How long a push consumer lets its pulls be held, and waits for answers (ms).
PUSH_SUSPEND, PUSH_TIMEOUT = 15_000, 30_000
#: How many messages a push consumer that subscribes by a class asks for.
CLASS_NUMBER = 32
#: The nodes of the broker that are known.
NODES = (0, 1)
STATUS = {
    "SUCCESS": "FOUND",
    "PULL_NOT_FOUND": "NO_NEW_MSG",
    "PULL_RETRY_IMMEDIATELY": "NO_MATCHED_MSG",
    "PULL_OFFSET_MOVED": "OFFSET_ILLEGAL",
}
#: What a broker may do instead of answering with a code.
NO_ANSWER = ("no-field", "silent", "cut")
UNANSWERED = "no answer"
REFUSED = Err("CLIENT")


class PullTimes(NamedTuple):
    """The settings of the pull consumer, and but for the first those of the lite pull consumer, in ms."""

    suspend: int = 20_000
    waiting: int = 30_000
    plain: int = 10_000


class PullResultState(NamedTuple):
    """The consumers between two pulls."""

    times: PullTimes = PullTimes()
    #: The node that the last answer suggested, by consumer and queue.
    suggested: Mapping[tuple[str, int], int] = MappingProxyType({})
    #: The hooks of the pull consumer and of the push consumer.
    hooks: tuple[str, ...] = ()


class BrokerAnswer(NamedTuple):
    """What the broker answers: a code, or one of NO_ANSWER, and the fields."""

    code: str
    next_offset: int
    low: int
    high: int
    messages: tuple[tuple[int, str], ...]
    suggested: int


_SET = Reason(("PULL-ASK-WAIT",), "times")
_CHECKED = Reason(("PULL-ASK-CHECK",), "not sent")
_HOOKED = Reason(("PULL-HOOK",), "hooks")
_NO_FILTER = Reason(("PULL-CLASS", "PULL-NODE-1"), "no filter server")
_ASKED = {
    **dict.fromkeys((PLAIN, TIMED, WAITING, SIZED), ("PULL-ASK-1", "PULL-ASK-WAIT", "PULL-ASK-VERSION")),
    LITE: ("PULL-ASK-LITE", "PULL-ASK-VERSION"),
    PUSH: ("PULL-ASK-PUSH", "PULL-ASK-VERSION", "PULL-COM-1", "PULL-SUB-3"),
    CLASS: ("PULL-CLASS", "PULL-ASK-PUSH", "PULL-ASK-VERSION", "PULL-COM-1"),
}
_ENDED = {
    "messages": ("PULL-STATUS", "PULL-FND-1", "PULL-MSG-BOUNDS"),
    "none wanted": ("PULL-STATUS", "PULL-FND-1"),
    "hooked": ("PULL-STATUS", "PULL-FND-1", "PULL-MSG-BOUNDS", "PULL-HOOK"),
    "no messages": ("PULL-STATUS",),
    "failure": ("PULL-STATUS-FAIL",),
}
_WHY = {
    (way, ending, slave): Reason(
        (*asked, "PULL-NODE-1", *(() if way in (PUSH, CLASS) and ending in ("no messages", "failure") else ended)),
        f"{way}, {ending}{', of a slave' if slave else ''}",
    )
    for way, asked in _ASKED.items()
    for ending, ended in _ENDED.items()
    for slave in (False, True)
}


class PullResultModel:
    """The handlers of one profile and topology."""

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self._rules = ClientRules.of(profile)
        self._topology = topology

    def set_times(self, state: PullResultState, suspend: int, waiting: int, plain: int) -> Answer[PullResultState]:
        """The application changes the times of its consumers."""
        return state._replace(times=PullTimes(suspend, waiting, plain)), None, _SET

    def hook(self, state: PullResultState, hooks: tuple[str, ...]) -> Answer[PullResultState]:
        """PULL-HOOK: the application registers these hooks, and no others."""
        return state._replace(hooks=hooks), None, _HOOKED

    def pull(self, state: PullResultState, *arguments: Any) -> Answer[PullResultState]:
        """The application pulls by tags."""
        way, _, queue, offset, most, expression = arguments[6:]
        wanted = by_tags(expression or "")
        return self._pulled(state, BrokerAnswer(*arguments[:6]), way, queue, offset, most, wanted)

    def pull_sized(self, state: PullResultState, *arguments: Any) -> Answer[PullResultState]:
        """The application pulls with a callback, and limits the bytes."""
        queue, offset, size = arguments[6:]
        return self._pulled(state, BrokerAnswer(*arguments[:6]), SIZED, queue, offset, 32, by_tags("*"), size)

    def select(self, state: PullResultState, *arguments: Any) -> Answer[PullResultState]:
        """The application pulls by an SQL92 expression."""
        way, _, queue, offset, most, expression = arguments[6:]
        return self._pulled(state, BrokerAnswer(*arguments[:6]), way, queue, offset, most, by_sql(expression))

    def select_waiting(self, state: PullResultState, *arguments: Any) -> Answer[PullResultState]:
        """The application pulls by an SQL92 expression, and waits."""
        return self.select(state, *arguments[:6], WAITING, *arguments[6:])

    def pull_lite(self, state: PullResultState, *arguments: Any) -> Answer[PullResultState]:
        """A lite pull consumer pulls by tags, or by an SQL92 expression."""
        queue, offset, most, kind, expression = arguments[6:]
        wanted = by_sql(expression) if kind == SQL92 else by_tags(expression)
        return self._pulled(state, BrokerAnswer(*arguments[:6]), LITE, queue, offset, most, wanted)

    def _pulled(
        self,
        state: PullResultState,
        answer: BrokerAnswer,
        way: str,
        queue: int,
        offset: int,
        most: int,
        wanted: Subscription | None,
        size: int = ANY_BYTES,
    ) -> Answer[PullResultState]:
        """PULL-ASK-*: one pull of the application, or of a lite pull consumer."""
        if wanted is None or offset < 0 or most < 1 or size < 1:
            return state, REFUSED, _CHECKED
        rules, times, lite = self._rules, state.times, way == LITE
        waits = way in (WAITING, LITE)
        caller = LITE if lite else APPLICATION
        node, _ = node_to_ask(rules, self._broker(state, caller, queue), queue)
        timeout = times.waiting if waits else GIVEN_TIMEOUT if way in (TIMED, SIZED) else times.plain
        flag = EXPRESSION | (SUSPEND if waits else 0) | (LITE_FLAG if lite and rules.flags_lite else 0)
        version = TIME if wanted.kind == SQL92 else "0"
        kind = wanted.kind if rules.names_pulled_tags else None
        request = "LITE_PULL_MESSAGE" if lite and rules.lite_requests else "PULL_MESSAGE"
        position = self._position(queue, offset, most)
        suspend = LITE_SUSPEND if lite else times.suspend
        sent = request, node, timeout, *position, flag, 0, suspend, wanted.text, version, kind, *self._end(queue, size)
        result, ending = _result(answer, wanted, () if lite else state.hooks)
        return self._suggest(state, answer, caller, queue), (*sent, *result), _WHY[way, ending, node > 0]

    def pull_push(self, state: PullResultState, *arguments: Any) -> Answer[PullResultState]:
        """A push consumer pulls a queue whose offset in memory is ``held``, -1 for none."""
        answer = BrokerAnswer(*arguments[:6])
        queue, offset, most, held, expression, posts = arguments[6:]
        wanted = by_tags(expression) or Subscription()
        return self._pushed(state, answer, PUSH, self._position(queue, offset, most), queue, held, wanted, posts)

    def pull_class(self, state: PullResultState, *arguments: Any) -> Answer[PullResultState]:
        """PULL-CLASS: a push consumer pulls that subscribes by a class; ``servers`` are the nodes with filter servers,
        None without a route."""
        queue, offset, held, _, servers = arguments[6:]
        node, _ = node_to_ask(self._rules, self._broker(state, PUSH, queue), queue)
        if node not in (servers or ()):
            return state, None, _NO_FILTER
        position = self._position(queue, offset, CLASS_NUMBER)
        return self._pushed(
            state, BrokerAnswer(*arguments[:6]), CLASS, position, queue, held, Subscription(), False, CLASS_FLAG
        )

    def _pushed(
        self,
        state: PullResultState,
        answer: BrokerAnswer,
        way: str,
        position: tuple[str, str, int, int, int],
        queue: int,
        held: int,
        wanted: Subscription,
        posts: bool,
        more: int = 0,
    ) -> Answer[PullResultState]:
        """PULL-ASK-PUSH: one pull of a push consumer, with these flags besides."""
        broker = self._broker(state, PUSH, queue)
        asked, _ = ask(self._rules, broker, False, queue, position[-2], held, wanted, posts)
        assert asked is not None  # every known node is new enough
        _, node, _, commit, flag, text, kind = asked
        assert isinstance(flag, int)
        sent = "PULL_MESSAGE", node, PUSH_TIMEOUT, *position, flag | more, commit, PUSH_SUSPEND, text, TIME, kind
        result, ending = _result(answer, wanted, state.hooks)
        given = (result[-1] or (),)  # the listener is given messages, and the status is the consumer's own
        why = _WHY[way, ending, bool(node)]
        return self._suggest(state, answer, PUSH, queue), (*sent, *self._end(queue, PUSH_BYTES), *given), why

    def _broker(self, state: PullResultState, caller: str, queue: int) -> KnownBroker:
        return KnownBroker(NODES, suggested={queue: state.suggested.get((caller, queue), 0)})

    def _suggest(self, state: PullResultState, answer: BrokerAnswer, caller: str, queue: int) -> PullResultState:
        """An answer suggests a node for the next pull of its caller."""
        if answer.code not in STATUS:
            return state
        return state._replace(suggested={**state.suggested, (caller, queue): answer.suggested})

    def _position(self, queue: int, offset: int, most: int) -> tuple[str, str, int, int, int]:
        """The group, the queue as its broker knows it, the offset and the most messages."""
        topic, _, number = self._topology.queues[queue]
        return self._topology.group, topic, number, offset, most

    def _end(self, queue: int, size: int) -> tuple[Value, ...]:
        """The fields that came last: the bytes that are taken, and the broker's name; None of one that is not sent."""
        rules, name = self._rules, self._topology.queues[queue].broker
        return size if rules.limits_bytes else None, name if rules.names_broker else None


def _hooked(messages: tuple[Value, ...], hooks: tuple[str, ...]) -> tuple[Value, ...]:
    """PULL-HOOK: what the hooks leave of the messages."""
    for hook in hooks:
        match hook:
            case "replaces":  # those behind it see the other list
                break
            case "first":
                messages = messages[1:]
            case "last":
                messages = messages[:-1]
    return messages


def _result(answer: BrokerAnswer, wanted: Subscription, hooks: tuple[str, ...]) -> tuple[tuple[Value, ...], str]:
    """PULL-STATUS, PULL-MSG-BOUNDS, PULL-HOOK: status, next offset, min, max and messages; and what came of it."""
    status = STATUS.get(answer.code)
    if status is None:
        return (UNANSWERED if answer.code in NO_ANSWER else answer.code, None, None, None, None), "failure"
    bounds = answer.low, answer.high
    if status != "FOUND":
        return (status, answer.next_offset, *bounds, None), "no messages"
    kept = tuple([(offset, *bounds) for offset, tag in answer.messages if not wanted.tags or tag in wanted.tags])
    given = _hooked(kept, hooks)
    ending = "hooked" if hooks and kept else "messages" if kept else "none wanted"
    return (status, answer.next_offset, *bounds, given), ending
