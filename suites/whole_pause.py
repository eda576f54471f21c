"""The suite ``whole-pause``: whole push consumers that are suspended and resumed, judged from the traffic alone."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_pause import WholePauseModel, may_go, suspended
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_GOES = "Nothing happens while another member is suspended and a third one runs."
_MEMBER = Values(0, 1, 2, weights=(10, 10, 1))
MOVES = whole.Moves(
    seen=whole.seen(
        *whole.TRAFFIC,
        "whether the member that is suspended has asked for a stored offset since (null: none is suspended)",
    ),
    parts={
        "places": ("REB-SVC-PAUSE", "WHOLE-PAUSE", "WHOLE-SHARE", "REB-SVC-WAKE"),
        "brought": ("REB-SVC-PAUSE", "WHOLE-PAUSE", "WHOLE-FIRST", "WHOLE-SHARE"),
        "stored": ("REB-SVC-PAUSE", "WHOLE-PAUSE", "WHOLE-COMMIT", "WHOLE-SHARE"),
        "asked": ("REB-SVC-PAUSE",),
    },
)


@whole.beginning(
    "Before the first member joins: the topic has so many queues of a shape, and the group has stored an offset in "
    "each (-1: none). Later nothing happens.",
    weight=10,
)
class Prepare(group.Prepare):
    queues: Annotated[int, Values(4, 2)]
    shape: Annotated[str, Values("expired", "young", weights=(6, 1))]
    stored: Annotated[int, Values(NOTHING, 7, weights=(6, 1))]
    where: Annotated[str, Values(LAST)]


@MOVES.move("A member is started, unless it runs or another one is suspended.", weight=10)
class Join(group.Join):
    member: Annotated[int, _MEMBER]


@MOVES.end(f"A member is shut down, if it runs. {_GOES}", weight=3)
class Leave(group.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move(f"A member's process is killed, if it runs. {_GOES}", weight=3)
class Crash(group.Crash):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=6)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 3, weights=(4, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(group.Look):
    pass


@MOVES.move(
    "A member that runs is suspended, unless another one is, or resumed. When one is suspended, its pulls that the "
    "broker holds are answered, as if their time was up: otherwise it would be given one more message by each.",
    weight=16,
)
class Pause(Operation):
    member: Annotated[int, _MEMBER]
    suspends: Annotated[bool, Values(True, False, weights=(1, 1))]


def is_left_out(state: WholePushState, operation: Operation) -> bool:
    """Is an operation one of those that do nothing in this state, because a member is suspended?"""
    match operation:
        case Join():
            return suspended(state) is not None
        case Leave(member) | Crash(member):
            return not may_go(state, member)
        case _:
            return False


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholePauseModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Pause: model.pause,
        },
        model.learn,
    )


def _show(state: WholePushState) -> str:
    return f"{group.show(state)}; suspended: {suspended(state) or 'none'}"


SUITE = Suite(
    name="whole-pause",
    sentence="Push consumers that are suspended and resumed: who has their queues meanwhile, and what they are given.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=24,
    cases=40,
    show=_show,
    rules=(
        *("WHOLE-PAUSE", "REB-SVC-PAUSE", "WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE", "WHOLE-UNREAD", "REB-SVC-WAKE"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("PULL-NON-1", "PULL-PRE-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
    ),
    limits=(whole.UNREAD_LIMIT,),
    beginning="A topic of four young queues, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=90,
)
