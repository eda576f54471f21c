"""The suite ``lite-pull``: one lite pull consumer in the hands of its application."""

from functools import partial
from typing import Annotated, Any

from rocketmq_conformance.models.client.initial_broker import EPOCH, GAP
from rocketmq_conformance.models.client.lite_pull import LitePullModel
from rocketmq_conformance.models.client.lite_pull_state import (
    ANEW,
    MIB,
    NOTHING,
    SEEKS,
    UNSUBSCRIBES,
    LitePullState,
    initial_state,
)
from rocketmq_conformance.models.client.switches import (
    LITE_COMMITS_OFFSETS,
    LITE_COMMITS_QUEUES,
    LITE_PULL,
    LITE_STARTS,
)
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, arguments, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import LOST_QUEUE, ORDINARY, OTHER_TOPIC, TOPIC
from rocketmq_conformance.suites.declare.wording import OFFSETS, Worded, keyed, listed, numbers
from rocketmq_conformance.suites.values import environment

#: Queues of two topics, one whose first messages have expired, and one without a broker.
QUEUE = Values(0, 1, 5, 2, LOST_QUEUE, weights=(6, 4, 3, 1, 1))
QUEUES = Values((0,), (0, 1), (1,), (0, 5), (0, 1, 5, 2), (LOST_QUEUE, 1), (), weights=(5, 6, 3, 3, 2, 1, 1))
SHARE = Values((0, 1), (0,), (1, 5), (), weights=(4, 3, 3, 1))
OFFSET = Values(5, 4, 0, 12, 3, 13, -1, weights=(4, 2, 2, 2, 1, 1, 1))
FAULT = Fault(Requests.OFFSETS, "answer", "SYSTEM_BUSY", "silent", weights=(12, 1, 1))
BOUND_FAULT = Fault(Requests.BOUNDS, "answer", "SYSTEM_BUSY", "silent", weights=(16, 1, 1))
FLAG = Values(True, False)
NULLS = Values(
    "a queue to assign",
    "assign",
    "committed",
    "commit",
    "listener",
    "subscribe",
    "unsubscribe",
    "pause",
    "resume",
    "seek",
    "offset for time",
    "topic of a listener",
    weights=(3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
)


def _offered(profile: Profile) -> bool:
    return LITE_PULL.on(profile.client)


def _goes_to_ends(profile: Profile) -> bool:
    return LITE_STARTS.on(profile.client)


def _commits_queues(profile: Profile) -> bool:
    return LITE_COMMITS_QUEUES.on(profile.client)


def _commits_offsets(profile: Profile) -> bool:
    return LITE_COMMITS_OFFSETS.on(profile.client)


def _asked(value: Any) -> Worded:
    if value is None:
        return "no pull task"
    return "asks for nothing" if value == -1 else f"asks for {value}"


def _next_turn(value: Any) -> Worded:
    if value is None:
        return "no pull task"
    return "no further turn" if value == -1 else f"in {value} ms"


def _cached(offset: int, first: int, last: int, count: int, size: int, dropped: bool) -> Worded:
    """What running information says of a queue."""
    read = {-1: "none", -2: "cannot be read"}.get(offset, offset)
    return f"offset {read}, {count} cached from {first} to {last}, {size} MiB" + (", dropped" if dropped else "")


def _called_with(value: Any) -> Worded:
    return "not called" if value is None else numbers(value)


# --- life -------------------------------------------------------------------------------------------------------


@operation("Start the consumer.", weight=4, offered=_offered)
class Start(Operation):
    pass


@operation(
    "Shut the consumer down: answers the commits that reached the broker.", weight=1, effect=True, offered=_offered
)
class Shutdown(Operation):
    pass


@operation(
    "The process ends without a shutdown, and makes a consumer of the group that does not run yet.",
    weight=2,
    offered=_offered,
)
class Restart(Operation):
    pass


# --- queues -----------------------------------------------------------------------------------------------------


@operation("Assign queues: no others are assigned then.", weight=10, offered=_offered)
class Assign(Operation):
    queues: Annotated[tuple[int, ...], QUEUES]


@operation("Subscribe to a topic.", weight=4, offered=_offered)
class Subscribe(Operation):
    topic: Annotated[str, Values(TOPIC, "", weights=(4, 1))]


@operation("Subscribe to a topic, with a listener of its queues.", weight=1, offered=_commits_offsets)
class SubscribeListening(Operation):
    topic: Annotated[str, Values(TOPIC, "", weights=(4, 1))]


@operation("Unsubscribe from topic T.", weight=3, offered=_offered)
class Unsubscribe(Operation):
    pass


@operation("Set the expression for queues of topic T that are assigned.", weight=3, offered=_commits_offsets)
class SetExpression(Operation):
    expression: Annotated[str, Values("A", "A || B", "D", " ", weights=(2, 2, 2, 1))]


@operation("A call is given null, or an assignment one queue that is null.", weight=2, offered=_offered)
class GiveNull(Operation):
    call: Annotated[str, NULLS]


@operation("Set a listener of queues.", weight=1, offered=_offered)
class Listen(Operation):
    pass


@operation(
    "A round gives the consumer these queues of topic T. Answers the queues that it owns, those that it pulls, what "
    "the listener of its application is called with (null: it is not), and the commits that reached the broker. null: "
    "the consumer does not run.",
    weight=5,
    commits=True,
    offered=_offered,
    sets=(0, 1, 2),
    answer={"owned": (), "pulled": (), "listener": ("LP-LISTEN",), "commits": ()},
    words={"owned": numbers, "pulled": numbers, "listener": _called_with, "commits": OFFSETS},
)
class Rebalance(Operation):
    share: Annotated[tuple[int, ...], SHARE]


@operation("Pause queues.", weight=3, offered=_offered)
class Pause(Operation):
    queues: Annotated[tuple[int, ...], QUEUES]


@operation("Resume queues.", weight=3, offered=_offered)
class Resume(Operation):
    queues: Annotated[tuple[int, ...], QUEUES]


# --- seeks ------------------------------------------------------------------------------------------------------


@arguments
class _OfQueue(Operation):
    queue: Annotated[int, QUEUE]


@operation("Seek: `bound_fault` is how the broker plays min and max.", weight=8, offered=_offered)
class Seek(_OfQueue):
    offset: Annotated[int, OFFSET]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation("Seek to the begin: `bound_fault` is how the broker plays min and max.", weight=2, offered=_goes_to_ends)
class SeekToBegin(_OfQueue):
    bound_fault: Annotated[str, BOUND_FAULT]


@operation("Seek to the end: `bound_fault` is how the broker plays min and max.", weight=2, offered=_goes_to_ends)
class SeekToEnd(_OfQueue):
    bound_fault: Annotated[str, BOUND_FAULT]


# --- pulls ------------------------------------------------------------------------------------------------------

_TURN = (
    " Answers the offset that is asked for, -1 when nothing is; null when there is no task. `fault` is how the broker "
    "plays a query, `bound_fault` how it plays max, where the task looks for its start."
)


@arguments
class _Turn(_OfQueue):
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "The pull task of a queue has its turn, and so many messages are found from the offset on that it asks for. "
    "`meanwhile`, before they arrive, the application may seek to 6, assign another queue alone and then what was "
    "assigned before, or unsubscribe from topic T." + _TURN,
    weight=18,
    offered=_offered,
    words=_asked,
)
class Pull(_OfQueue):
    messages: Annotated[int, Values(2, 4, 1, 0, weights=(4, 3, 1, 1))]
    meanwhile: Annotated[str, Values(NOTHING, SEEKS, ANEW, UNSUBSCRIBES, weights=(8, 1, 1, 1))]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "The pull task of a queue has its turn, and one message of this many bytes is found." + _TURN,
    weight=2,
    offered=_offered,
    words=_asked,
)
class PullLarge(_OfQueue):
    size: Annotated[int, Values(MIB, MIB - 1)]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "The pull task of a queue has its turn, and three messages are found, with the tags A, B and C."
    + _TURN.replace("Answers the offset that is asked for", "Answers the offset that is asked for and the expression"),
    weight=2,
    offered=_commits_offsets,
    answer={"asked": (), "expression": ("LP-EXPRESSION",)},
)
class PullTagged(_Turn):
    pass


