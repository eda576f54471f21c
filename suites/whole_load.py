"""The suite ``whole-load``: whole push consumers under load, whose listeners may hang, judged from the traffic."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_load import (
    RULES,
    WholeLoadModel,
    hangs,
    has_members,
    is_busy,
    is_dry,
    nothing_hangs,
)
from rocketmq_conformance.models.client.whole_moves import FILLED, LOADED, SPANNED, STRETCHED
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_LOAD = tuple(rule.id for rule in RULES)
_MEMBER = Values(0, 1, 2, weights=(6, 3, 1))
_QUEUE = Values(0, 3)
MOVES = whole.Moves(
    seen=f"{whole.seen(*whole.TRAFFIC)} What arrives in a queue that is not pulled shows once it is.",
    parts={
        "places": ("WHOLE-RESET", "WHOLE-LOAD-STOP", "WHOLE-SHARE", *_LOAD, "REB-SVC-WAKE"),
        "brought": (
            *("WHOLE-RESET", "WHOLE-LOAD-LONG", "WHOLE-LOAD-STOP", "WHOLE-LOAD-FAIR", "WHOLE-LOAD-END"),
            *("CONS-1-DROPPED", "WHOLE-FIRST", "WHOLE-SHARE"),
        ),
        "stored": ("WHOLE-RESET", *_LOAD, "CONS-1-DROPPED", "WHOLE-COMMIT", "TIMER-PERSIST"),
    },
    unsaid=("brought",),
)


@MOVES.move("A member is started, unless it runs.", weight=12, guard=is_dry)
class Join(group.Join):
    member: Annotated[int, _MEMBER]


@MOVES.end("A member is shut down, if it runs, also while its listener hangs.", weight=3, guard=is_dry)
class Leave(group.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move("A member's process is killed, if it runs.", guard=is_dry)
class Crash(group.Crash):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=4, guard=is_dry)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 3, weights=(4, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.", weight=3)
class Look(group.Look):
    pass


@MOVES.move(
    "The broker tells the members to reset queue 0 to an offset (RESET_CONSUMER_CLIENT_OFFSET).",
    weight=2,
    guard=has_members,
)
class Reset(group.Reset):
    offset: Annotated[int, Values(3, 9)]


@MOVES.move(
    "While a member runs and no listener hangs: a message arrives in a queue, from which its listener does not return "
    "before all of them do; it returns from every other one.",
    weight=8,
    guard=nothing_hangs,
)
class Hang(Operation):
    queue: Annotated[int, _QUEUE]


@MOVES.move("While a listener hangs, or no listener returns: all of them return.", weight=5, guard=is_busy)
class Free(Operation):
    pass


@MOVES.move("While a listener hangs: 35 s pass, at any pace.", guard=hangs)
class Stay(Operation):
    pass


@MOVES.move(
    f"While a member runs and no listener hangs: no listener returns from now on, before all of them do, and {FILLED} "
    "messages arrive in a queue.",
    guard=nothing_hangs,
)
class Fill(Operation):
    queue: Annotated[int, _QUEUE]


@MOVES.move(
    f"While a listener hangs: {SPANNED} messages arrive behind the one with which it does, and are consumed; no "
    f"listener returns from then on, before all of them do, and {STRETCHED} more arrive.",
    guard=hangs,
)
class Stretch(Operation):
    pass


@MOVES.move(
    f"While a member runs and no listener hangs: {LOADED} messages arrive in a queue, one after the other, and one in "
    "each of the others; the last of them come once those of the others were given, or by the time that they are to "
    "be. Of another queue that shows alone which was given by then.",
    weight=2,
    guard=nothing_hangs,
)
class Load(Operation):
    queue: Annotated[int, _QUEUE]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeLoadModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Reset: model.reset,
            Hang: model.hang,
            Free: model.free,
            Stay: model.stay,
            Fill: model.fill,
            Stretch: model.stretch,
            Load: model.load,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-load",
    sentence="Push consumers under load: a listener that hangs, what goes on meanwhile, is committed, and comes again.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=30,
    show=group.show,
    rules=(
        *_LOAD,
        *("CONS-1-DROPPED", "WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE", "WHOLE-RESET"),
        *("REB-SVC-WAKE", "TIMER-PERSIST"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1", "RST-PUSH", "RST-RESUME"),
        *("PULL-NON-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
    ),
    beginning="A topic of four young queues, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=60,
)
