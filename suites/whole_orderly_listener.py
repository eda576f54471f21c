"""The suite ``whole-orderly-listener``: whole orderly consumers whose listeners fail or hold what they are given."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS, NOTHING, SUCCEEDS
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_orderly_listener import (
    WholeOrderlyListenerModel,
    is_between,
    may_move,
)
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_listener, whole_orderly
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_GIVEN = "the messages that listeners were given since then, in the order of each queue"
_AGAIN = (
    "in the same form the one that was given once more in each queue, to the member that pulls it (null: the program "
    "does not say)"
)
_BETWEEN = (
    "Nothing happens while a queue is between two members: lost, and not taken, as a listener holds a message of it"
)
_MAY_MOVE, _MAY_LOSE = f"{_BETWEEN}; nor while one holds a message of a queue whose lock is lost.", f"{_BETWEEN}."
#: The first member has most queues, and loses some of them to the others, which end before it.
_COMES, _LISTENS, _ENDS = (Values(0, 1, 2, weights=weights) for weights in ((6, 5, 1), (9, 3, 1), (1, 4, 1)))
_LOST = ("REB-REM-2", "REB-REM-3", "WHOLE-BUSY")
MOVES = whole.Moves(
    seen=whole.seen(*whole.TRAFFIC, whole.LOCKS, _GIVEN, _AGAIN),
    parts={
        "places": (*_LOST, "PULL-PRE-LOCK", "WHOLE-LOCK", "WHOLE-SHARE", "WHOLE-MOVED"),
        "brought": ("WHOLE-FIRST", "WHOLE-SHARE"),
        "stored": ("PULL-NON-1", "CONS-2-COMMIT", "CONS-2-SUSPEND", "CONS-2", "WHOLE-COMMIT", "WHOLE-MOVED"),
        "locks": (*_LOST, "REB-LOCK-3", "REB-LOCK-4", "WHOLE-LOCK", "BQ-LOCK-3"),
        "given": (*_LOST, "CONS-2-SUSPEND", "CONS-2", "CONS-ORDER-1", "WHOLE-FIRST"),
        "again": ("CONS-2-SUSPEND", "CONS-2"),
    },
    unsaid=("given", "again"),
)
_UNSAID = ("given", "again")


@whole.beginning(
    "Before the first member joins: the topic has so many queues of a shape, the group has stored an offset in each "
    "(-1: none), and consumers are configured with ConsumeFromWhere. Later nothing happens.",
    weight=2,
)
class Prepare(group.Prepare):
    queues: Annotated[int, Values(2, 4, 1, weights=(3, 2, 1))]
    shape: Annotated[str, Values("young", "empty", "gone", weights=(5, 1, 1))]
    stored: Annotated[int, Values(12, 7, NOTHING, weights=(3, 1, 1))]
    where: Annotated[str, Values(LAST, FIRST)]


@MOVES.move(f"A member is started, unless it runs; its listener succeeds. {_MAY_MOVE}", weight=9)
class Join(group.Join):
    member: Annotated[int, _COMES]


@MOVES.end(f"A member is shut down, if it runs and its listener does not hold. {_MAY_MOVE}", weight=5)
class Leave(whole_listener.Leave):
    member: Annotated[int, _ENDS]


@MOVES.move(f"A member's process is killed, if it runs. {_MAY_MOVE}", weight=2)
class Crash(group.Crash):
    member: Annotated[int, _ENDS]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=14)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 1, weights=(6, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(group.Look):
    pass


@MOVES.move(
    "From now on a member's listener, if it runs, returns success, fails (SUSPEND_CURRENT_QUEUE_A_MOMENT), or holds: "
    "it does not return before it is to do something else. So ends what it holds.",
    weight=16,
)
class Listen(whole_listener.Listen):
    member: Annotated[int, _LISTENS]
    listener: Annotated[str, Values(FAILS, HOLDS, SUCCEEDS, weights=(3, 4, 3))]


@MOVES.move(
    "The broker loses all locks, as at a restart, and a client outside the group takes those of the topic before the "
    f"members ask again. Pulls that were held fail. {_MAY_LOSE}",
    weight=2,
)
class TakeLocks(whole_orderly.TakeLocks):
    pass


@MOVES.move(
    f"A minute passes at the broker: the locks of clients that are gone, or outside the group, expire. {_MAY_LOSE}",
    weight=2,
)
class ExpireLocks(whole_orderly.ExpireLocks):
    pass


def is_left_out(state: WholePushState, operation: Operation) -> bool:
    """Is an operation one of those that do nothing in this state, because of a queue between two members?"""
    match operation:
        case Join() | Leave() | Crash():
            return not may_move(state)
        case TakeLocks() | ExpireLocks():
            return is_between(state)
        case _:
            return False


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeOrderlyListenerModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Listen: model.listen,
            TakeLocks: model.take_locks,
            ExpireLocks: model.expire_locks,
        },
        model.learn,
    )


def _show(state: WholePushState) -> str:
    listeners = [
        f"{name} {member.listener} {whole.held(member.held)}"
        for name, member in state.group.members.items()
        if member.listener != SUCCEEDS
    ]
    return "; ".join([group.show(state), *listeners])


SUITE = Suite(
    name="whole-orderly-listener",
    sentence="Orderly consumers whose listeners fail or hold: what is given again, to whom, and what is committed.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=18,
    cases=40,
    show=_show,
    rules=(
        *("WHOLE-FIRST", "WHOLE-MOVED", "WHOLE-COMMIT", "WHOLE-SHARE", "WHOLE-UNREAD", "WHOLE-LOCK", "WHOLE-BUSY"),
        *("REB-LOCK-3", "REB-LOCK-4", "REB-REM-2", "REB-REM-3", "PULL-PRE-LOCK", "BQ-LOCK-3"),
        *("CONS-2", "CONS-2-AUTO", "CONS-2-COMMIT", "CONS-2-SUSPEND", "CONS-ORDER-1"),
        "PULL-NON-1",
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("PULL-ILL-1", "REB-ADD-1", "REB-ADD-LOCK", "REB-DROP-1", "TIMER-LOCK"),
    ),
    limits=(whole.UNREAD_LIMIT,),
    beginning="A topic of four young queues, a group that has stored nothing, no member, and no lock.",
    confirmations=2,
    case_seconds=80,
)