@operation(
    "When is the next turn of the pull task of a queue? Answers ms, -1 when it has no further one; null when there is "
    "no task.",
    weight=6,
    offered=_offered,
    words=_next_turn,
)
class Waits(_OfQueue):
    pass


@operation(
    "The application sets a threshold: of messages, whole MiB or the span of offsets that are cached of a queue, or "
    "of all answers that are not polled, times 10.",
    weight=3,
    offered=_offered,
)
class Limit(Operation):
    threshold: Annotated[str, Values("every", "size", "span", "messages")]
    value: Annotated[int, Values(0, 5, 20, 1_000, -1, weights=(3, 2, 2, 2, 1))]


@operation(
    "The pull task of a queue has its turn, and the offset that it asks for is illegal: it shall go on at `following`."
    + _TURN,
    weight=2,
    offered=_offered,
    words=_asked,
)
class Illegal(_OfQueue):
    following: Annotated[int, Values(4, 0, 12)]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "The pull task of a queue has its turn, and its pull fails: by a response code, or without an answer." + _TURN,
    weight=3,
    offered=_offered,
    words=_asked,
)
class Fail(_OfQueue):
    failure: Annotated[str, Values("SYSTEM_BUSY", "silent", "FLOW_CONTROL")]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "Poll, with this time to wait for messages (ms): it is waited for none that are not there. Answers queue and "
    "offset of each message, and the commits that reached the broker.",
    weight=16,
    commits=True,
    offered=_offered,
    answer={"messages": (), "commits": ("LITE-COMMIT-0",)},
    words={"messages": OFFSETS, "commits": OFFSETS},
)
class Poll(Operation):
    patience: Annotated[int, Values(0, -1, weights=(24, 1))]


