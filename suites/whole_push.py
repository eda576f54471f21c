"""The suite ``whole-push``: whole push consumers of one group, judged from the traffic at their broker alone."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_moves import (
    COMMIT,
    CUT,
    GARBAGE,
    HEARTBEAT,
    MAX,
    PULL,
    QUERY,
    ROUTE,
    SEARCH,
    SILENT,
)
from rocketmq_conformance.models.client.whole_moves import MEMBERS as MEMBER_LIST
from rocketmq_conformance.models.client.whole_push import (
    WholePushModel,
    WholePushState,
    has_no_members,
    keeps_members,
    keeps_subscriptions,
    takes_resets,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_LOCKED, _RESET = ("WHOLE-LOCK", "PULL-PRE-LOCK"), ("WHOLE-RESET", "WHOLE-RESET-LITE", "WHOLE-SEEK")
MOVES = whole.Moves(
    seen=(
        f"{whole.seen(*whole.TRAFFIC)} Consumers of other kinds show two more parts: {whole.LOCKS}, and the messages "
        "that listeners were given, those of orderly ones in their order (null: the program does not say). "
        "Broadcasting ones show everybody that waits in a queue, as a list."
    ),
    parts={
        "places": (
            *(*_LOCKED, *_RESET, "WHOLE-SHARE", "WHOLE-MOVED-ANEW", "WHOLE-MOVED"),
            *("START-BC-1", "REB-BC-1", "REB-SVC-WAKE", "REB-SVC-1"),
        ),
        "brought": (*_RESET, "WHOLE-FIRST", "WHOLE-SHARE"),
        "stored": (*_RESET, "WHOLE-REPEAT", "WHOLE-COMMIT", "WHOLE-MOVED", "REB-BC-STORE", "TIMER-PERSIST"),
        "locks": ("REB-LOCK-3", "REB-LOCK-4", "WHOLE-LOCK", "BQ-LOCK-3", "REB-BC-1"),
        "given": ("CONS-ORDER-1", "WHOLE-FIRST"),
    },
    unsaid=("given",),
)


@whole.beginning(
    "Before the first member joins: the topic has so many queues of a shape, the group has stored an offset in each "
    "(-1: none), and consumers are configured with ConsumeFromWhere. Later nothing happens.",
    weight=3,
)
class Prepare(Operation):
    queues: Annotated[int, Values(4, 1, 2, 5)]
    shape: Annotated[str, Values("young", "empty", "expired", "gone")]
    stored: Annotated[int, Values(NOTHING, 7, 2, 99, weights=(3, 2, 1, 1))]
    where: Annotated[str, Values(LAST, FIRST, TIMESTAMP)]


@MOVES.move("A member is started, unless it runs.", weight=5)
class Join(Operation):
    member: Annotated[int, whole.MEMBER]


@MOVES.end("A member is shut down, if it runs.", weight=2, guard=keeps_subscriptions)
class Leave(Operation):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A member's process is killed, if it runs.", guard=keeps_subscriptions)
class Crash(Operation):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=4)
class Send(Operation):
    queue: Annotated[int, Values(EVERY, 0, 1, 3)]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(Operation):
    pass


@MOVES.move(
    "The broker tells the members to reset queue 0 to an offset (RESET_CONSUMER_CLIENT_OFFSET).", guard=takes_resets
)
class Reset(Operation):
    offset: Annotated[int, Values(3, 0, 9)]


@MOVES.move("A message arrives in every queue while a member, if it runs, is frozen; then it goes on.")
class Freeze(Operation):
    member: Annotated[int, whole.MEMBER]


@MOVES.move(
    "The topic has so many queues from now on, perhaps none, and its route names them; queues that it loses keep their "
    "messages and offsets.",
    guard=keeps_members,
)
class Resize(Operation):
    queues: Annotated[int, Values(2, 5, 1, 4, 0)]


@MOVES.move(
    "From now on the broker answers every request of this kind by a response code, or by SUCCESS without a field "
    "(no-field), and others again. Pulls that are held fail when pulls do; a pull commits nothing while commits fail.",
    weight=4,
    guard=keeps_members,
)
class Fail(Operation):
    request: Annotated[
        str,
        Values(*(QUERY, PULL, COMMIT, MEMBER_LIST, MAX, SEARCH, HEARTBEAT, ROUTE), weights=(3, 3, 3, 2, 2, 1, 2, 1)),
    ]
    code: Annotated[str, Values("SYSTEM_ERROR", "SYSTEM_BUSY", "QUERY_NOT_FOUND", "no-field")]


@MOVES.move(
    "From now on the broker answers no request of this kind, and others again. Pulls that are held are forgotten when "
    "pulls are not answered; a pull commits nothing while commits are not.",
    guard=keeps_members,
)
class Silence(Operation):
    request: Annotated[str, Values(PULL, COMMIT, weights=(2, 1))]


@MOVES.move("From now on the broker answers requests of this kind, too, but a second late.", guard=keeps_members)
class Delay(Operation):
    request: Annotated[str, Values(QUERY, PULL, MEMBER_LIST, MAX, SEARCH, HEARTBEAT, ROUTE)]


@MOVES.move(
    "While no member runs: from now on requests of this kind are not answered (silent), their connections are closed "
    "(cut), or the answers are bytes that are no frame (garbage). Others are answered.",
    weight=2,
    guard=has_no_members,
)
class Interrupt(Operation):
    request: Annotated[str, Values(MEMBER_LIST, HEARTBEAT, weights=(2, 1))]
    fault: Annotated[str, Values(SILENT, CUT, GARBAGE)]


@MOVES.move("Every request is answered again, if one failed.", weight=2)
class Mend(Operation):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholePushModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Reset: model.reset,
            Freeze: model.freeze,
            Resize: model.resize,
            Fail: model.fail,
            Silence: model.silence,
            Delay: model.delay,
            Interrupt: model.fail,
            Mend: model.mend,
        },
        model.learn,
    )


def show(state: WholePushState) -> str:
    """The state of the model to a reader."""
    group = state.group
    failing = [f"{request} fails by {move.fault}; " for request, move in group.fails.items()]
    failing += [f"{group.late} is late; "] if group.late else []
    return f"{state.setting}; {''.join(failing)}{whole.pulling(group.members)}; {whole.stored(group.broker.stored)}"


SUITE = Suite(
    name="whole-push",
    sentence="Push consumers as their users start them: who pulls which queue, from where, and what is committed.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=40,
    show=show,
    rules=(
        *("WHOLE-FIRST", "WHOLE-MOVED", "WHOLE-MOVED-ANEW", "WHOLE-COMMIT", "WHOLE-SHARE", "WHOLE-RESET"),
        *("WHOLE-UNREAD", "WHOLE-MISTAKEN", "WHOLE-PULL", "WHOLE-LIST", "WHOLE-LOST", "WHOLE-REPEAT", "REB-ROUTE-1"),
        *whole_end.RULES_OF_ENDS,
        *("WHOLE-UNHEARD", "WHOLE-SILENT", "WHOLE-CUT", "WHOLE-LATE"),
        *("REB-SVC-WAKE", "REB-SVC-1", "TIMER-PERSIST", "TIMER-ROUTE"),
    ),
    beneath=(
        *("START-PUSH-1", "START-TS-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("OFF-R-PALL", "OFF-R-READ-ERROR", "START-PUSH-ERROR", "PULL-ILL-1", "PULL-NON-1", "PULL-RES-1", "REB-ADD-1"),
        *("REB-ADD-START", "REB-CLU-1", "REB-DROP-1", "REB-REM-1", "RST-PUSH", "RST-RESUME"),
    ),
    limits=(
        RuleLimit(
            rules=("WHOLE-MISTAKEN",),
            client="up to 5.0.0-PREVIEW, 5.0.0+",
            because="5.0.0-ALPHA takes no response of the broker for one without an offset (API-QCO-1)",
        ),
    ),
    beginning="A topic of four young queues, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=60,
)
