"""The suite ``whole-broadcast-listener``: whole broadcasting consumers whose listeners fail or hold, judged from the
traffic."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_broadcast import WholeBroadcastState
from rocketmq_conformance.models.client.whole_broadcast_listener import RULES, WholeBroadcastListenerModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_broadcast, whole_listener
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_LISTENED = tuple(rule.id for rule in RULES)
_MEMBER = Values(0, 1, weights=(3, 1))
_EVERYONE = "for each queue all members that pull it, and the offset from which each waits"
MOVES = whole.Moves(
    seen=whole.seen(_EVERYONE, whole.BROUGHT, whole.STORED),
    parts={
        "places": ("START-BC-1", "REB-BC-1", *_LISTENED),
        "brought": (*_LISTENED, "START-BC-1", "WHOLE-FIRST"),
        "stored": ("REB-BC-STORE",),
    },
)


@MOVES.move("A member is started, unless it runs; its listener succeeds.", weight=6)
class Join(group.Join):
    member: Annotated[int, _MEMBER]


@MOVES.end("A member is shut down, if it runs, also while its listener holds.", weight=1)
class Leave(group.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move("A member's process is killed, if it runs.")
class Crash(group.Crash):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=5)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 3, weights=(4, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(group.Look):
    pass


@MOVES.move(
    "From now on a member's listener, if it runs, returns success, fails, or holds: it does not return before it is to "
    "do something else. So ends what it holds.",
    weight=6,
)
class Listen(whole_listener.Listen):
    member: Annotated[int, _MEMBER]
    listener: Annotated[str, Values(FAILS, HOLDS, SUCCEEDS)]


@MOVES.move(
    "If a member runs, it is shut down or killed, a message arrives in every queue, and it is started again; its "
    "listener succeeds.",
    weight=4,
)
class ComeBack(whole_broadcast.ComeBack):
    member: Annotated[int, _MEMBER]
    crashes: Annotated[bool, Values(False, True)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeBroadcastListenerModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Listen: model.listen,
            ComeBack: model.come_back,
        },
        model.learn,
    )


def _show(state: WholeBroadcastState) -> str:
    listeners = [f"{name} {how} {dict(state.held.get(name, {}))}" for name, how in state.listeners.items()]
    return "; ".join([whole_broadcast.show(state), *listeners])


SUITE = Suite(
    name="whole-broadcast-listener",
    sentence="Broadcasting consumers whose listeners fail or hold: what is dropped, and what comes again by a file.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=30,
    show=_show,
    rules=(
        *("REB-BC-1", "REB-BC-STORE", "START-BC-1", "WHOLE-FIRST"),
        *_LISTENED,
        *whole_end.RULES_OF_BROADCAST_ENDS,
    ),
    beneath=("START-PUSH-1", "API-ADM-1", "OFF-L-READ", "OFF-L-PALL", "OFF-L-PATH"),
    beginning="A topic of four young queues, a group that has stored nothing, no member, and no file.",
    confirmations=2,
    case_seconds=60,
)