# --- commits ----------------------------------------------------------------------------------------------------


@operation(
    "Commit what was polled: answers the commits that reached the broker.", weight=8, effect=True, offered=_offered
)
class Commit(Operation):
    pass


@operation(
    "Commit what was polled of some queues, and persist: answers the commits that reached the broker.",
    weight=3,
    effect=True,
    offered=_commits_queues,
)
class CommitQueues(Operation):
    queues: Annotated[tuple[int, ...], QUEUES]
    persist: Annotated[bool, FLAG]


@operation(
    "Commit these offsets, (queue, offset) each, and persist: answers the commits that reached the broker.",
    weight=3,
    effect=True,
    offered=_commits_offsets,
)
class CommitOffsets(Operation):
    offsets: Annotated[
        tuple[tuple[int, int], ...],
        Values(
            ((0, 7),),
            ((0, 7), (1, 3)),
            ((1, 9),),
            ((0, -1),),
            ((0, -1), (5, 100)),
            ((2, 0),),
            (),
            weights=(4, 3, 3, 1, 1, 1, 1),
            words=OFFSETS,
        ),
    ]
    persist: Annotated[bool, FLAG]


@operation("Whether the consumer commits by itself, as it does at first.", weight=3, offered=_offered)
class CommitByItself(Operation):
    commits: Annotated[bool, Values(False, True)]


@operation("Time passes for the consumer, in ms.", weight=3, offered=_offered)
class Elapse(Operation):
    elapses: Annotated[int, Values(5_000, 4_000, 1_000)]


@operation(
    "The timer persists offsets: answers the commits that reached the broker.", weight=4, effect=True, offered=_offered
)
class Persist(Operation):
    pass


@operation("Which offset is committed? `fault` is how the broker plays the query.", weight=7, offered=_offered)
class Committed(_OfQueue):
    fault: Annotated[str, FAULT]


@operation(
    "A broker asks the client for the running information of the consumer. Answers the topics that are subscribed to, "
    "and of each queue: its offset (-1: none, -2: it cannot be read), the first and the last cached offset, how many "
    "are cached, their whole MiB, and whether it is dropped. `fault` is how the broker plays queries.",
    weight=4,
    offered=_offered,
    sets=(0, 1),
    answer={"topics": ("INFO-LITE",), "queues": ("INFO-LITE", "INFO-OFFSET")},
    words={"topics": listed(), "queues": keyed(lambda queue: f"queue {queue}", _cached, size=7)},
)
class RunningInfo(Operation):
    fault: Annotated[str, FAULT]


@operation("Which offset has a time? `bound_fault` is how the broker plays the search.", weight=2, offered=_offered)
class OffsetForTime(_OfQueue):
    time: Annotated[int, Values(0, EPOCH + GAP, 4_102_444_800_000)]
    bound_fault: Annotated[str, BOUND_FAULT]


# --- the topic's listener, and the world ------------------------------------------------------------------------


@operation("Register a listener of topic U.", weight=2, offered=_offered)
class ListenToTopic(Operation):
    pass


@operation(
    "The timer looks at the topics that have a listener: answers the queues that the listener of topic U is given, "
    "null when it is not called.",
    weight=3,
    offered=_offered,
    sets=(-1,),
    words=_called_with,
)
class Look(Operation):
    pass


@operation("The name server has another route of topic U; -1: it has none.", side=Side.WORLD, weight=3)
class Route(environment.Route):
    topic: Annotated[str, Values(OTHER_TOPIC)]
    queues: Annotated[int, Values(1, 2, -1)]


