"""The suite ``whole-slaves``: whole push consumers of a broker that has a slave, judged from the traffic at both."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_slaves import MASTER, MOST, SLAVE, WholeSlavesModel, WholeSlavesState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


def _queue(number: int) -> str:
    """A queue by its node."""
    return f"{'slave' if number >= MOST else 'master'}, queue {number % MOST}"


def _brought(number: int) -> str:
    """A queue at whichever node."""
    return f"queue {number}"


MOVES = whole.Moves(
    words={**whole.words(_queue), "brought": whole.words(_brought)["brought"]},
    seen=(
        f"{whole.seen(*whole.TRAFFIC)} Places and stored offsets are those of the master's queues 0 and 1, and then "
        "those of the slave's."
    ),
    parts={
        "places": ("WHOLE-SLV-GONE", "WHOLE-SLV-PULL", "WHOLE-SHARE"),
        "brought": ("WHOLE-SLV-GONE", "WHOLE-FIRST", "WHOLE-SHARE", "WHOLE-SLV-PULL"),
        "stored": ("WHOLE-SLV-STORE", "WHOLE-COMMIT"),
    },
)


@whole.beginning(
    "Before the first member joins: the topic has so many young queues, and the group has stored an offset in each at "
    "both nodes (-1: none). Later nothing happens.",
)
class Prepare(Operation):
    queues: Annotated[int, Values(2, 1)]
    stored: Annotated[int, Values(7, NOTHING, weights=(3, 1))]


@MOVES.move("A member is started, unless it runs.", weight=5)
class Join(whole_push.Join):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A member is shut down, if it runs.", weight=2)
class Leave(whole_push.Leave):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A member's process is killed, if it runs.")
class Crash(whole_push.Crash):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A message arrives at both nodes, in a queue of the topic, or in every one (-1).", weight=5)
class Send(Operation):
    queue: Annotated[int, Values(EVERY, 0)]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(whole_push.Look):
    pass


@MOVES.move("Answers to pulls suggest the slave (1), or the master (0), from now on.", weight=3)
class Suggest(Operation):
    node: Annotated[int, Values(SLAVE, MASTER)]


@MOVES.move("The slave takes the offsets that its master has stored, unless that is away.", weight=2)
class Synchronise(Operation):
    pass


@MOVES.move("The master goes away: it answers nothing, and routes name the slave alone.", weight=4)
class GoAway(Operation):
    pass


@MOVES.move("The master comes back with the offsets that it had, if it was away.", weight=4)
class ComeBack(Operation):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeSlavesModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Suggest: model.suggest,
            Synchronise: model.synchronise,
            GoAway: model.go_away,
            ComeBack: model.come_back,
        },
        model.learn,
    )


def _show(state: WholeSlavesState) -> str:
    members = whole.pulling(state.group.members)
    master = "away" if state.away else "there"
    in_use, other = whole.stored(state.group.broker.stored), whole.stored(state.other)
    return (
        f"{state.setting}; the master is {master}; node {state.suggested} is suggested; "
        f"{members}; in use {in_use}; at the other node {other}"
    )


SUITE = Suite(
    name="whole-slaves",
    sentence="Push consumers of a broker that has a slave: who pulls where, and where offsets are stored.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=30,
    show=_show,
    rules=(
        *("WHOLE-SLV-GONE", "WHOLE-SLV-STORE", "WHOLE-SLV-PULL"),
        *("WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE"),
    ),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("MQ-ORD-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
    ),
    beginning="A topic of two young queues at a master and its slave, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=100,
)
