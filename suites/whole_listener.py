"""The suite ``whole-listener``: whole push consumers whose listeners fail or hold, judged from the traffic alone."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_listener import (
    RULES,
    WholeListenerModel,
    takes_back,
    takes_back_of_one,
)
from rocketmq_conformance.models.client.whole_moves import CUT, LATE, SILENT, TWICE, UNKNOWN
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_RETRY = (
    "the retry queue: its member, that member's offset, the stored offset, and the number of messages that wait at the "
    "broker to come again"
)
_MEMBER = Values(0, 1, 2, weights=(6, 3, 1))
_QUEUE = Values(0, 3)
_ALONE = tuple(rule.id for rule in RULES)
MOVES = whole.Moves(
    seen=f"{whole.seen(*whole.TRAFFIC, _RETRY)} Queue -1 of messages is the retry queue.",
    parts={
        "places": ("WHOLE-SHARE", "WHOLE-MOVED"),
        "brought": (*_ALONE, "CONS-BACK-COPY", "CONS-1-DROPPED", "WHOLE-FIRST", "WHOLE-SHARE"),
        "stored": (
            *_ALONE,
            "CONS-BACK-COPY",
            "CONS-1-DROPPED",
            "PULL-NON-1",
            "CONS-1",
            "WHOLE-COMMIT",
            "CONS-1-BACK",
            "WHOLE-MOVED",
        ),
        "retry": (*_ALONE, "CONS-BACK-COPY", "CONS-BACK", "CONS-1-DROPPED", "CONS-1", "CONS-1-BACK", "WHOLE-SHARE"),
    },
)


@MOVES.move("A member is started, unless it runs; its listener succeeds.", weight=7)
class Join(group.Join):
    member: Annotated[int, _MEMBER]


@MOVES.end("A member is shut down, if it runs and its listener does not hold.", weight=2)
class Leave(Operation):
    member: Annotated[int, _MEMBER]


@MOVES.move("A member's process is killed, if it runs.")
class Crash(group.Crash):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=6)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 3, weights=(4, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(group.Look):
    pass


@MOVES.move(
    "From now on a member's listener, if it runs, returns success, fails, or holds: it does not return before it is to "
    "do something else. So ends what it holds.",
    weight=8,
)
class Listen(Operation):
    member: Annotated[int, _MEMBER]
    listener: Annotated[str, Values(FAILS, HOLDS, SUCCEEDS, weights=(3, 2, 1))]


@MOVES.move("So much time passes at the broker that all messages which were sent back come again.", weight=6)
class Deliver(Operation):
    pass


@MOVES.move(
    "From now on the broker refuses to take a message back (CONSUMER_SEND_MSG_BACK is answered SYSTEM_ERROR), or takes "
    "them again.",
    weight=3,
)
class Refuse(Operation):
    refuses: Annotated[bool, Values(True, False)]


@MOVES.move(
    "A message arrives in each queue. The request to take that of one queue back, if there is one and its listener "
    "fails, is refused by a code, or answered a second late, or twice; others are answered as ever.",
    weight=4,
    guard=takes_back,
)
class RefuseOne(Operation):
    queue: Annotated[int, _QUEUE]
    answer: Annotated[
        str,
        Values("SYSTEM_ERROR", UNKNOWN, "NO_PERMISSION", "TOPIC_NOT_EXIST", LATE, TWICE, weights=(2, 2, 1, 1, 1, 1)),
    ]


@MOVES.move(
    "While one member runs: the same, and that request is not answered (silent), or its connection is closed (cut).",
    weight=2,
    guard=takes_back_of_one,
)
class LoseOne(Operation):
    queue: Annotated[int, _QUEUE]
    fault: Annotated[str, Values(SILENT, CUT)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeListenerModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            group.Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Listen: model.listen,
            Deliver: model.deliver,
            Refuse: model.refuse,
            RefuseOne: model.refuse_one,
            LoseOne: model.refuse_one,
        },
        model.learn,
    )


def _show(state: WholePushState) -> str:
    listeners = [
        f"{name} {member.listener} {whole.held(member.held)}"
        for name, member in state.group.members.items()
        if member.listener != SUCCEEDS
    ]
    return "; ".join([group.show(state), *listeners, f"{state.group.delayed} wait to come again"])


SUITE = Suite(
    name="whole-listener",
    sentence="Push consumers whose listeners fail or hold: what is committed, what is sent back, and what comes again.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=12,
    cases=40,
    show=_show,
    rules=(
        *("CONS-1", "CONS-1-BACK", "CONS-1-DROPPED", "CONS-BACK", "CONS-BACK-COPY", "PULL-NON-1", *_ALONE),
        *("WHOLE-FIRST", "WHOLE-MOVED", "WHOLE-COMMIT", "WHOLE-SHARE", "WHOLE-UNREAD"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "START-TS-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("CONS-1-LATER", "PULL-ILL-1", "PULL-NON-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
    ),
    limits=(whole.UNREAD_LIMIT,),
    beginning="A topic of four young queues, a retry topic, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=60,
)