@operation("Another member of the group commits.", side=Side.WORLD, weight=3)
class CommitElsewhere(environment.CommitElsewhere):
    queue: Annotated[int, Values(0, 1, 5)]
    offset: Annotated[int, Values(9, 0, 2)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = LitePullModel(profile, topology)
    return BoundModel(
        initial_state(topology),
        {
            Start: model.starts,
            Shutdown: model.shut_down,
            Restart: model.restart,
            Assign: model.assign,
            Subscribe: model.subscribe,
            SubscribeListening: model.subscribe_listening,
            Unsubscribe: model.unsubscribe,
            SetExpression: model.set_expression,
            GiveNull: model.give_null,
            Listen: model.listen,
            Rebalance: model.rebalance,
            Pause: model.pause,
            Resume: model.resume,
            Seek: model.seek,
            SeekToBegin: model.seek_to_begin,
            SeekToEnd: model.seek_to_end,
            Pull: model.pull,
            PullLarge: model.pull_large,
            PullTagged: model.pull_tagged,
            Waits: model.waits,
            Limit: model.limit,
            Illegal: model.illegal,
            Fail: model.fail,
            Poll: model.poll,
            Commit: model.commit,
            CommitQueues: model.commit_queues,
            CommitOffsets: model.commit_offsets,
            CommitByItself: model.commit_by_itself,
            Elapse: model.elapse,
            Persist: model.persist,
            Committed: model.committed,
            OffsetForTime: model.offset_for_time,
            RunningInfo: model.running_info,
            ListenToTopic: model.listen_to_topic,
            Look: model.look,
            Route: model.route,
            CommitElsewhere: model.commit_elsewhere,
        },
    )


def _show(state: LitePullState) -> str:
    def number(offset: int) -> str:
        return "none" if offset == -1 else str(offset)

    assigned = [
        f"{queue}: pulls at {number(held.pulls)}, commits {number(held.consumed)}, seeks {number(held.seeks)}"
        + (f", next turn {_next_turn(held.waits)}")
        + (", paused" if held.paused else "")
        + (", dropped" if held.number in state.dropped else "")
        for queue, held in sorted(state.assigned.items())
    ]
    cached = [
        f"{list(offsets)} of {queue}" + (", dropped" if number in state.dropped else "")
        for queue, number, offsets in state.pulled
    ]
    stored = {f"{topic}/{queue}": offset for (_, topic, queue), offset in state.store.broker.stored.items()}
    large = {f"{offset} of {queue}": size for (queue, offset), size in state.large.items()}
    return (
        f"{state.phase}, {state.mode or 'no queues yet'}; assigned {'; '.join(assigned) or 'none'}; owned "
        f"{sorted(state.table)}; to be polled {cached}; memory {dict(state.store.memory)}, stored {stored}; "
        f"tasks left behind {dict(state.left)}, large {large}; expression {state.expression}, "
        f"subscribed {state.subscribed}, thresholds {state.limits._asdict()}; "
        f"commits by itself {state.commits}, due {state.due}, clock {state.now}; route of {OTHER_TOPIC} {state.route}, "
        f"known {'nothing' if state.known is None else list(state.known)}"
    )


SUITE = Suite(
    name="lite-pull",
    sentence="A lite pull consumer in the hands of its application: assign, seek, pause, poll and commit.",
    beginning="When a case begins, the consumer runs, has no queues, commits by itself, and may cache 5 messages of "
    "each queue beyond which it does not pull it.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=40,
    show=_show,
    limits=(RuleLimit(rules=("INFO-OFFSET",), client="5.1.1+", because="before no queue is shown"),),
    rules=(
        "LP-STATE",
        "LP-START",
        "LP-START-LISTENED",
        "LP-END",
        "LP-MODE",
        "LP-ASSIGN",
        "LP-ASSIGN-LATE",
        "LP-POLL",
        "LP-AUTO",
        "LP-SEEK",
        "LP-SEEK-CLEARS",
        "LP-SEEK-PULL",
        "LP-SEEK-LOST",
        "LP-SEEK-LATE",
        "LP-ENDS",
        "LP-PAUSE",
        "LP-FLOW",
        "LP-FLOW-ALL",
        "LP-FLOW-SIZE",
        "LP-FLOW-SPAN",
        "LP-WAIT",
        "LP-WAIT-START",
        "LP-WAIT-BUSY",
        "LP-SEEK-AT-ONCE",
        "LP-UNSUB",
        "LP-UNSUB-ROUND",
        "LP-UNSUB-BACK",
        "LP-UNSUB-LATE",
        "LP-EXPRESSION-SET",
        "LP-EXPRESSION",
        "LP-TAGS",
        "LP-NULL",
        "LP-NULL-QUEUE",
        "LP-ILLEGAL",
        "LP-FAIL",
        "LP-COMMIT-OFFSETS",
        "LP-COMMIT-QUEUES",
        "LP-COMMIT-PERSIST",
        "LP-COMMITTED",
        "LP-COMMITTED-0",
        "LP-TIME",
        "LP-PERSIST",
        "LP-LISTEN",
        "LP-LISTEN-TOPIC",
        "INFO-LITE",
        "INFO-OFFSET",
        "INFO-OTHERS",
        "LITE-PULL",
        "LITE-PULL-0",
        "LITE-POLL",
        "LITE-COMMIT",
        "LITE-COMMIT-0",
        "START-LITE-1",
        "REB-MQC-LITE",
        "REB-MQC-SAME",
        "REB-VAR-START",
        "REB-VAR-REM",
        "OFF-R-PALL",
        "BQ-UPDATE-2",
    ),
)
